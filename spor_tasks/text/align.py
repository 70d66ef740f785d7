"""Where data units occur in a text, and the order in which it mentions them.

The published alignment [code], reproduced exactly and made safe: the published search walks every
combination of token positions, which a text that repeats itself turns into days. Here the same
answer takes little more than time in proportion to the text.
"""

import math
import operator
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from spor_tasks.core.sample import AttributeValue, DataUnit, Triple
from spor_tasks.text.normalize import boolean, clean, words_of_name

Ends: TypeAlias = tuple[str | None, str | None]
"""Subject and object of a unit as raw strings; ``None`` is an end that the unit does not have."""

Placement: TypeAlias = tuple[int, ...]
"""One token index for each matched token of an entity."""

# Keyed by the whole cleaned entity; "rock_(geology)" cleans to a word, two spaces and a word.
_SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "united states": ("u s", "usa", "america", "american"),
    "united kingdom": ("uk", "u k"),
    "deceased": ("dead", "passed away"),
    "hardcover": ("hardback",),
    "italy": ("italian",),
    "chinese cuisine": ("china cuisine",),
    "strawberry": ("strawberries",),
    "rock  geology": ("stone",),
    "turkey": ("turkish",),
    "spain": ("spanish",),
}

_MOST_EDITS = 2  # by which a token of a text may differ from one of an entity [code]
_INCREASING_FROM = 10  # with so many matched tokens their positions must strictly increase [code]

_EXACT_DIVISORS = (2, 4, 8)  # by which doubles divide sums of positions without rounding
_KNOWN_SAMPLES = 4096  # more than a test set has


def locate(units: Sequence[DataUnit], text: str, *, strict: bool) -> tuple[int | None, ...]:
    """Return the token index at which the text mentions each unit, ``None`` where it does not.

    A triple is sought by its subject and object, an attribute-value pair by its value, or by its
    attribute where the value is yes or no, or true or false. ``strict`` asks for every token of an
    entity; otherwise those that the text has suffice. Tokens are what white space separates in the
    cleaned text.
    """
    return locate_ends([_ends(unit) for unit in units], text, strict=strict)


def locate_ends(pairs: Sequence[Ends], text: str, *, strict: bool) -> tuple[int | None, ...]:
    """Return what :func:`locate` does, for units given by their ends.

    The unit stands where its end of smaller degree does, the number of unit ends that an entity
    fills in ``pairs``; of equal degrees both must be located and the later counts. Absent ends
    count together as one entity that no text mentions, save that a unit without a subject always
    stands at its object. So a yes/no pair that is alone in its sample is never located, as
    published.
    """
    return tuple(
        max((placement[0] for placement in placements), default=None)
        for placements in _trace(pairs, text, strict=strict)
    )


def trace(
    units: Sequence[DataUnit], text: str, *, strict: bool, same_digits: bool = False
) -> tuple[tuple[Placement, ...], ...]:
    """Return all that stands behind the positions of :func:`locate`.

    For each unit those are the placements of the entities that decide where it stands, none where
    it is not located. With ``same_digits`` a number is not taken for another one: a similar word
    must have its digits, as `14th` has those of `14`.
    """
    pairs = [_ends(unit) for unit in units]
    return tuple(_trace(pairs, text, strict=strict, same_digits=same_digits))


def _trace(
    pairs: Sequence[Ends], text: str, *, strict: bool, same_digits: bool = False
) -> Iterator[tuple[Placement, ...]]:
    sought = _sought(tuple(pairs))
    words: dict[str, list[int]] = {}
    for position, word in enumerate(clean(text).split()):
        words.setdefault(word, []).append(position)
    mentions: dict[str | None, Sequence[Placement]] = {
        entity: _mentions(wordings, words, strict=strict, same_digits=same_digits)
        for entity, wordings in sought.wordings.items()
    }
    placed = _settle(mentions)
    for ends in sought.ends:
        placements = tuple(placed[end] for end in ends if end in placed)
        yield placements if len(placements) == len(ends) else ()


def order(positions: Sequence[int | None]) -> tuple[int, ...]:
    """Return the unit indices sorted by position, equal ones as given, units not located last."""
    ranks = [math.inf if position is None else position for position in positions]
    return tuple(sorted(range(len(ranks)), key=ranks.__getitem__))


def _ends(unit: DataUnit) -> Ends:
    match unit:
        case Triple(subject, _, obj):
            return subject, obj
        case AttributeValue(attribute, value) if boolean(value):
            return attribute, None
        case AttributeValue(_, value):
            return None, value


class _Sought(NamedTuple):
    """The entities to look for in a text: the same for all outputs of a sample.

    ``wordings`` has for each entity its tokens, then those of its synonyms. ``ends`` has for each
    unit the entities that decide where it stands.
    """

    wordings: Mapping[str, Sequence[Sequence[str]]]
    ends: Sequence[Sequence[str | None]]


@lru_cache(maxsize=_KNOWN_SAMPLES)
def _sought(pairs: tuple[Ends, ...]) -> _Sought:
    ends = [None if end is None else clean(end) for pair in pairs for end in pair]
    cleaned = list(zip(ends[::2], ends[1::2], strict=True))
    degrees = Counter(ends)
    named = {clean(name): words_of_name(name) for name, obj in pairs if name and obj is None}
    wordings = {
        entity: [
            wording.split()
            for wording in dict.fromkeys((*_wordings(entity), named.get(entity, entity)))
        ]
        for entity in ends
        if entity is not None
    }
    deciding: list[Sequence[str | None]] = []
    for subject, obj in cleaned:
        if subject is None or degrees[subject] > degrees[obj]:
            deciding.append((obj,))
        elif degrees[subject] < degrees[obj]:
            deciding.append((subject,))
        else:
            deciding.append((subject, obj))
    return _Sought(wordings, deciding)


def wordings(end: str) -> tuple[str, ...]:
    """Return what a unit's end is sought as: its cleaned string, its synonyms, then its words."""
    return *_wordings(clean(end)), words_of_name(end)


def _wordings(entity: str) -> tuple[str, ...]:
    return (entity, *_SYNONYMS.get(entity, ()))


def _settle(
    mentions: Mapping[str | None, Sequence[Placement]],
) -> dict[str | None, Placement]:
    """Give each entity one of its placements; one that finds none free is left out.

    Entities with fewer to choose from go first. Two never start at one position, and an entity
    starts at a token of another only if it must.
    """
    placed: dict[str | None, Placement] = {}
    starts: set[int] = set()
    occupied: set[int] = set()
    for entity in sorted(mentions, key=lambda entity: len(mentions[entity])):
        free = [placement for placement in mentions[entity] if placement[0] not in starts]
        if free:
            chosen = next(
                (placement for placement in free if placement[0] not in occupied), free[0]
            )
            placed[entity] = chosen
            starts.add(chosen[0])
            occupied.update(chosen)
    return placed


def _mentions(
    wordings: Iterable[Sequence[str]],
    words: Mapping[str, Sequence[int]],
    *,
    strict: bool,
    same_digits: bool,
) -> Sequence[Placement]:
    """Return the tied best placements of the first wording that has any."""
    for tokens in wordings:
        choices = [_nearest(token, words, same_digits=same_digits) for token in tokens]
        matched = [positions for positions in choices if positions]
        if len(matched) < len(choices):
            says_something = any(len(token) > 1 or token.isdigit() for token in tokens)
            if strict or not says_something:
                continue
        if placements := tightest(matched):
            return placements
    return ()


def _nearest(token: str, words: Mapping[str, Sequence[int]], *, same_digits: bool) -> Sequence[int]:
    """Return, ascending, where the words stand that differ least from the token."""
    if token in words:
        return words[token]
    least = min(_MOST_EDITS, len(token) // 2)
    if same_digits and (digits := _digits(token)):
        least = _MOST_EDITS
        words = {word: positions for word, positions in words.items() if _digits(word) == digits}
    # in C over all words; the nearest come first
    found = process.extract(
        token, list(words), scorer=Levenshtein.distance, score_cutoff=least, limit=None
    )
    nearest = [each for word, by, _ in found if by == found[0][1] for each in words[word]]
    return sorted(nearest)


def _digits(word: str) -> str:
    return "".join(filter(str.isdigit, word))


def tightest(choices: Sequence[Sequence[int]]) -> list[Placement]:
    """Return every placement of smallest variance that takes one position from each of ``choices``.

    Each choice is ascending, without repetitions; with 10 choices or more only placements that
    strictly increase count. The placements come in lexicographic order. The list is empty where
    there is nothing to choose or no placement increases.

    The variance is the published one, `numpy.var`, in doubles and compared with ``==``. Still only
    the ties of the exact variance need it. With n positions below m, n² times the variance is
    an integer of at most n²m²/4. Doubles err by a relative (n + 5)·2⁻⁵³ at most, as the rounded
    mean enters squared only. They cannot bring two different integers together or past each other
    while n²(n + 5)m² < 2⁵⁴: entities of 40 tokens in texts of half a million, say. Beyond that this
    function defines the result: the exact smallest variance, its ties parted by doubles.

    All placements that have the exact smallest variance are vertices of a convex hull.
    Call S the sum of a placement's positions, Q that of their squares and μ = S/n its mean.
    Two statements follow, since Σ(x − μ)² is least at the mean:

    1. A placement of smallest variance is the only one to minimise Σ(x − μ)² = Q − 2μS + nμ².
       Suppose another did as well. Then so would both their position-wise minimum and maximum:
       each is a placement, increasing if they are, and the two sums add up to the same. One of
       these has another mean, about which its squares sum to less: a smaller variance. Hence it is
       a vertex of the lower convex hull of all points (S, Q).
    2. A placement that minimises the sum for a larger μ is nowhere lower, or exchanging the
       positions where it is would gain. So the vertices form a chain that rises position by
       position, with at most one step per element of ``choices``.
    """
    if len(choices) <= 1:  # one position does not vary
        return [(position,) for options in choices for position in options]
    # As most often, there is nothing to choose.
    if len(choices) < _INCREASING_FROM and all(len(options) == 1 for options in choices):
        return [tuple(options[0] for options in choices)]
    hull = _increasing_hull if len(choices) >= _INCREASING_FROM else _free_hull
    vertices = list(hull(choices))
    tied = _all_least(vertices, map(_spread, vertices))
    if len(tied) <= 1 or len(choices) in _EXACT_DIVISORS:
        return tied
    return _all_least(tied, np.var(tied, axis=1))


def _all_least(placements: Sequence[Placement], measured: Iterable[float | int]) -> list[Placement]:
    values = list(measured)
    least = min(values, default=0)
    return [
        placement for placement, value in zip(placements, values, strict=True) if value == least
    ]


def _spread(placement: Placement) -> int:
    """Return n² times the exact variance of the n positions."""
    squares: int = sum(map(operator.mul, placement, placement))
    return len(placement) * squares - sum(placement) ** 2


def _free_hull(choices: Sequence[Sequence[int]]) -> Iterator[Placement]:
    """Yield the vertices where each position is free to be the one nearest to μ.

    It moves on when μ, growing from nothing, is halfway to the next.
    """
    placement = [options[0] for options in choices]
    yield tuple(placement)
    moves = sorted(
        (position + next_position, token, next_position)
        for token, options in enumerate(choices)
        for position, next_position in pairwise(options)
    )
    for _, together in groupby(moves, key=operator.itemgetter(0)):
        for _, token, next_position in together:
            placement[token] = next_position
        yield tuple(placement)


def _increasing_hull(choices: Sequence[Sequence[int]]) -> Iterator[Placement]:
    """Yield the vertices where the positions must strictly increase.

    The hull is divided where a placement lies lowest beneath a chord; each half has only the
    positions between its ends left to choose from.
    """
    lowest: list[int] = []
    for options in choices:
        index = bisect_right(options, lowest[-1]) if lowest else 0
        if index == len(options):
            return
        lowest.append(options[index])
    highest: list[int] = []
    for options in reversed(choices):
        index = bisect_left(options, highest[-1]) if highest else len(options)
        highest.append(options[index - 1])
    highest.reverse()
    start, pending = tuple(lowest), [tuple(highest)] if highest != lowest else []
    yield start
    while pending:
        below = _below_chord(choices, start, pending[-1])
        if below:
            pending.append(below)
        else:
            start = pending.pop()
            yield start


def _below_chord(
    choices: Sequence[Sequence[int]], start: Placement, right: Placement
) -> Placement | None:
    """Return the placement between the two that lies lowest beneath their chord, if any does."""
    run = sum(right) - sum(start)
    rise = sum(x * x for x in right) - sum(x * x for x in start)

    def height(position: int) -> int:
        return (run * position - rise) * position

    between = [
        options[bisect_left(options, low) : bisect_right(options, high)]
        for options, low, high in zip(choices, start, right, strict=True)
    ]
    lowest = _least_increasing(between, height)
    return lowest if sum(map(height, lowest)) < sum(map(height, start)) else None


def _least_increasing(choices: Sequence[Sequence[int]], height: Callable[[int], int]) -> Placement:
    """Return the strictly increasing placement whose heights sum to least; one must exist.

    Each path is a choice for the tokens so far, of least height among those that end where it does.
    """
    paths: list[tuple[int, Placement]] = [(0, (-1,))]
    for options in choices:
        longer = []
        lowest: tuple[int, Placement] | None = None
        waiting = iter(paths)
        path = next(waiting, None)
        for position in options:
            while path and path[1][-1] < position:
                if lowest is None or path[0] < lowest[0]:
                    lowest = path
                path = next(waiting, None)
            if lowest:
                longer.append((lowest[0] + height(position), (*lowest[1], position)))
        paths = longer
    _, (_, *placement) = min(paths, key=operator.itemgetter(0))
    return tuple(placement)
