"""Productivity (section 3.2): Invisible never shows more than N data units at once, Visible does.

Both arms have the same number of units, in nearly the same distribution. They are tested on samples
of more than N units.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, product
from math import lcm
from operator import itemgetter
from typing import TypeAlias

import numpy as np

from spor_tasks.aspects.arms import counted, lacking, strict_sets
from spor_tasks.aspects.numbers import LIMIT, Ints, UnitNumbers, divergence
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import Sample, Sets, with_known_units


def threshold_of(part: str | None) -> int:
    """Return the N of a part as it is typed, such as ``n3``.

    Raises:
        SplitError: the part is unknown.
    """
    typed = re.fullmatch(r"n([1-9][0-9]*)", part or "")
    if typed is None:
        raise SplitError(
            f"productivity has no part {part!r}",
            remedy="Use n3 for the threshold 3, n4 for 4, and so on.",
        )
    return int(typed[1])


Choose: TypeAlias = Callable[[UnitNumbers, Sequence[Sample], int, float], list[int]]
"""Returns which samples of a pool are in Visible: of the pool, test samples, N and the limit."""


def exchanged(
    pool: UnitNumbers, tests: Sequence[Sample], threshold: int, limit: float
) -> list[int]:
    """Return a Visible with many units in long samples and with every unit of the test samples."""
    return _Exchange(pool, tests, threshold, limit).run()


def build(
    train: Iterable[Sample],
    test: Iterable[Sample],
    threshold: int,
    limit: float = LIMIT,
    choose: Choose = exchanged,
) -> Sets:
    """Build the arms ``invisible`` and ``visible`` and the test set; nothing here is random.

    ``threshold`` is the paper's N, ``limit`` the largest divergence allowed between the arms over
    all their units. ``choose`` makes Visible.

    If samples have categories, only categories with a training sample of the largest size are used,
    so that the arms do not differ in topic. Invisible has all training samples of at most N units.
    Visible has some of these and some longer ones, none with exactly the units of a test sample.
    The test set has all test samples of more than N units whose units both arms show.

    Raises:
        SplitError: no test sample is left, or no longer sample fits into Visible.
    """
    n = threshold
    train, test = tuple(train), tuple(test)
    largest = max((len(sample.units) for sample in train), default=0)
    categories = {s.about("category") for s in train if len(s.units) == largest}
    above = [s for s in test if s.about("category") in categories and len(s.units) > n]
    given_away = {frozenset(sample.units) for sample in above}
    pool = [
        s
        for s in train
        if s.about("category") in categories and frozenset(s.units) not in given_away
    ]
    invisible = [sample for sample in pool if len(sample.units) <= n]
    testable = with_known_units(above, invisible)
    if not testable:
        most = max((len(sample.units) for sample in test), default=0)
        nearest = f"the largest of {len(test):,} has {most}"
        if above:
            nearest = lacking(above, invisible)
        raise SplitError(
            f"no test sample of more than {n} units has all its units in training samples of at "
            f"most {n} units: {nearest}",
            remedy="Use another threshold or a larger corpus.",
        )
    numbers = UnitNumbers([sample.units for sample in pool])
    visible = [pool[index] for index in choose(numbers, testable, n, limit)]
    tested = with_known_units(testable, visible)
    if not tested or all(len(sample.units) <= n for sample in visible):
        raise SplitError(
            f"no training sample of more than {n} units fits into Visible: there are "
            f"{len(pool) - len(invisible):,}",
            remedy="Use another threshold or a larger corpus.",
        )
    short = sum(len(sample.units) <= n for sample in test)
    reasons = {
        "a unit is not in both arms": len(above) - len(tested),
        f"there are at most {n} units": short,
        "the category has no training sample of the largest size": len(test) - len(above) - short,
    }
    untested = counted(reasons)
    return strict_sets(
        "productivity", invisible, visible, test=tested, part=f"n{n}", untested=untested
    )


_AFFINITY_SCALE = 2**40  # affinities are integers in this fraction of an occurrence


class _Exchange:
    """A steepest ascent to a Visible with as many units as possible in samples of more than N.

    A unit that occurs p times in Invisible and q times in Visible has the affinity √(pq). While
    totals are equal, the divergence falls as the sum of affinities rises. The contribution of a
    sample is a sum over its units, so all samples are valued at once.

    A step exchanges long samples for shorter ones. The long ones have the size of which Visible has
    the fewest samples compared with the test set. The shorter ones have equal sizes. The exchange
    that costs the least affinity is made. If none stays within the limit, the best swap of two
    samples of one size makes room. Affinities are integers, so every machine builds the same
    sets; divergences are exact.
    """

    def __init__(
        self, pool: UnitNumbers, tests: Sequence[Sample], threshold: int, limit: float
    ) -> None:
        self._pool = pool
        self._limit = limit
        self._needed = np.unique([pool.of_unit[unit] for test in tests for unit in test.units])
        self._visible = pool.sizes <= threshold
        self._before = self._after = pool.counts(np.flatnonzero(self._visible))
        self._divergence = 0.0
        of_size = {int(size): np.flatnonzero(pool.sizes == size) for size in np.unique(pool.sizes)}
        self._short = {size: some for size, some in of_size.items() if size <= threshold}
        self._long = {size: some for size, some in of_size.items() if size > threshold}
        self._tests_of_size = Counter(len(sample.units) for sample in tests)

    def run(self) -> list[int]:
        """Return the samples of Visible, in the order of the pool."""
        is_changed = True
        while is_changed:
            is_changed = False
            for enter, leave, limit in self._moves():
                after = self._after + self._pool.counts(enter) - self._pool.counts(leave)
                if (new_divergence := divergence(self._before, after)) <= limit:
                    self._after, self._divergence = after, new_divergence
                    self._visible[enter] = True
                    self._visible[leave] = False
                    is_changed = True
                    break
        return [int(sample) for sample in np.flatnonzero(self._visible)]

    def _moves(self) -> Iterator[tuple[Ints, Ints, float]]:
        """Yield moves: the samples that enter, those that leave, and the divergence allowed.

        All exchanges come first, best first; then the best swap, which must lower the divergence.
        So no state repeats, and the ascent ends.
        """
        affinity = self._affinity(self._after)
        gains = self._pool.sums(self._affinity(self._after + 1) - affinity)
        losses = self._pool.sums(affinity - self._affinity(np.maximum(self._after - 1, 0)))
        last = np.zeros_like(self._after)
        last[self._needed] = self._after[self._needed] == 1
        may_leave = self._visible & (self._pool.sums(last) == 0)

        def entering(samples: Ints, most: int) -> Ints:
            return _largest(gains, samples[~self._visible[samples]], most)

        def leaving(samples: Ints, most: int) -> Ints:
            """Return samples to remove, without taking the last occurrence of a needed unit."""
            remaining, chosen = self._after.copy(), []
            for sample in _largest(-losses, samples[may_leave[samples]], 2 * most):
                rest = remaining - self._pool.counts([sample])
                if rest[self._needed].all():
                    remaining = rest
                    chosen.append(sample)
            return np.array(chosen[:most], np.int64)

        most = int(self._pool.sizes.max())
        longs = {size: entering(some, most) for size, some in self._long.items()}
        shorts = {size: leaving(some, most) for size, some in self._short.items()}
        exchanges = []
        for (long, enter), (short, leave) in product(longs.items(), shorts.items()):
            units = lcm(long, short)
            if len(enter) >= units // long and len(leave) >= units // short:
                sides = enter[: units // long], leave[: units // short]
                cost = int(losses[sides[1]].sum() - gains[sides[0]].sum()) / units
                tests = self._tests_of_size[long]
                shown = np.count_nonzero(self._visible[self._long[long]])
                # Samples of this size in Visible per test sample of this size.
                exchanges.append((shown / tests if tests else math.inf, cost, sides))
        exchanges.sort(key=itemgetter(0, 1))
        for _, _, sides in exchanges:
            yield *sides, self._limit

        swaps = [
            (int(gains[enter[0]] - losses[leave[0]]), (enter, leave))
            for some in chain(self._short.values(), self._long.values())
            if (enter := entering(some, 1)).size and (leave := leaving(some, 1)).size
        ]
        if swaps:
            _, sides = max(swaps, key=itemgetter(0))
            yield *sides, math.nextafter(self._divergence, -math.inf)

    def _affinity(self, counts: Ints) -> Ints:
        affinity: Ints = (np.sqrt(self._before * counts) * _AFFINITY_SCALE).astype(np.int64)
        return affinity


def _largest(values: Ints, samples: Ints, most: int) -> Ints:
    """Return up to ``most`` samples with the largest values; of equal ones, the first."""
    if len(samples) > most:
        least = np.partition(values[samples], -most)[-most]
        samples = samples[values[samples] >= least]
    return samples[np.argsort(-values[samples], kind="stable")][:most]
