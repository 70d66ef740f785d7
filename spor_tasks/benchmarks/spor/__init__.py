"""SPOR (Xu and Wang, ACL 2024): four aspects of compositional generalization."""
