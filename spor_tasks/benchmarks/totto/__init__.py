"""ToTTo (Parikh et al., EMNLP 2020): one sentence about the highlighted cells of a table."""
