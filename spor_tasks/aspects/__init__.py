"""The aspects of compositional generalization: sets of any corpus, built, searched and checked."""
