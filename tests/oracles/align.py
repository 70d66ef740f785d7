"""The alignment as one would first write it down: every product walked, nothing clever.

It is the oracle of the differential tests and the yardstick of the benchmark.
"""

import math
from itertools import pairwise, product

import numpy as np

from spor_tasks.text.normalize import clean

SYNONYMS = {
    "united states": ["u s", "usa", "america", "american"],
    "united kingdom": ["uk", "u k"],
    "deceased": ["dead", "passed away"],
    "hardcover": ["hardback"],
    "italy": ["italian"],
    "chinese cuisine": ["china cuisine"],
    "strawberry": ["strawberries"],
    "rock  geology": ["stone"],
    "turkey": ["turkish"],
    "spain": ["spanish"],
}


def edits(first, second):
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, start=1):
        above, row = row, [i]
        for j, b in enumerate(second, start=1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
    return row[-1]


def tightest(choices):
    """Walk the whole product; `numpy.var` is what the published code compares."""
    placements = [placement for placement in product(*choices) if placement]
    if len(choices) >= 10:
        placements = [p for p in placements if all(a < b for a, b in pairwise(p))]
    variances = [np.var(placement) for placement in placements]
    least = min(variances, default=0)
    return [
        placement
        for placement, variance in zip(placements, variances, strict=True)
        if variance == least
    ]


def placements(entity, text, *, strict):
    tokens = entity.split()
    choices = []
    for token in tokens:
        distances = [edits(token, word) for word in text]
        near = min(distances, default=math.inf)
        if near <= min(2, len(token) / 2):
            choices.append([i for i, distance in enumerate(distances) if distance == near])
    if len(choices) < len(tokens):
        if strict:
            return []
        if all(len(token) == 1 and not token.isdigit() for token in tokens):
            return []
    return tightest(choices)


def locate_ends(pairs, text, *, strict):
    cleaned = [tuple(None if end is None else clean(end) for end in pair) for pair in pairs]
    ends = [end for pair in cleaned for end in pair]
    tokens = clean(text).split()

    found = {}
    for entity in ends:
        if entity is not None and entity not in found:
            found[entity] = placements(entity, tokens, strict=strict)
            for synonym in SYNONYMS.get(entity, []):
                if not found[entity]:
                    found[entity] = placements(synonym, tokens, strict=strict)

    located = {}
    used = []
    for entity, ties in sorted(found.items(), key=lambda item: len(item[1])):
        free = [p for p in ties if p[0] not in [other[0] for other in used]]
        undisturbed = [p for p in free if not any(p[0] in other for other in used)]
        for placement in (undisturbed or free)[:1]:
            located[entity] = placement[0]
            used.append(placement)

    positions = []
    for subject, obj in cleaned:
        first = math.inf if subject is None else located.get(subject, math.inf)
        second = math.inf if obj is None else located.get(obj, math.inf)
        if subject is None or ends.count(subject) > ends.count(obj):
            position = second
        elif ends.count(subject) < ends.count(obj):
            position = first
        else:
            position = max(first, second)
        positions.append(None if position == math.inf else int(position))
    return tuple(positions)
