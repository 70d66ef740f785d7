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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spor_tasks.core.errors import SplitError
from spor_tasks.corpora.compmctg.spaces import Combination, Space

ALPHA = 0.1
"""Of the divergence, as in the published code; the paper does not state it."""

_TIE = 1e-9  # divergences that differ by less are equal
_MOST = 30_000_000  # ways that are looked at together: about a gigabyte
_LARGEST = 12  # combinations of the other aspects, whose subsets are enumerated


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
    """The highest divergence of any partition, some that have it, and how many do."""

    divergence: float
    partitions: tuple[Partition, ...]
    ties: int


def most_divergent(space: Space, size: int, *, most: int, seed: int, alpha: float = ALPHA) -> Best:
    """Return ``most`` of the partitions of highest divergence with ``size`` seen combinations.

    Of these partitions, every value is in a seen and in an unseen combination. If more of them have
    the highest divergence, those that are returned are drawn with the seed.

    Raises:
        SplitError: there are none, or the space is too large to find the highest divergence.
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


class _Layer(NamedTuple):
    """The best ways to the sums after some of the values of the largest aspect, sorted by key.

    ``counts`` are the sums: how often each value of another aspect, and each pair of two such
    values, is in a seen combination.
    """

    sizes: NDArray[np.int64]
    keys: NDArray[np.int64]
    costs: NDArray[np.float64]
    counts: NDArray[np.int64]


class _Search:
    """What each set of combinations of the other aspects adds, for a value of the largest one."""

    def __init__(self, space: Space, size: int, alpha: float) -> None:
        aspects = list(space.aspects.values())
        self._space, self._size, self._alpha = space, size, alpha
        self._largest = max(range(len(aspects)), key=lambda number: len(aspects[number]))
        self._values = aspects.pop(self._largest)
        self._others = tuple(itertools.product(*aspects))
        if len(self._others) > _LARGEST:
            raise SplitError("is too large to find the highest divergence", where=space.name)
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
        if math.prod(int(limit) + 1 for limit in limits) > np.iinfo(np.int64).max:
            raise SplitError("is too large to find the highest divergence", where=space.name)
        radix = np.cumprod([1, *(np.array(limits[:-1]) + 1)])
        counts, sizes = self._bits @ np.array(held, np.int64), self._bits.sum(axis=1)
        self._each = _Layer(
            sizes,
            np.column_stack([sizes, counts[:, kept]]) @ radix,
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
        return least, sorted(way for end in ends for way in self._ways(layers, int(end)))

    def _layers(self) -> list[_Layer]:
        each = self._each
        none = np.zeros((1, each.counts.shape[1]), np.int64)
        layers = [_Layer(none[:, 0], none[:, 0], np.zeros(1), none)]
        for left in reversed(range(len(self._values))):
            before = layers[-1]
            rest = self._size - before.sizes[:, None] - each.sizes
            old, new = np.nonzero((left <= rest) & (rest <= left * (len(self._others) - 1)))
            if len(old) > _MOST:
                raise SplitError(
                    "is too large to find the highest divergence", where=self._space.name
                )
            keys, costs = before.keys[old] + each.keys[new], before.costs[old] + each.costs[new]
            order = np.lexsort((costs, keys))
            order = order[np.diff(keys[order], prepend=-1) > 0]
            old, new = old[order], new[order]
            layers.append(
                _Layer(
                    before.sizes[old] + each.sizes[new],
                    keys[order],
                    costs[order],
                    before.counts[old] + each.counts[new],
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
