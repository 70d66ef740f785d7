"""Samples, files, errors: what all else is made of. No corpus and no metric is named here."""
