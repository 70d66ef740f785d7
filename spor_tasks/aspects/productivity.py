"""Productivity (section 3.2): Invisible never shows more than N data units at once, Visible does.

Both hold the same number of units in nearly the same distribution, and are judged on samples of
more than N units.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product
from math import lcm
from operator import itemgetter
from typing import Literal, TypeAlias, get_args

import numpy as np

from spor_tasks.aspects.divergence import LIMIT
from spor_tasks.aspects.numbers import Ints, Numbers, divergence, sort
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.sample import Sample, Split, SplitPair

THRESHOLDS = (3, 4, 5)
"""The N that the paper tries."""


def threshold_of(part: str | None) -> int:
    """Return the N of a part such as ``n3``.

    Raises:
        SplitError: there is no such part.
    """
    if part is None or not re.fullmatch(r"n[1-9][0-9]*", part):
        raise SplitError(
            f"{part!r} is no part of productivity", remedy="`n3` is that of the threshold 3."
        )
    return int(part[1:])


Method: TypeAlias = Literal["exchange", "scarcest", "longest"]
"""How Visible's samples of more than N units are chosen.

``scarcest`` is the published way on WebNLG, ``longest`` the one on E2E [code]: each is tried once,
next always the one whose units Visible has lost most of, or the longest. ``exchange`` lets in as
many of their units as it can, and keeps every unit of the test set.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a build depends on, beside the samples.

    ``threshold`` is the paper's N, ``limit`` the largest divergence accepted between the arms over
    all their units.

    Raises:
        ConfigError: no sample has so few units, no divergence is so large, or the method unknown.
    """

    threshold: int
    method: Method = "exchange"
    limit: float = LIMIT

    def __post_init__(self) -> None:
        if self.threshold < 1:
            raise ConfigError("a sample has at least one unit", where="threshold")
        if self.method not in get_args(Method):
            raise ConfigError(
                f"{self.method!r} is none of {', '.join(get_args(Method))}", where="method"
            )
        if not 0 <= self.limit <= 1:
            raise ConfigError("a divergence lies between 0 and 1", where="limit")


def build(train: Iterable[Sample], test: Iterable[Sample], settings: Settings) -> SplitPair:
    """Build the arms ``invisible`` and ``visible`` and the test set; nothing here is random.

    Where samples have categories, only those are used that have a training sample of the largest
    size, lest the arms differ in what they are about. Invisible is all training samples of at most
    N units; Visible some of these and some longer ones, none with exactly the units of a test
    sample. The test set is all test samples of more than N units whose units both arms show.

    Raises:
        SplitError: nothing is left to test, or nothing longer fits into Visible.
    """
    n = settings.threshold
    train = tuple(train)
    categories = _categories_of_largest(train)
    above = [s for s in test if s.category in categories and len(s.units) > n]
    given_away = {frozenset(sample.units) for sample in above}
    pool = tuple(
        sample
        for sample in train
        if sample.category in categories and frozenset(sample.units) not in given_away
    )
    invisible = tuple(sample for sample in pool if len(sample.units) <= n)
    testable = _with_known_units(above, invisible)
    if not testable:
        raise SplitError(
            f"no test sample has more than {n} units that all occur in training samples of at most "
            f"{n}",
            remedy="Lower the threshold or give a larger corpus.",
        )
    visible = tuple(pool[index] for index in _choose_visible(pool, testable, settings))
    tested = _with_known_units(testable, visible)
    if not tested or all(len(sample.units) <= n for sample in visible):
        raise SplitError(
            f"no training sample of more than {n} units fits into Visible",
            remedy="Lower the threshold, raise the limit or give a larger corpus.",
        )
    return SplitPair(
        aspect="productivity",
        corpus=pool[0].corpus,
        protocol="strict",
        arms=(Split("invisible", invisible), Split("visible", visible)),
        test=Split("test", tested),
        part=f"n{n}",
    )


def _categories_of_largest(samples: Sequence[Sample]) -> set[str | None]:
    largest = max((len(sample.units) for sample in samples), default=0)
    return {sample.category for sample in samples if len(sample.units) == largest}


def _with_known_units(samples: Iterable[Sample], arm: Iterable[Sample]) -> tuple[Sample, ...]:
    """Return the samples of which the arm shows every unit."""
    known = set(chain.from_iterable(sample.units for sample in arm))
    return tuple(sample for sample in samples if known.issuperset(sample.units))


def _choose_visible(
    pool: Sequence[Sample], tests: Sequence[Sample], settings: Settings
) -> list[int]:
    numbers = Numbers([sample.units for sample in pool])
    if settings.method == "exchange":
        return _Exchange(numbers, tests, settings).run()
    return _try_in_turn(numbers, settings)


def _try_in_turn(pool: Numbers, settings: Settings) -> list[int]:
    """Try each sample above N once, in place of those whose units have become too common.

    How ties are broken decides what the published sets are: both lists stay in the order of the
    round before, and what is left of the shorter samples ends Visible in that order [code].
    """
    short = np.flatnonzero(pool.sizes <= settings.threshold)
    long = np.flatnonzero(pool.sizes > settings.threshold)
    if settings.method == "longest":
        long = sort(long, pool.sizes)
    before = after = pool.counts(short)
    added: list[int] = []
    while long.size:
        if settings.method == "scarcest":
            long = sort(long, pool.sums(before - after))
        candidate, long = int(long[-1]), long[:-1]
        trial = after + pool.counts([candidate])
        short = sort(short, pool.sums(trial - before))
        places = _fill(pool.sizes[short], int(pool.sizes[candidate]))
        if places:
            trial -= pool.counts(short[places])
            if divergence(before, trial) <= settings.limit:
                after = trial
                added.append(candidate)
                short = np.delete(short, places)
    return [*added, *short.tolist()]


def _fill(sizes: Ints, room: int) -> list[int]:
    """Return places that fill the room, each the last that fits; none where it cannot be filled."""
    places: list[int] = []
    end = len(sizes)
    while room:
        fitting = np.flatnonzero(sizes[:end] <= room)
        if not fitting.size:
            return []
        end = int(fitting[-1])
        places.append(end)
        room -= int(sizes[end])
    return places


_SCALE = 2**40  # parts of one in which affinities are counted


class _Exchange:
    """A steepest ascent to a Visible with as many units as possible in samples of more than N.

    A unit that occurs p times in Invisible and q times in Visible has the affinity √(pq), and where
    totals are equal, the divergence falls as the sum of affinities rises. What a sample adds to
    that sum, or takes from it, is again a sum over its units, so all samples are judged at once.
    The next to enter are of the size that Visible holds fewest of, beside the test set, in exchange
    for shorter ones of one size; of such exchanges the one that costs least affinity is made. Where
    none keeps within the limit, the best swap of two samples of one size makes room. Affinities are
    whole numbers, so that every machine builds the same; divergences are exact.
    """

    def __init__(self, pool: Numbers, tests: Sequence[Sample], settings: Settings) -> None:
        self._pool = pool
        self._settings = settings
        self._needed = np.unique([pool.of_unit[unit] for test in tests for unit in test.units])
        self._visible = pool.sizes <= settings.threshold
        self._before = self._after = pool.counts(np.flatnonzero(self._visible))
        self._divergence = 0.0
        by_size = {int(size): np.flatnonzero(pool.sizes == size) for size in np.unique(pool.sizes)}
        self._short = {size: some for size, some in by_size.items() if size <= settings.threshold}
        self._long = {size: some for size, some in by_size.items() if size > settings.threshold}
        self._tests_of_size = Counter(len(sample.units) for sample in tests)

    def run(self) -> list[int]:
        """Return the samples of Visible, in the order of the pool."""
        while any(self._make(*move) for move in self._moves()):
            pass
        return [int(sample) for sample in np.flatnonzero(self._visible)]

    def _make(self, enter: Ints, leave: Ints, limit: float) -> bool:
        """Make the move, unless it parts the arms too far."""
        after = self._after + self._pool.counts(enter) - self._pool.counts(leave)
        apart = divergence(self._before, after)
        if apart > limit:
            return False
        self._after, self._divergence = after, apart
        self._visible[enter] = True
        self._visible[leave] = False
        return True

    def _moves(self) -> Iterator[tuple[Ints, Ints, float]]:
        """Yield what could enter, for what, and how far the arms may then be apart.

        All exchanges come first, from the best on, then the best swap, which must bring the arms
        nearer. So no state comes back, and the ascent ends.
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
            """Leave out whatever would take the last occurrence of a needed unit."""
            left, chosen = self._after.copy(), []
            for sample in _largest(-losses, samples[may_leave[samples]], 2 * most):
                rest = left - self._pool.counts([sample])
                if rest[self._needed].all():
                    left = rest
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
                exchanges.append((self._share(long), cost, sides))
        exchanges.sort(key=itemgetter(0, 1))
        for _, _, sides in exchanges:
            yield *sides, self._settings.limit

        swaps = [
            (int(gains[enter[0]] - losses[leave[0]]), (enter, leave))
            for some in chain(self._short.values(), self._long.values())
            if (enter := entering(some, 1)).size and (leave := leaving(some, 1)).size
        ]
        if swaps:
            _, sides = max(swaps, key=itemgetter(0))
            yield *sides, math.nextafter(self._divergence, -math.inf)

    def _affinity(self, counts: Ints) -> Ints:
        affinity: Ints = (np.sqrt(self._before * counts) * _SCALE).astype(np.int64)
        return affinity

    def _share(self, size: int) -> float:
        """Return how many samples of the size Visible holds for each one in the test set."""
        tests = self._tests_of_size[size]
        return np.count_nonzero(self._visible[self._long[size]]) / tests if tests else math.inf


def _largest(values: Ints, samples: Ints, most: int) -> Ints:
    """Return up to ``most`` samples of largest values, of equal ones the first."""
    if len(samples) > most:
        least = np.partition(values[samples], -most)[-most]
        samples = samples[values[samples] >= least]
    return samples[np.argsort(-values[samples], kind="stable")][:most]
