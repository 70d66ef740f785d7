"""LogicNLG (Chen et al., ACL 2020): sentences that a table entails."""
