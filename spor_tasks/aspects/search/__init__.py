"""Larger strict sets for systematicity, by searching the whole corpus (section 3.1).

The paper's Algorithm 1 chooses test samples greedily and never takes a sample back out of Atom. The
paper's requirements allow much larger test sets. Decide which pairs of units may be tested; then
the test set is every sample all of whose pairs may be tested, and Atom is every other sample with a
unit of the test set and without a tested pair. Nothing else has to be decided.

The largest test set alone is not a useful goal: Atom shrinks to single units, and no sample is left
that Combination could show pairs with. So the search looks for the most test units with lower
bounds (floors) on the samples of Atom and on the test pairs in Combination. The paper's
requirements always hold: equal occurrences of atoms in both arms, in nearly the same distribution.

``annealing`` searches for allowed pairs and Combination together. A move allows or forbids one
pair, or all pairs of a sample at once, since samples share most of their pairs with others (a large
neighbourhood in the sense of Schrimpf et al., 2000); or it changes the copies of a sample in
Combination. ``sets`` keeps all counts up to date.

A search runs in rounds, each with four times the moves of the one before it, and keeps the best. So
something is found soon, and a search that is ended by time or by hand keeps the best of its
complete rounds. Moves are counted, not seconds, and every machine draws and rounds alike: the same
seed and number of rounds give the same sets everywhere.
"""

import random
import time
from collections.abc import Callable, Iterable
from math import ceil
from typing import NamedTuple, TypeAlias

from spor_tasks.aspects.arms import strict_sets
from spor_tasks.aspects.search.annealing import choose_combination, choose_test_set, gaps
from spor_tasks.aspects.search.sets import Pool, Sets
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import Sample, SplitPair

ASPECT = "systematicity"
"""The aspect whose sets are searched."""

Progress: TypeAlias = Callable[[int, int, str], None]
"""Called now and then with the steps done so far, the steps in all, and the best found so far.

The steps are moves or, if the search ends by time, seconds. The best is a phrase, at first empty.
"""

ROUNDS = 4
"""How many rounds a search has that no time ends."""

_UNLIMITED = 30
"""Rounds that no time is enough for."""

_MOVES, _COMBINATION_MOVES = 3.125, 3.3
"""The moves of the first round for each sample of the pool: of the search for a test set, and of
the one that completes Combination. Every further round makes four times and twice as many."""

_SAMPLES = 300
"""A smaller pool gets as many moves as one of so many samples."""

_ATOM_FLOOR, _PAIR_FLOOR = 0.4, 0.4
"""Lower bounds that the search aims at, and that a small pool may miss: the samples of Atom and the
occurrences of test pairs in Combination, both as a share of the samples of the pool. Atom's is its
share in the published E2E sets (3,351 of 8,370 samples). The other is above what the published
WebNLG sets reach: 2,359 test pairs in Combination for 15,351 samples (0.15)."""

_MARGIN = 1.003
"""A search aims this much above the floors, because it settles close to its aims, on either side.
With 1, short searches on both corpora ended just below a floor."""


class Searched(NamedTuple):
    """The best sets of the rounds that a search completed, and what ended it."""

    pair: SplitPair
    rounds: int
    interrupted: bool


class _OutOfTimeError(Exception):
    """The seconds of a search are over."""


def systematicity(
    samples: Iterable[Sample],
    seed: int,
    *,
    rounds: int | None = None,
    seconds: float | None = None,
    progress: Progress | None = None,
) -> Searched:
    """Search one pool of samples for the arms ``atom`` and ``combination`` and the test set.

    Each split keeps the order of the pool and has no sample without an atom. ``rounds`` is by
    default :data:`ROUNDS`, or as many as the time allows. After ``seconds`` the search ends with
    the best of the rounds completed by then, but not before something is found. So it does on a
    ``KeyboardInterrupt``, which is passed on while nothing is found.

    Raises:
        SplitError: no sample of the pool can be a test sample, or the arms would not differ.
    """
    search = _Search(samples, seconds, progress)
    interrupted = False
    try:
        search.run(seed, rounds or (ROUNDS if seconds is None else _UNLIMITED))
    except _OutOfTimeError:
        pass
    except KeyboardInterrupt:
        if not search.best:
            raise
        interrupted = True
    if not search.best:
        raise SplitError(
            "the search found no test sample whose units Atom shows apart and Combination together",
            remedy="Search longer, or give more samples that share one unit, or two and more.",
        )
    return Searched(search.best, search.completed, interrupted)


class _Search:
    """The rounds of a search, and the best that they have found."""

    def __init__(
        self, samples: Iterable[Sample], seconds: float | None, progress: Progress | None
    ) -> None:
        self.best: SplitPair | None = None
        self.completed = 0
        self._rank = (False, 0)  # of the best: whether it is above the floors, and its test units
        self._samples = tuple(samples)
        self._pool = Pool(self._samples)
        self._seconds, self._progress = seconds, progress
        self._started, self._steps, self._total = time.monotonic(), 0, 0

    def run(self, seed: int, rounds: int) -> None:
        """Make so many rounds, or none if there is no pair of units."""
        number = max(_SAMPLES, len(self._samples))
        plan = [
            (ceil(_MOVES * number * 4**k), ceil(_COMBINATION_MOVES * number * 2**k))
            for k in range(rounds if self._pool.with_pair else 0)
        ]
        self._total = sum(map(sum, plan))
        for moves in plan:
            self._round(*moves, random.Random(f"{seed}:{self.completed}"))
            self.completed += 1
            self._count(0)

    def _count(self, moves: int) -> None:
        """Count moves, and tell how far the search is."""
        self._steps += moves
        done, whole, passed = self._steps, self._total, time.monotonic() - self._started
        if self._seconds is not None:
            done, whole = int(min(passed, self._seconds)), ceil(self._seconds)
        if self._progress:
            self._progress(done, whole, self._words())
        if self._seconds is not None and self.best and passed >= self._seconds:
            raise _OutOfTimeError

    def _words(self) -> str:
        if not self.best:
            return ""
        samples, (above_floors, units) = len(self.best.test.samples), self._rank
        short = "" if above_floors else ", below a floor"
        return f"best so far {samples:,} test samples / {units:,} test units{short}"

    def _round(self, moves: int, combination_moves: int, rng: random.Random) -> None:
        """Search once, and keep what is found if it is the best."""
        pool, sets = self._pool, Sets(self._pool)
        floors = _ATOM_FLOOR * pool.samples, _PAIR_FLOOR * pool.samples
        aims = floors[0] * _MARGIN, floors[1] * _MARGIN
        choose_test_set(sets, aims, moves, rng, self._count)
        sound = choose_combination(sets, aims, combination_moves, rng, self._count)
        rank = max(gaps(sets, floors)) <= 0, sets.test_units
        if not (sound and sets.pairs and rank >= self._rank):  # without pairs the arms are equal
            return
        self._rank = rank
        self.best = strict_sets(
            ASPECT,
            self._chosen([n if sets.in_atom(item) else 0 for item, n in enumerate(pool.copies)]),
            self._chosen([n if sets.atoms[item] else 0 for item, n in enumerate(sets.chosen)]),
            test=self._chosen(
                [0 if sets.forbidden[item] else n for item, n in enumerate(pool.copies)]
            ),
        )

    def _chosen(self, copies: Iterable[int]) -> list[Sample]:
        """Return the samples of a set that has so many copies of each item."""
        held = zip(self._pool.members, copies, strict=True)
        return [self._samples[i] for i in sorted(i for members, n in held for i in members[:n])]
