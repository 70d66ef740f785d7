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
alike: the same seed gives the same sets on any machine and any number of cores.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias, get_args

from spor_tasks.aspects import check
from spor_tasks.aspects.arms import strict_sets
from spor_tasks.aspects.divergence import LIMIT
from spor_tasks.aspects.search import chains
from spor_tasks.aspects.search.annealing import Aims, choose_combination, choose_test_set, gaps
from spor_tasks.aspects.search.construction import best_test_set
from spor_tasks.aspects.search.sets import Pool, Sets
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.sample import Sample, SplitPair

ASPECT = "systematicity"
"""The aspect whose sets are searched."""

Method: TypeAlias = Literal["anneal", "algorithm_1"]
"""How the test set is found: by annealing, or as the best of many runs of Algorithm 1."""

Progress: TypeAlias = Callable[[int, int], None]
"""Called now and then with the steps done so far and the steps in all."""


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
    above_floors: bool


def systematicity(
    samples: Iterable[Sample],
    settings: Settings,
    seed: int,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> SplitPair:
    """Search one pool of samples for the arms ``atom`` and ``combination`` and the test set.

    ``jobs`` processes run at a time, by default one per core; their number does not change the
    result. With more than one, a script must guard its own work by ``if __name__ == "__main__"``.
    Each split keeps the order of the pool and has no sample without an atom.

    Raises:
        SplitError: no sample of the pool can be a test sample.
    """
    samples = tuple(samples)
    pool = Pool(samples)
    total = settings.chains * (settings.moves + settings.combination_moves)
    done = 0

    def count(steps: int) -> None:
        nonlocal done
        done += steps
        if progress:
            progress(done, total)

    if not pool.with_pair:
        raise _nothing_to_test()
    found = max(
        chains.run(partial(_search, pool, settings, seed), settings.chains, jobs, count),
        key=lambda result: (result.above_floors, result.test_units),
    )
    if not found.test_units:
        raise _nothing_to_test()

    def taken(copies: Sequence[int]) -> list[Sample]:
        held = zip(pool.members, copies, strict=True)
        indices = sorted(index for members, number in held for index in members[:number])
        return [samples[index] for index in indices]

    pair = strict_sets(
        ASPECT,
        taken(found.atom),
        taken(found.combination),
        test=taken(found.test),
        part=None if settings.method == "anneal" else settings.method,
    )
    violations = check.systematicity(pair, limit=settings.limit).violations
    if violations:  # search and check count independently, so one of them has a bug
        raise SplitError(
            f"the sets found fail their check: {'; '.join(each.words for each in violations)}",
            remedy="This is a bug in spor-tasks. Please report it with the corpus and the seed.",
        )
    return pair


def _nothing_to_test() -> SplitError:
    return SplitError(
        "no sample can be tested: the units of a sample never occur separately",
        remedy="Give more samples that share exactly one unit.",
    )


_MARGIN = 1.003
"""A chain aims this much above the floors, because it settles close to its aims, on either side.
With 1, short chains on both corpora ended just below a floor."""

_LAST_RESORT = 100
"""Runs of Algorithm 1 if annealing ends without a test sample, as it does on tiny pools."""


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
    if not choose_combination(sets, aims, settings.combination_moves, rng, count):
        sets.show_atom()
    items = range(len(pool.units))
    return _Found(
        atom=[pool.copies[item] if sets.in_atom(item) else 0 for item in items],
        combination=[sets.chosen[item] if sets.atoms[item] else 0 for item in items],
        test=[0 if sets.forbidden[item] else pool.copies[item] for item in items],
        test_units=sets.test_units,
        above_floors=max(gaps(sets, floors)) <= 0,
    )


def _tested(pool: Pool, items: Sequence[int]) -> Sets:
    """Return sets that test these items, with Combination equal to Atom."""
    sets = Sets(pool)
    sets.switch(sorted({pair for item in items for pair in pool.pairs[item]}))
    sets.show_atom()
    return sets
