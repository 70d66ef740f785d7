"""Which combinations of attributes are seen in training: CompMCTG's protocols (section 3).

A protocol divides the combinations of a space into seen (i.d.) and unseen ones (compositional).
Nothing here looks at a text.

The published search climbs from random starts. It finds partitions of high compound divergence, and
cannot tell whether there are better ones. :func:`most_divergent` finds the best ones and proves it.
It goes through the values of the largest aspect. What the seen combinations of one value add to the
divergence is the part of their own pairs, and a share in the sums of all other pairs. So of all
ways to the same sums, only the best are kept.
"""

import itertools
import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spor_tasks.core.errors import SplitError
from spor_tasks.corpora.compmctg.spaces import Combination, Space

ALPHA = 0.1
"""Of the divergence, as in the published code; the paper does not state it."""

_TIE = 1e-9  # divergences that differ by less are equal
_MOST = 30_000_000  # ways that are looked at together: about a gigabyte
_TIES = 100_000  # partitions of the highest divergence are enumerated, and no more
_LARGEST = 12  # combinations of the other aspects, whose subsets are enumerated


class TooLargeError(SplitError):
    """A space is too large to prove that there is no higher divergence."""

    def __init__(self, space: Space) -> None:
        super().__init__("is too large to find the highest divergence", where=space.name)


class Partition(NamedTuple):
    """The combinations that training texts have, and the others, both in the order of the space."""

    seen: tuple[Combination, ...]
    unseen: tuple[Combination, ...]


def divergence(
    seen: Sequence[Combination], unseen: Sequence[Combination], alpha: float = ALPHA
) -> float:
    """Return the compound divergence of unseen combinations from seen ones, from 0 to 1.

    It is 1 minus the Chernoff coefficient Σ pᵅ q¹⁻ᵅ, where p and q are how often a pair of values
    of different aspects is in the seen and in the unseen ones; so it is not symmetric.
    """
    p, q = _frequencies(seen), _frequencies(unseen)
    return 1 - math.fsum(p[pair] ** alpha * q[pair] ** (1 - alpha) for pair in p.keys() & q.keys())


def _frequencies(combinations: Sequence[Combination]) -> dict[object, float]:
    pairs = Counter(
        pair
        for combination in combinations
        for pair in itertools.combinations(enumerate(combination), 2)
    )
    return {pair: count / pairs.total() for pair, count in pairs.items()}


def is_eligible(
    seen: Sequence[Combination], unseen: Sequence[Combination], *, both_ways: bool = False
) -> bool:
    """Return whether every value of the unseen combinations is in a seen one.

    This is what the paper requires. With ``both_ways``, every value of the seen ones must be in an
    unseen one too, as the published code requires of where its search begins.
    """
    known, asked = ({pair for each in of for pair in enumerate(each)} for of in (seen, unseen))
    return known == asked if both_ways else asked <= known


def partition(space: Space, seen: Sequence[Combination]) -> Partition:
    """Return the partition with these seen combinations."""
    known = set(seen)
    return Partition(
        tuple(each for each in space.combinations if each in known),
        tuple(each for each in space.combinations if each not in known),
    )


def hold_out(space: Space) -> tuple[Partition, ...]:
    """Return the partitions that leave out one combination each."""
    return tuple(
        partition(space, [each for each in space.combinations if each != left])
        for left in space.combinations
    )


class Best(NamedTuple):
    """The highest divergence of any partition, some that have it, and how many do.

    They are counted up to 100,000, and drawn from those that were counted.
    """

    divergence: float
    partitions: tuple[Partition, ...]
    ties: int


def most_divergent(space: Space, size: int, *, most: int, seed: int, alpha: float = ALPHA) -> Best:
    """Return ``most`` of the partitions of highest divergence with ``size`` seen combinations.

    Of these partitions, every value is in a seen and in an unseen combination. If more of them have
    the highest divergence, those that are returned are drawn with the seed.

    Raises:
        SplitError: there are none.
        TooLargeError: the space is too large to find the highest divergence.
    """
    search = _Search(space, size, alpha)
    least, ways = search.best()
    if not ways:
        raise SplitError(
            f"{size} of {len(space.combinations)} combinations cannot have every value and leave "
            "every value to the others",
            where=space.name,
        )
    drawn = ways if len(ways) <= most else random.Random(seed).sample(ways, most)
    return Best(1 - least, tuple(map(search.partition, drawn)), len(ways))


def hill_climb(space: Space, size: int, *, restarts: int, seed: int, alpha: float = ALPHA) -> Best:
    """Return the partitions of the highest divergence that the published search reaches.

    It climbs from random partitions in which every value is on both sides. A step exchanges two
    combinations. The seen one is the next whose move alone raises the divergence, or else the last
    that keeps it, and no value is lost to the seen side. Then the unseen one is found in the same
    way, and compared with the divergence before the first move. A climb ends where there is no such
    pair, and here also where it comes back to a partition.

    Raises:
        SplitError: no start has every value on both sides.
    """
    climb, draw = _Climb(space, alpha), random.Random(seed)
    best, found = 0.0, dict[Partition, None]()
    for _ in range(restarts):
        order = draw.sample(range(len(space.combinations)), len(space.combinations))
        one, other = order[:size], order[size:]
        reached = climb.up(one, other)
        if reached is None or reached < best - _TIE:
            continue
        if reached > best + _TIE:
            best = reached
            found.clear()
        found[partition(space, [space.combinations[number] for number in one])] = None
    if not found:
        raise SplitError(
            f"none of {restarts} random choices of {size} combinations has every value and leaves "
            "every value to the others",
            where=space.name,
        )
    return Best(best, tuple(found), len(found))


class _Climb:
    """Which values and which pairs of values each combination has, as 0 and 1."""

    def __init__(self, space: Space, alpha: float) -> None:
        values = [(i, value) for i, of in enumerate(space.aspects.values()) for value in of]
        pairs = [pair for pair in itertools.combinations(values, 2) if pair[0][0] != pair[1][0]]
        held = [{*enumerate(combination)} for combination in space.combinations]
        self._values = np.array([[value in of for value in values] for of in held], np.int64)
        self._pairs = np.array([[{*pair} <= of for pair in pairs] for of in held], np.int64)
        self._alpha = alpha

    def up(self, one: list[int], other: list[int]) -> float | None:
        """Exchange numbers of combinations as long as it helps, and return the divergence.

        It is None if the start is not eligible.
        """
        if not all(self._values[side].any(axis=0).all() for side in (one, other)):
            return None
        seen, unseen = (self._pairs[side].sum(axis=0) for side in (one, other))
        first, second, known = 0, 0, set[frozenset[int]]()
        while (here := frozenset(one)) not in known:
            known.add(here)
            now = float(self._divergence(seen, unseen))
            values, moved = self._values[one], self._pairs[one]
            is_kept = ~np.any(values[:, values.sum(axis=0) == 1], axis=1)
            left = _next(self._divergence(seen - moved, unseen + moved), now, first, is_kept)
            if left is None:
                return now
            between = seen - moved[left], unseen + moved[left]
            back = self._pairs[other]
            after = self._divergence(between[0] + back, between[1] - back)
            right = _next(after, now, second, np.ones(len(other), np.bool_))
            if right is None:
                return now
            seen, unseen = between[0] + back[right], between[1] - back[right]
            one[left], other[right] = other[right], one[left]
            first, second = (left + 1) % len(one), (right + 1) % len(other)
        return float(self._divergence(seen, unseen))

    def _divergence(
        self, seen: NDArray[np.int64], unseen: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        p, q = (each / each.sum(axis=-1, keepdims=True) for each in (seen, unseen))
        found: NDArray[np.float64] = 1 - (p**self._alpha * q ** (1 - self._alpha)).sum(axis=-1)
        return found


def _next(
    reached: NDArray[np.float64], now: float, start: int, may_move: NDArray[np.bool_]
) -> int | None:
    """Return the first number from ``start`` on that raises ``now``, or the last that keeps it."""
    order = np.roll(np.arange(len(reached)), -start)
    order = order[may_move[order]]
    better, equal = (
        order[is_one[order]] for is_one in (reached > now + _TIE, np.abs(reached - now) <= _TIE)
    )
    if len(better):
        return int(better[0])
    return int(equal[-1]) if len(equal) else None


class _Layer(NamedTuple):
    """The best ways to the sums after some of the values of the largest aspect, sorted by key.

    ``counts`` are the sums: how often each value of another aspect, and each pair of two such
    values, is in a seen combination.
    """

    sizes: NDArray[np.int64]
    keys: NDArray[np.signedinteger[Any]]
    costs: NDArray[np.float64]
    counts: NDArray[np.int64]


def _smallest(end: int) -> type[np.signedinteger[Any]]:
    """Return the smaller type for numbers below ``end``: millions of them are sorted."""
    return np.int32 if end <= np.iinfo(np.int32).max else np.int64


def _numbers(which: NDArray[np.bool_]) -> NDArray[np.int32]:
    return np.flatnonzero(which).astype(np.int32)


class _Search:
    """What each set of combinations of the other aspects adds, for a value of the largest one."""

    def __init__(self, space: Space, size: int, alpha: float) -> None:
        aspects = list(space.aspects.values())
        self._space, self._size, self._alpha = space, size, alpha
        self._largest = max(range(len(aspects)), key=lambda number: len(aspects[number]))
        self._values = aspects.pop(self._largest)
        self._others = tuple(itertools.product(*aspects))
        if len(self._others) > _LARGEST:
            raise TooLargeError(space)
        singles = [(each,) for i, of in enumerate(aspects) for each in ((i, v) for v in of)]
        pairs = [(*a, *b) for a, b in itertools.combinations(singles, 2) if a[0][0] != b[0][0]]
        last = {(i, of[-1]) for i, of in enumerate(aspects)}
        held = [[{*of} <= {*enumerate(one)} for of in (*singles, *pairs)] for one in self._others]
        numbers = np.arange(2 ** len(self._others))[:, None]
        bits = numbers >> np.arange(len(self._others)) & 1
        self._bits = bits[(bits.sum(axis=1) > 0) & (bits.sum(axis=1) < len(self._others))]
        self._is_pair = np.array([len(of) > 1 for of in (*singles, *pairs)])
        self._whole = np.sum(held, axis=0)
        # The counts of an aspect's last value follow from the others and from the size.
        kept = [last.isdisjoint(of) for of in (*singles, *pairs)]
        limits = [self._size, *(self._whole * len(self._values))[kept]]
        keys = math.prod(int(limit) + 1 for limit in limits)
        if keys > np.iinfo(np.int64).max:
            raise TooLargeError(space)
        radix = np.cumprod([1, *(np.array(limits[:-1]) + 1)])
        counts, sizes = self._bits @ np.array(held, np.int64), self._bits.sum(axis=1)
        self._each = _Layer(
            sizes,
            (np.column_stack([sizes, counts[:, kept]]) @ radix).astype(_smallest(keys)),
            self._cost(counts[:, ~self._is_pair], self._whole[~self._is_pair]),
            counts,
        )

    def _cost(self, seen: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return what pairs add to the Chernoff coefficient that are seen so often."""
        pairs = math.comb(len(self._space.aspects), 2)
        p = seen / (pairs * self._size)
        q = (whole - seen) / (pairs * (len(self._space.combinations) - self._size))
        found: NDArray[np.float64] = (p**self._alpha * q ** (1 - self._alpha)).sum(axis=1)
        return found

    def best(self) -> tuple[float, list[tuple[int, ...]]]:
        """Return the smallest coefficient, and every way to it: a set for each value."""
        layers = self._layers()
        last, whole = layers[-1], self._whole * len(self._values)
        singles = ~self._is_pair
        is_both = (last.counts > 0) & (last.counts < whole)
        costs = last.costs + self._cost(last.counts[:, self._is_pair], whole[self._is_pair])
        costs[~is_both[:, singles].all(axis=1)] = np.inf
        least = float(costs.min(initial=np.inf))
        ends = np.flatnonzero(costs < least + _TIE)
        ways = (way for end in ends for way in self._ways(layers, int(end)))
        return least, sorted(itertools.islice(ways, _TIES))

    def _layers(self) -> list[_Layer]:
        each, most = self._each, len(self._others) - 1
        none = np.zeros((1, each.counts.shape[1]), np.int64)
        keys = none[:, 0].astype(each.keys.dtype)
        layers = [_Layer(none[:, 0], keys, np.zeros(1), none)]
        for left in reversed(range(len(self._values))):
            before = layers[-1]
            rest = self._size - before.sizes
            blocks = [
                (
                    _numbers((left <= rest - size) & (rest - size <= left * most)),
                    _numbers(each.sizes == size),
                )
                for size in range(1, most + 1)
            ]
            if sum(len(old) * len(new) for old, new in blocks) > _MOST:
                raise TooLargeError(self._space)
            old = np.concatenate([np.repeat(old, len(new)) for old, new in blocks])
            new = np.concatenate([np.tile(new, len(old)) for old, new in blocks])
            keys = before.keys[old] + each.keys[new]
            order = np.argsort(keys)
            starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
            costs = (before.costs[old] + each.costs[new])[order]
            first = order[starts]  # of equal keys, which have equal sizes and counts
            layers.append(
                _Layer(
                    before.sizes[old[first]] + each.sizes[new[first]],
                    keys[first],
                    np.minimum.reduceat(costs, starts) if len(starts) else costs,
                    before.counts[old[first]] + each.counts[new[first]],
                )
            )
        return layers

    def _ways(self, layers: Sequence[_Layer], end: int) -> Iterator[tuple[int, ...]]:
        """Yield every best way to a state of the last layer."""
        if len(layers) == 1:
            yield ()
            return
        *until, before, here = layers
        wanted = here.keys[end] - self._each.keys
        found = np.minimum(np.searchsorted(before.keys, wanted), len(before.keys) - 1)
        costs = before.costs[found] + self._each.costs
        is_way = (before.keys[found] == wanted) & (np.abs(costs - here.costs[end]) < _TIE)
        for number in np.flatnonzero(is_way):
            for way in self._ways([*until, before], int(found[number])):
                yield (*way, int(number))

    def partition(self, way: Sequence[int]) -> Partition:
        """Return the partition that a set for each value makes."""
        return partition(
            self._space,
            [
                (*other[: self._largest], value, *other[self._largest :])
                for value, number in zip(self._values, way, strict=True)
                for other, is_seen in zip(self._others, self._bits[number], strict=True)
                if is_seen
            ],
        )
