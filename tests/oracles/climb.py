"""The published search for divergent splits, plainly: every divergence is counted from scratch."""

import itertools
import random
from collections import Counter
from collections.abc import Iterable, Sequence

from spor_tasks.corpora.compmctg.spaces import Combination, Space

ALPHA = 0.1
_MOST_STEPS = 1000


def divergence(seen: Sequence[Combination], unseen: Sequence[Combination]) -> float:
    """Return 1 − Σ p^α q^(1−α) over the pairs of values that both have."""
    p, q = (Counter(pair for each in of for pair in _pairs(each)) for of in (seen, unseen))
    ps, qs = p.total(), q.total()
    shared = p.keys() & q.keys()
    alike: float = sum((p[x] / ps) ** ALPHA * (q[x] / qs) ** (1 - ALPHA) for x in sorted(shared))
    return 1 - alike


def climb(seen: Sequence[Combination], unseen: Sequence[Combination]) -> float:
    """Exchange combinations as long as it helps, and return the divergence."""
    one, other, first, second = list(seen), list(unseen), 0, 0
    for _ in range(_MOST_STEPS):
        now = divergence(one, other)
        held = Counter(_values(one))
        may_leave = [
            at for at, each in _from(one, first) if min(held[v] for v in _values([each])) > 1
        ]
        left = _next(
            now,
            ((at, divergence(one[:at] + one[at + 1 :], [*other, one[at]])) for at in may_leave),
        )
        if left is None:
            return now
        rest, more = one[:left] + one[left + 1 :], [*other, one[left]]
        right = _next(
            now,
            (
                (at, divergence([*rest, each], more[:at] + more[at + 1 :]))
                for at, each in _from(other, second)
            ),
        )
        if right is None:
            return now
        one[left], other[right] = other[right], one[left]
        first, second = (left + 1) % len(one), (right + 1) % len(other)
    return divergence(one, other)


def search(space: Space, size: int, *, restarts: int, seed: int) -> float:
    """Return the highest divergence that climbs from random eligible starts reach."""
    rng, every = random.Random(seed), {*_values(space.combinations)}
    best = 0.0
    for _ in range(restarts):
        order = rng.sample(space.combinations, len(space.combinations))
        seen, unseen = order[:size], order[size:]
        if every == {*_values(seen)} == {*_values(unseen)}:
            best = max(best, climb(seen, unseen))
    return best


def _pairs(combination: Combination) -> Iterable[tuple[tuple[int, str], ...]]:
    return itertools.combinations(enumerate(combination), 2)


def _values(combinations: Iterable[Combination]) -> Iterable[tuple[int, str]]:
    return (place for each in combinations for place in enumerate(each))


def _from(of: Sequence[Combination], start: int) -> list[tuple[int, Combination]]:
    numbered = list(enumerate(of))
    return numbered[start:] + numbered[:start]


def _next(now: float, reached: Iterable[tuple[int, float]]) -> int | None:
    """Return the first that is higher, or else the last that is equal."""
    equal = None
    for at, after in reached:
        if after > now:
            return at
        if after == now:
            equal = at
    return equal
