"""ToTTo: one sentence about the highlighted cells of a table."""
