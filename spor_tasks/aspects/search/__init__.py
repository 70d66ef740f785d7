"""Larger strict sets for systematicity, by searching the whole corpus (section 3.1).

The paper's Algorithm 1 chooses test samples greedily and never takes a sample back out of Atom. The
paper's requirements allow much larger test sets. Decide which pairs of units may be tested; then
the test set is every sample all of whose pairs may be tested, and Atom is every other sample with a
unit of the test set and without a tested pair. Nothing else has to be decided.

The largest test set alone is not a useful goal: Atom shrinks to single units, and no sample is left
that Combination could show pairs with. So the search looks for the most test units with lower
bounds (floors) on the samples of Atom, on the test pairs in Combination, and on the test samples of
which Combination shows a pair. The paper's requirements always hold: equal occurrences of atoms in
both arms, in nearly the same distribution.

``annealing`` searches for allowed pairs and Combination together. A move allows or forbids one
pair, or all pairs of a sample at once, since samples share most of their pairs with others (a large
neighbourhood in the sense of Schrimpf et al., 2000); or it changes the copies of a sample in
Combination. ``sets`` keeps all counts up to date, ``construction`` is the paper's Algorithm 1, and
``chains`` runs independent searches on all cores, of which the best is kept.

The effort of a search is a number of moves, not of seconds, and every machine draws and rounds
alike: the same seed gives the same sets on any machine and any number of cores. ``in_rounds``
searches several times, each time longer, so that something is found soon, and a search that is
ended by time or by hand keeps the best of the rounds that it completed. Their number is all that
one needs to find the same again.
"""

import random
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, sqrt
from typing import Literal, NamedTuple, TypeAlias, get_args

from spor_tasks.aspects import check
from spor_tasks.aspects.arms import strict_sets
from spor_tasks.aspects.divergence import LIMIT
from spor_tasks.aspects.search import chains
from spor_tasks.aspects.search.annealing import (
    Aims,
    choose_combination,
    choose_test_set,
    gaps,
    items_per_move,
)
from spor_tasks.aspects.search.construction import best_test_set
from spor_tasks.aspects.search.sets import SCALE, Pool, Sets
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.sample import Sample, SplitPair

ASPECT = "systematicity"
"""The aspect whose sets are searched."""

Method: TypeAlias = Literal["anneal", "algorithm_1"]
"""How the test set is found: by annealing, or as the best of many runs of Algorithm 1."""

Progress: TypeAlias = Callable[[int, int, str], None]
"""Called now and then with the steps done so far, the steps in all, and the best found so far.

The steps are moves or, if the search ends by time, seconds. The best is a phrase, at first empty.
"""

ROUNDS = 4
"""The round that makes the moves of the settings; a round makes four times those of the one before
it, and twice the moves that complete Combination."""

MOST_ROUNDS = 12
"""No search makes more: the last makes 65,536 times the moves of the settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a search depends on, besides the samples and the seed.

    The best of ``chains`` independent searches is kept. Each makes ``moves`` moves (with the method
    ``algorithm_1``, so many constructions), then ``combination_moves`` moves that complete its
    Combination. ``atom_floor`` bounds the samples of Atom from below and ``pair_floor`` the
    occurrences of test pairs in Combination, both as a share of the samples of the pool;
    ``shown_floor`` bounds the share of test samples of which Combination shows a pair. Annealing
    aims at these floors, but a small pool may miss them; the paper's requirements always hold.
    ``limit`` is the largest divergence allowed between the arms.

    The defaults are the recipe of the shipped WebNLG sets: 47 s on two cores. Atom's floor is its
    share in the published E2E sets (3,351 of 8,370 samples). The other two are above what the
    published WebNLG sets reach: 2,359 test pairs in Combination for 15,351 samples (0.15), and a
    pair shown of 70 % of the test samples.

    Raises:
        ConfigError: a number is out of range, or the method is unknown.
    """

    method: Method = "anneal"
    chains: int = 2
    moves: int = 3_000_000
    combination_moves: int = 400_000
    atom_floor: float = 0.4
    pair_floor: float = 0.4
    shown_floor: float = 0.9
    limit: float = LIMIT

    def __post_init__(self) -> None:
        if self.method not in get_args(Method):
            raise ConfigError(
                f"there is no method {self.method!r}",
                where="method",
                remedy=f"Use {' or '.join(get_args(Method))}.",
            )
        for name in ("chains", "moves", "combination_moves"):
            if getattr(self, name) < 1:
                raise ConfigError("must be at least 1", where=name)
        if not self.pair_floor >= 0:
            raise ConfigError("must be at least 0", where="pair_floor")
        for name in ("atom_floor", "shown_floor", "limit"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError("must be between 0 and 1", where=name)


@dataclass(frozen=True, slots=True)
class _Found:
    """What a chain found: for every item, the number of its copies in each set."""

    atom: Sequence[int]
    combination: Sequence[int]
    test: Sequence[int]
    test_units: int
    pairs: int  # occurrences of test pairs in Combination
    above_floors: bool
    lacks: str  # why Combination shows none, in words

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """What makes it better than others; without a pair the arms would not differ."""
        return self.above_floors, self.pairs > 0, self.test_units


class Searched(NamedTuple):
    """The best sets of the rounds that a search completed, and what ended it."""

    pair: SplitPair
    rounds: int
    interrupted: bool = False


class _OutOfTimeError(Exception):
    """The seconds of a search are over."""


def systematicity(
    samples: Iterable[Sample],
    settings: Settings,
    seed: int,
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
    asked: Iterable[Sample] | None = None,
) -> SplitPair:
    """Search one pool of samples for the arms ``atom`` and ``combination`` and the test set.

    The test samples are from ``asked``, if it is given, and the pool then is for the arms only.
    ``jobs`` processes run at a time, by default one per core; their number does not change the
    result. With more than one, a script must guard its own work by ``if __name__ == "__main__"``.
    Each split keeps the order of the pool and has no sample without an atom.

    Raises:
        SplitError: no sample of the pool can be a test sample.
    """
    given = _given(samples, asked)
    pool = Pool(*given)
    found = _run(pool, [settings], seed, jobs, _Watch([settings], None, progress))
    return _sets_of(found, given, pool, settings)


class _Given(NamedTuple):
    samples: tuple[Sample, ...]
    asked: tuple[Sample, ...] | None


def _given(samples: Iterable[Sample], asked: Iterable[Sample] | None) -> _Given:
    return _Given(tuple(samples), None if asked is None else tuple(asked))


def in_rounds(
    samples: Iterable[Sample],
    settings: Settings,
    seed: int,
    *,
    rounds: int = ROUNDS,
    seconds: float | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    asked: Iterable[Sample] | None = None,
) -> Searched:
    """Search as :func:`systematicity` does, in rounds that grow to the moves of the settings.

    Of all chains of all completed rounds the best is kept; of equal ones, that of the later round.
    After ``seconds`` the search ends with the rounds completed by then, but not before the first.
    So it does on a ``KeyboardInterrupt``, which before the first round's end is passed on.

    Raises:
        ConfigError: ``rounds`` or ``seconds`` is out of range.
        SplitError: no sample of the pool can be a test sample.
    """
    if not 1 <= rounds <= MOST_ROUNDS:
        raise ConfigError(f"must be between 1 and {MOST_ROUNDS}", where="rounds")
    if seconds is not None and not seconds > 0:
        raise ConfigError("must be more than 0", where="seconds")
    plan = [_round(settings, number) for number in range(1, rounds + 1)]
    watch = _Watch(plan, seconds, progress)
    given = _given(samples, asked)
    pool = Pool(*given)
    found = _run(pool, plan, seed, jobs, watch)
    if not found.pairs:
        raise SplitError(
            f"Combination would not differ from Atom: {found.lacks}",
            where=given.samples[0].corpus,
            remedy="Search longer, or give more samples that share two or more units.",
        )
    return Searched(_sets_of(found, given, pool, settings), watch.rounds, watch.interrupted)


_SAMPLES = 15_000
"""About those of WebNLG, which the defaults of :class:`Settings` are made for."""

_WORK = 26_000_000
"""Items that the moves of one chain look at, at most; moves that look at more are fewer. With so
many, 13,000 samples of which 16 have each pair take about 70 s of each of two cores."""


def effort(samples: Iterable[Sample], asked: Iterable[Sample] | None = None) -> Settings:
    """Return the settings for a corpus of one's own.

    There are as many moves per sample as on WebNLG, but fewer where pairs are in so many samples
    that a move takes long. All this is counted, so every machine makes the same moves.
    """
    full = Settings()
    given = _given(samples, asked)
    pool = Pool(*given)
    share = min(1.0, (len(given.samples) + len(given.asked or ())) / _SAMPLES)
    work = share * full.moves * items_per_move(pool)
    return replace(
        full,
        moves=ceil(share * full.moves * min(1.0, _WORK / max(1.0, work))),
        combination_moves=ceil(share * full.combination_moves),
    )


def _round(settings: Settings, number: int) -> Settings:
    """Return the settings of a round, of which the first is number 1."""
    return replace(
        settings,
        moves=ceil(settings.moves * 4.0 ** (number - ROUNDS)),
        combination_moves=ceil(settings.combination_moves * 2.0 ** (number - ROUNDS)),
    )


class _Watch:
    """What the rounds of a search have found so far, and whether its time is over."""

    def __init__(
        self, plan: Sequence[Settings], seconds: float | None, progress: Progress | None
    ) -> None:
        self.rounds = 0  # that are complete
        self.interrupted = False
        self.best: _Found | None = None  # of these rounds
        self._chains = plan[0].chains
        self._found: dict[int, _Found] = {}
        self._total = self._chains * sum(each.moves + each.combination_moves for each in plan)
        self._done = 0
        self._seconds = seconds
        self._started = time.monotonic()
        self._progress = progress

    def add(self, index: int, found: _Found) -> None:
        """Take note of what a chain found; chains are numbered through all rounds."""
        self._found[index] = found
        while chains_of_next := self._next_round():
            self.rounds += 1
            best = max(chains_of_next, key=lambda each: each.rank)
            if self.best is None or best.rank >= self.best.rank:
                self.best = best
        self.count(0)

    def _next_round(self) -> list[_Found]:
        """Return what the chains of the next round found; nothing before all have ended."""
        indices = range(self.rounds * self._chains, (self.rounds + 1) * self._chains)
        return [self._found[i] for i in indices] if self._found.keys() >= set(indices) else []

    @property
    def words(self) -> str:
        """The size of the best; nothing while it has arms that do not differ."""
        if not (self.best and self.best.pairs):
            return ""
        samples = sum(self.best.test)
        short = "" if self.best.above_floors else ", below a floor"
        return f"best so far {samples:,} test samples / {self.best.test_units:,} test units{short}"

    def count(self, steps: int) -> None:
        """Count steps, and tell how far the search is."""
        self._done += steps
        passed = time.monotonic() - self._started
        if self._progress:
            if self._seconds is None:
                now, whole = self._done, self._total
            else:
                now, whole = int(min(passed, self._seconds)), ceil(self._seconds)
            self._progress(now, whole, self.words)
        if self._seconds is not None and self.best and passed >= self._seconds:
            raise _OutOfTimeError


def _run(
    pool: Pool, plan: Sequence[Settings], seed: int, jobs: int | None, watch: _Watch
) -> _Found:
    """Search by one settings after another, and return the best; ``watch`` sees all of it."""
    if not pool.with_pair:
        raise _nothing_to_test(pool)
    chain = partial(_chain, pool, plan, seed)
    try:
        with closing(chains.run(chain, len(plan) * plan[0].chains, jobs, watch.count)) as results:
            for index, found in results:
                watch.add(index, found)
    except (_OutOfTimeError, KeyboardInterrupt) as end:
        watch.interrupted = isinstance(end, KeyboardInterrupt)
        if watch.interrupted and not watch.words:
            raise
    if not (watch.best and watch.best.test_units):
        raise _nothing_to_test(pool)
    return watch.best


def _taken(
    samples: Sequence[Sample], members: Iterable[Sequence[int]], copies: Iterable[int]
) -> list[Sample]:
    held = zip(members, copies, strict=True)
    indices = sorted(index for indices, number in held for index in indices[:number])
    return [samples[index] for index in indices]


def _sets_of(found: _Found, given: _Given, pool: Pool, settings: Settings) -> SplitPair:
    """Return what was found as sets, which pass their check."""
    samples, asked = given
    pair = strict_sets(
        ASPECT,
        _taken(samples, pool.members, found.atom),
        _taken(samples, pool.members, found.combination),
        test=_taken(samples if asked is None else asked, pool.asked_members, found.test),
        part=None if settings.method == "anneal" else settings.method,
    )
    violations = check.systematicity(pair, limit=settings.limit).violations
    if violations:  # search and check count independently, so one of them has a bug
        raise SplitError(
            f"the sets found fail their check: {'; '.join(each.words for each in violations)}",
            remedy="This is a bug in spor-tasks. Please report it with the corpus and the seed.",
        )
    return pair


def _nothing_to_test(pool: Pool) -> SplitError:
    sizes = [asked if pairs else 0 for asked, pairs in zip(pool.asked, pool.pairs, strict=True)]
    apart = sum(size for item, size in enumerate(sizes) if size and _comes_apart(pool, item))
    return SplitError(
        "no sample can be tested: the units of a sample must also occur separately, as they do for "
        f"{apart:,} of the {sum(sizes):,} samples of two or more units",
        remedy="Give more samples that share exactly one unit.",
    )


def _comes_apart(pool: Pool, item: int) -> bool:
    """Return whether each unit of an item is in some item that has no other of its units."""
    units = set(pool.units[item])
    return all(
        any(
            len(units.intersection(pool.units[other])) == 1
            for other in pool.with_unit[unit]
            if pool.copies[other]
        )
        for unit in units
    )


_MARGIN = 1.003
"""A chain aims this much above the floors, because it settles close to its aims, on either side.
With 1, short chains on both corpora ended just below a floor."""

_LAST_RESORT = 100
"""Runs of Algorithm 1 if annealing ends without a test sample, as it does on tiny pools."""


def _chain(
    pool: Pool, plan: Sequence[Settings], seed: int, index: int, count: chains.CountSteps
) -> _Found:
    """Run one chain of one round; chains are numbered through all rounds."""
    number, chain = divmod(index, plan[0].chains)
    return _search(pool, plan[number], seed, chain, count)


def _search(
    pool: Pool, settings: Settings, seed: int, chain: int, count: chains.CountSteps
) -> _Found:
    """Run one chain."""
    rng = random.Random(f"{seed}:{chain}")
    floors = Aims(
        atom_samples=settings.atom_floor * pool.samples,
        pairs=settings.pair_floor * pool.samples,
        shown=settings.shown_floor,
        limit=settings.limit,
    )
    aims = Aims(
        atom_samples=floors.atom_samples * _MARGIN,
        pairs=floors.pairs * _MARGIN,
        shown=min(1.0, floors.shown * _MARGIN),
        limit=floors.limit,
    )
    sets = Sets(pool)
    if settings.method == "anneal":
        choose_test_set(sets, aims, settings.moves, rng, count)
        if not sets.test_samples:
            sets = _tested(pool, best_test_set(pool, _LAST_RESORT, rng, lambda _: None))
    else:
        sets = _tested(pool, best_test_set(pool, settings.moves, rng, count))
    sound = choose_combination(sets, aims, settings.combination_moves, rng, count)
    lacks = _lacks(sets, settings.limit, sound=sound)
    if not sound:
        sets.show_atom()
    items = range(len(pool.units))
    return _Found(
        atom=[pool.copies[item] if sets.in_atom(item) else 0 for item in items],
        combination=[sets.chosen[item] if sets.atoms[item] else 0 for item in items],
        test=[0 if sets.forbidden[item] else pool.asked[item] for item in items],
        test_units=sets.test_units,
        pairs=sets.pairs,
        lacks=lacks,
        above_floors=max(gaps(sets, floors)) <= 0,
    )


def _lacks(sets: Sets, limit: float, *, sound: bool) -> str:
    """Return what Combination lacks to show pairs, or to be what the paper requires."""
    if sound:
        shown = sum(
            copies
            for copies, blocked, forbidden in zip(
                sets.pool.copies, sets.blocked, sets.forbidden, strict=True
            )
            if blocked and forbidden
        )
        return (
            f"it can have none of the {shown:,} samples outside the test set that show two units "
            f"of one of the {sets.test_samples:,} test samples together"
        )
    counts = sets.atom_occurrences, sets.combination_occurrences
    affinity = sets.affinity / SCALE / max(1.0, sqrt(counts[0] * counts[1]))
    return (
        f"the best other one lacks {sets.uncovered_in_combination:,} atoms, and has all together "
        f"{counts[1]:,} times, not {counts[0]:,}, with a divergence of {1 - affinity:.3f}, "
        f"which may be {limit:g}"
    )


def _tested(pool: Pool, items: Sequence[int]) -> Sets:
    """Return sets that test these items, with Combination equal to Atom."""
    sets = Sets(pool)
    sets.switch(sorted({pair for item in items for pair in pool.pairs[item]}))
    sets.show_atom()
    return sets
