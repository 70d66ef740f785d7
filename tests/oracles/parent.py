"""PARENT written down from its definition: every n-gram of every text, nothing prepared.

It is the oracle of the differential tests and the yardstick of the benchmark. Tokens are given.
"""

import math
from collections.abc import Sequence

Tokens = Sequence[str]


def ngrams(text, order):
    return [tuple(text[i : i + order]) for i in range(len(text) - order + 1)]


def longest_common_subsequence(one, other):
    longest = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            same = longest[i][j] + 1
            longest[i + 1][j + 1] = same if a == b else max(longest[i][j + 1], longest[i + 1][j])
    return longest[-1][-1]


def precision_of_order(output, reference, known, order):
    written, expected = ngrams(output, order), ngrams(reference, order)
    right = 0.0
    for ngram in set(written):
        count = written.count(ngram)
        in_reference = min(1.0, expected.count(ngram) / count)
        overlap = sum(token in known for token in ngram) / order
        right += count * (in_reference + (1 - in_reference) * overlap)
    return right / len(written) if written else 0.0


def recall_of_order(output, reference, known, order):
    written, expected = ngrams(output, order), ngrams(reference, order)
    found = total = 0.0
    for ngram in set(expected):
        overlap = sum(token in known for token in ngram) / order
        total += overlap * expected.count(ngram)
        found += overlap * min(expected.count(ngram), written.count(ngram))
    return found / total if total else 1.0


def geometric_mean(values):
    return math.exp(sum(math.log(value or 1e-5) for value in values) / len(values))


def sides(output, reference, known, max_order):
    """Return an output's precision, and its recall of one reference."""
    orders = range(1, max_order + 1)
    precisions = [precision_of_order(output, reference, known, order) for order in orders]
    recalls = [recall_of_order(output, reference, known, order) for order in orders]
    precision = geometric_mean(precisions) if precisions[0] else 0.0
    return precision, geometric_mean(recalls) if recalls[0] else 1e-5


def mentioned(text, values):
    shares = [longest_common_subsequence(value, text) / len(value) for value in values]
    return sum(shares) / len(shares) if shares else 0.0


def parent(output, references, values, weight, max_order):
    """Return precision, recall and F of one output."""
    known = {token for value in values for token in value}
    scores = []
    for reference in references:
        precision, of_reference = sides(output, reference, known, max_order)
        recall = of_reference ** (1 - weight) * (mentioned(output, values) or 1e-5) ** weight
        scores.append((precision, recall, 2 * precision * recall / (precision + recall + 1e-8)))
    best_precision, best_recall, best_f = (max(column) for column in zip(*scores, strict=True))
    return best_precision, best_recall, best_f
