"""Systematicity (section 3.1): Atom never shows two units of a test sample together.

Combination shows them together as often as possible. The units of the test set (*atoms*) occur
equally often in both arms, in nearly the same distribution. Both arms have the same test set.
"""

import operator
import random
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from functools import cache, reduce

import numpy as np

from spor_tasks.aspects.arms import strict_sets
from spor_tasks.aspects.numbers import (
    LIMIT,
    Ints,
    UnitNumbers,
    divergence,
    require_few_pairs,
    sort,
)
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.sample import DataUnit, Sample, Sets

_UnitSet = frozenset[DataUnit]


RESTARTS = 20
"""The random runs of Algorithm 1, of which the one with the most test units is kept."""


def build(
    samples: Iterable[Sample],
    rng: random.Random,
    restarts: int = RESTARTS,
    limit: float = LIMIT,
) -> Sets:
    """Build the arms ``atom`` and ``combination`` and the test set from one pool of samples.

    ``limit`` is the largest divergence allowed between the arms. The result depends only on the
    arguments; each split keeps the order of the samples.

    Raises:
        ConfigError: ``restarts`` is less than 1.
        SplitError: no sample of the pool can be a test sample, or there are more pairs of units
            than :data:`~spor_tasks.aspects.numbers.MOST_PAIRS`.
    """
    if restarts < 1:
        raise ConfigError("must be at least 1", where="restarts")
    pool = tuple(samples)
    require_few_pairs(pool)
    units = [frozenset(sample.units) for sample in pool]
    several = [i for i, held in enumerate(units) if len(held) > 1]
    overlaps = SharedUnits(units)
    runs = []
    for _ in range(restarts):
        order = list(several)
        rng.shuffle(order)  # at random within a size
        runs.append(overlaps.atom_and_test(sorted(order, key=lambda i: -len(units[i]))))
    atom, test = max(runs, key=lambda run: sum(len(units[x]) for x in run[1]))
    if not test:
        tied = [overlaps.never_apart(units[i]) for i in several]
        nearest = f", the nearest lacks this for {min(tied):,}" if tied else ""
        raise SplitError(
            "no sample can be tested, since all of its units must also occur apart: of "
            f"{len(tied):,} samples of two or more units{nearest}",
            where=pool[several[0]].corpus if several else None,
            remedy="Give more samples that share exactly one unit.",
        )
    combination = _combination(units, atom, test, limit, overlaps)
    *arms, tested = ([pool[i] for i in sorted(chosen)] for chosen in (atom, combination, test))
    return strict_sets("systematicity", *arms, test=tested)


class SharedUnits:
    """The samples that share units; a set of samples is an integer with one bit per sample.

    ``units`` are the units of each sample, or anything hashable in their place.
    """

    def __init__(self, units: Sequence[frozenset[Hashable]]) -> None:
        self._units = units
        self._holders: dict[Hashable, int] = defaultdict(int)
        for i, held in enumerate(units):
            for unit in held:
                self._holders[unit] |= 1 << i

        @cache
        def sharing(units: frozenset[Hashable]) -> tuple[int, int]:
            any_, several = 0, 0
            for unit in units:
                several |= any_ & self._holders[unit]
                any_ |= self._holders[unit]
            return any_ & ~several, several

        self.sharing = sharing
        """Returns the samples with exactly one of the units, and those with two or more."""

    def atom_and_test(self, order: Iterable[int]) -> tuple[set[int], set[int]]:
        """Run Algorithm 1, offering the samples to the test set in ``order``.

        ``free`` is the algorithm's S without Blocked: the samples that may still enter Atom.
        Samples with equal units always enter the test set together.
        """
        free = (1 << len(self._units)) - 1
        atom, test = 0, set[int]()
        for x in order:
            if atom >> x & 1:
                continue
            free &= ~(1 << x)
            single_sharing, several = self.sharing(self._units[x])
            single = single_sharing & (atom | free)
            if not atom & several and all(single & self._holders[u] for u in self._units[x]):
                test.add(x)
                atom |= single
                free &= ~(single_sharing | several)
        return _members(atom), test

    def never_apart(self, units: frozenset[Hashable]) -> int:
        """Return how many of a sample's units no sample has without another one of them."""
        single_sharing, _ = self.sharing(units)
        return sum(not single_sharing & self._holders[unit] for unit in units)


def _members(bits: int) -> set[int]:
    digits = np.frombuffer(bits.to_bytes((bits.bit_length() + 7) // 8, "little"), np.uint8)
    return set(np.flatnonzero(np.unpackbits(digits, bitorder="little")).tolist())


def _combination(
    units: Sequence[_UnitSet], atom: set[int], test: set[int], limit: float, overlaps: SharedUnits
) -> set[int]:
    """Run Algorithm 2: replace samples of Atom by samples with a pair of a test sample.

    Every such sample outside Atom and the test set is tried, even if Algorithm 1 rejected it before
    a test sample blocked it.
    """
    atoms = frozenset[DataUnit]().union(*(units[x] for x in test))
    held = [sample & atoms for sample in units]
    paired = _members(reduce(operator.or_, (overlaps.sharing(units[x])[1] for x in test)))
    blocked = np.array(sorted(paired - atom - test), np.int64)
    numbers = UnitNumbers(held)
    replaceable = np.array(sorted(atom), np.int64)
    before = after = numbers.counts(replaceable)
    combination = set(atom)
    while blocked.size:
        x, blocked = int(blocked[-1]), blocked[:-1]
        cluster, changed = _cluster(numbers, x, replaceable, after)
        if cluster and divergence(before, changed) <= limit:
            after = changed
            combination.add(x)
            combination.difference_update(cluster)
            value = numbers.sums(before - after)  # V: occurrences that Combination lacks of Atom's
            blocked = sort(blocked, value)
            replaceable = sort(np.array(sorted(atom & combination), np.int64), value)
    return combination


def _cluster(
    numbers: UnitNumbers, x: int, replaceable: Ints, counts: Ints
) -> tuple[list[int], Ints]:
    """Return samples to remove in exchange for ``x``, and the counts of units after the exchange.

    They are taken in order. Together they have as many atoms as ``x``, and no atom loses its last
    occurrence. The list is empty if there are no such samples.
    """
    remaining = counts + numbers.counts([x])
    room = int(numbers.sizes[x])
    needed = numbers.sums((remaining == 1).astype(np.int64))[replaceable] > 0
    cluster = []
    for y in replaceable[~needed & (numbers.sizes[replaceable] <= room)].tolist():
        if numbers.sizes[y] <= room and (remaining[numbers.units[y]] > 1).all():
            remaining[numbers.units[y]] -= 1
            room -= int(numbers.sizes[y])
            cluster.append(y)
            if not room:
                return cluster, remaining
    return [], counts
