"""Write the most divergent splits of spaces of attributes, by an exact search.

    python docs/generators/compmctg_splits.py splits.json                    # the shipped ones
    python docs/generators/compmctg_splits.py SPACE.yaml ACD unseen.jsonl    # of your own space

The search goes through the values of the largest aspect and chooses for each the seen combinations
of the other aspects. The pairs with that value add their part to the divergence at once. All other
pairs depend on sums over the values alone, so only the best ways to equal sums are stored.
"""

import itertools
import math
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spor_tasks.benchmarks.compmctg.splits import Partition, without
from spor_tasks.core.errors import SplitError
from spor_tasks.core.files import write_json, write_rows
from spor_tasks.corpora.compmctg.reader import MODES
from spor_tasks.corpora.compmctg.spaces import (
    AMAZON,
    FYELP,
    MIXTURE,
    YELP,
    Combination,
    Space,
    read_space,
)
from spor_tasks.corpora.embedded.attributes import SPACE as MINI

ALPHA = 0.1  # of the divergence, as in the published code; the paper does not state it
SEED = 2023  # of the published code: it draws from the splits that are equally divergent

# The numbers of published splits. Yelp has four of Few-Shot: the published eight are very likely
# these, each in two orders. A Few-Shot split of Amazon or Mixture is one of ACD too.
NUMBERS = (
    (FYELP, {"acd": 10, "fewshot": 2}),
    (AMAZON, {"fewshot": 10}),
    (YELP, {"acd": 10, "fewshot": 4}),
    (MIXTURE, {"fewshot": 8}),
    (MINI, {"acd": 3, "fewshot": 3}),
)
OWN = 10  # splits of a user's space
TIE = 1e-9  # divergences that differ by less are equal
MOST_WAYS = 600_000_000  # that are compared at once
MOST_TIES = 100_000


def divergence(
    seen: Sequence[Combination], unseen: Sequence[Combination], alpha: float = ALPHA
) -> float:
    """Return the compound divergence of unseen combinations from seen ones, from 0 to 1.

    It is 1 minus the Chernoff coefficient Σ pᵅ q¹⁻ᵅ, where p and q are how often a pair of values
    of different aspects is in the seen and in the unseen ones; so it is not symmetric.
    """
    p, q = frequencies(seen), frequencies(unseen)
    return 1 - math.fsum(p[pair] ** alpha * q[pair] ** (1 - alpha) for pair in p.keys() & q.keys())


def frequencies(combinations: Sequence[Combination]) -> dict[object, float]:
    """Return how often each pair of values of different aspects occurs."""
    pairs = Counter(
        pair
        for combination in combinations
        for pair in itertools.combinations(enumerate(combination), 2)
    )
    return {pair: count / pairs.total() for pair, count in pairs.items()}


def most_divergent(space: Space, protocol: str, most: int) -> tuple[tuple[Partition, ...], int]:
    """Return `most` of the partitions of highest divergence, and how many have it, up to 100,000.

    Every value is in a seen and in an unseen combination.

    Raises:
        SplitError: there are none, or the space is too large.
    """
    number = len(space.combinations)
    is_acd = protocol == "acd"
    search = Search(space, number // 2 if is_acd else max(map(len, space.aspects.values())))
    ways = [] if is_acd and number % 2 else search.best_ways()
    if not ways:
        raise SplitError(f"has no split of {protocol}", where=space.name)
    drawn = ways if len(ways) <= most else random.Random(SEED).sample(ways, most)
    return tuple(map(search.partition, drawn)), len(ways)


class Layer(NamedTuple):
    """The best ways to the sums after some values of the largest aspect, sorted by key.

    The first of the counts is the number of seen combinations. The others say how often each value
    of another aspect, and each pair of two such values, is in a seen combination.
    """

    keys: NDArray[np.int64]
    costs: NDArray[np.float64]
    counts: NDArray[np.int64]


class Search:
    """The search for the seen sets of a size; `sets` are those of one value's combinations."""

    def __init__(self, space: Space, size: int) -> None:
        aspects = list(space.aspects.values())
        self.space, self.size = space, size
        self.largest = max(range(len(aspects)), key=lambda index: len(aspects[index]))
        self.values = aspects.pop(self.largest)
        self.others = list(itertools.product(*aspects))
        if len(self.others) > 12:
            raise SplitError("is too large to find the highest divergence", where=space.name)
        singles = [(pair,) for i, aspect in enumerate(aspects) for pair in ((i, v) for v in aspect)]
        pairs = [(*a, *b) for a, b in itertools.combinations(singles, 2) if a[0][0] != b[0][0]]
        parts = [(), *singles, *pairs]
        has = np.array(
            [
                [{*part} <= {*enumerate(combination)} for part in parts]
                for combination in self.others
            ]
        )
        bits = np.arange(2 ** len(self.others))[:, None] >> np.arange(len(self.others)) & 1
        self.sets = bits[(bits.sum(axis=1) > 0) & (bits.sum(axis=1) < len(self.others))]
        self.whole = has.sum(axis=0)
        self.of_value = slice(1, 1 + len(singles))
        self.of_others = slice(1 + len(singles), None)
        # The counts of an aspect's last value follow from the other counts.
        last = {(i, aspect[-1]) for i, aspect in enumerate(aspects)}
        needed = [last.isdisjoint(part) for part in parts]
        limits = np.array([size, *(self.whole * len(self.values))[needed][1:]])
        if math.prod(int(limit) + 1 for limit in limits) > np.iinfo(np.int64).max:
            raise SplitError("is too large to find the highest divergence", where=space.name)
        counts = self.sets @ has.astype(np.int64)
        keys = counts[:, needed] @ np.cumprod([1, *(limits[:-1] + 1)])
        self.each = Layer(keys, self.cost(counts, self.whole, self.of_value), counts)

    def cost(
        self, seen_counts: NDArray[np.int64], whole: NDArray[np.int64], part: slice
    ) -> NDArray[np.float64]:
        """Return what some pairs add to the Chernoff coefficient that are seen so often."""
        pairs = math.comb(len(self.space.aspects), 2)
        p = seen_counts[:, part] / (pairs * self.size)
        q = (whole - seen_counts)[:, part] / (pairs * (len(self.space.combinations) - self.size))
        return np.asarray((p**ALPHA * q ** (1 - ALPHA)).sum(axis=1), np.float64)

    def best_ways(self) -> list[tuple[int, ...]]:
        """Return every way to the smallest coefficient: the index of a set for each value."""
        start = np.zeros((1, self.each.counts.shape[1]), np.int64)
        layers = [Layer(start[:, 0], np.zeros(1), start)]
        for remaining in reversed(range(len(self.values))):
            layers.append(self.next_layer(layers[-1], remaining))
        seen_counts, whole = layers[-1].counts, self.whole * len(self.values)
        costs = layers[-1].costs + self.cost(seen_counts, whole, self.of_others)
        is_both = (seen_counts > 0) & (seen_counts < whole)
        costs[~is_both[:, self.of_value].all(axis=1)] = np.inf
        ends = np.flatnonzero(costs < costs.min(initial=np.inf) + TIE)
        ways = (way for end in ends for way in self.ways(layers, int(end)))
        return sorted(itertools.islice(ways, MOST_TIES))

    def next_layer(self, layer: Layer, remaining: int) -> Layer:
        """Return the layer after one more value, with so many values to come."""
        if len(layer.keys) * len(self.each.keys) > MOST_WAYS:
            raise SplitError("is too large to find the highest divergence", where=self.space.name)
        open_places = self.size - np.add.outer(layer.counts[:, 0], self.each.counts[:, 0])
        most = remaining * (len(self.others) - 1)
        old, new = np.nonzero((remaining <= open_places) & (open_places <= most))
        keys = layer.keys[old] + self.each.keys[new]
        order = np.argsort(keys)
        starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
        costs = (layer.costs[old] + self.each.costs[new])[order]
        first = order[starts]
        return Layer(
            keys[first],
            np.minimum.reduceat(costs, starts) if len(starts) else costs,
            layer.counts[old[first]] + self.each.counts[new[first]],
        )

    def ways(self, layers: Sequence[Layer], end: int) -> Iterator[tuple[int, ...]]:
        """Yield every best way to a state of the last layer."""
        if len(layers) == 1:
            yield ()
            return
        *_, before, last = layers
        keys = last.keys[end] - self.each.keys
        places = np.minimum(np.searchsorted(before.keys, keys), len(before.keys) - 1)
        costs = before.costs[places] + self.each.costs
        is_way = (before.keys[places] == keys) & (np.abs(costs - last.costs[end]) < TIE)
        for index in np.flatnonzero(is_way):
            for way in self.ways(layers[:-1], int(places[index])):
                yield (*way, int(index))

    def partition(self, way: Sequence[int]) -> Partition:
        """Return the partition that a set for each value makes."""
        unseen = {
            (*combination[: self.largest], value, *combination[self.largest :])
            for value, index in zip(self.values, way, strict=True)
            for combination, is_seen in zip(self.others, self.sets[index], strict=True)
            if not is_seen
        }
        return without(self.space, unseen)


def content(space: Space, protocol: str, most: int) -> dict[str, Any]:
    """Return what `splits.json` has of a protocol."""
    splits, ties = most_divergent(space, protocol, most)
    unseen = [", ".join(map(" ".join, split.unseen)) for split in splits]
    return {"divergence": round(divergence(*splits[0]), 9), "ties": ties, "unseen": unseen}


if __name__ == "__main__":
    *own, file = sys.argv[1:]
    if own:
        space, mode = read_space(Path(own[0])), own[1]
        splits, _ = most_divergent(space, MODES[mode], OWN)
        listed = [list(map(space.as_row, split.unseen)) for split in splits]
        rows = [{"mode": mode, "idx": str(i), "unseen_combs": row} for i, row in enumerate(listed)]
        write_rows(Path(file), rows)
    else:
        shipped = {
            space.name: {name: content(space, name, most) for name, most in protocols.items()}
            for space, protocols in NUMBERS
        }
        write_json(Path(file), {"seed": SEED, "alpha": ALPHA, "splits": shipped})
