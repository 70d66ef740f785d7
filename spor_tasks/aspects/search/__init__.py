"""Larger strict sets for systematicity, by searching the whole corpus (section 3.1).

The paper's Algorithm 1 takes test samples greedily, and never takes back what it moved to Atom. Its
requirements leave far more room. Say which pairs of units may be tested: then every sample all of
whose pairs may be is a test sample, and every other one with a unit of theirs and no tested pair
belongs to Atom; nothing else has to be decided. The largest test set alone is no goal, for Atom
shrinks to single units and nothing is left to show pairs in Combination. So the most test units
are looked for under floors: on Atom, on the test pairs in Combination, and on the test samples of
which Combination shows a pair, beside what the paper asks for, equal occurrences of atoms in nearly
the same distribution.

``annealing`` searches for pairs and Combination together. A move allows or forbids one pair, or
all pairs of one sample at a time, as samples share most of their pairs with others (a large
neighbourhood in the sense of Schrimpf et al., 2000), or puts a sample into Combination or out of
it. ``sets`` keeps all counts up to date, ``construction`` is the paper's own Algorithm 1, and
``chains`` runs independent searches on all cores, of which the best is kept.

A search is counted in moves, never in seconds, and draws and rounds alike everywhere: the same
seed gives the same sets on any machine and any number of cores.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias, get_args

from spor_tasks.aspects import check
from spor_tasks.aspects.divergence import LIMIT
from spor_tasks.aspects.search import chains
from spor_tasks.aspects.search.annealing import Aims, choose_combination, choose_test_set, gaps
from spor_tasks.aspects.search.construction import best_test_set
from spor_tasks.aspects.search.sets import Pool, Sets
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.sample import Sample, Split, SplitPair

Method: TypeAlias = Literal["anneal", "algorithm_1"]
"""How the test set is found: by annealing, or by the best of many runs of the paper's rule."""

Progress: TypeAlias = Callable[[int, int], None]
"""Is told, now and then, how many steps are done and of how many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a search depends on, beside the samples and the seed.

    ``chains`` independent searches are made, each of ``moves`` moves (with ``algorithm_1``: so many
    constructions), and the best is kept. ``combination_moves`` then perfect its Combination. The
    floors are on samples of Atom and on occurrences of test pairs in Combination, both per sample
    of the pool, and on the share of test samples of which Combination shows a pair. They are what
    annealing aims at, and a small pool may miss them; what the paper requires always holds.
    ``limit`` is the largest divergence accepted between the arms.

    Raises:
        ConfigError: a number is out of its range, or the method unknown.
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
                f"{self.method!r} is none of {', '.join(get_args(Method))}", where="method"
            )
        for name in ("chains", "moves", "combination_moves"):
            if getattr(self, name) < 1:
                raise ConfigError("at least one is needed", where=name)
        if not self.pair_floor >= 0:
            raise ConfigError("a number of pairs is at least 0", where="pair_floor")
        for name in ("atom_floor", "shown_floor", "limit"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError("a share lies between 0 and 1", where=name)


@dataclass(frozen=True, slots=True)
class _Found:
    """What a chain found: for every item how many of its copies are in each set."""

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

    ``jobs`` processes at a time, by default one for every core, change nothing but the time; more
    than one ask of a script that its own work stands under ``if __name__ == "__main__"``. Each
    split keeps the order of the pool, and holds no sample without an atom.

    Raises:
        SplitError: no sample of the pool can be a test sample.
    """
    samples = tuple(samples)
    pool = Pool(samples)
    total = settings.chains * (settings.moves + settings.combination_moves)
    done = 0

    def report(steps: int) -> None:
        nonlocal done
        done += steps
        if progress:
            progress(done, total)

    if not pool.with_pair:
        raise _nothing_to_test()
    found = max(
        chains.run(partial(_search, pool, settings, seed), settings.chains, jobs, report),
        key=lambda result: (result.above_floors, result.test_units),
    )
    if not found.test_units:
        raise _nothing_to_test()

    def split(name: str, copies: Sequence[int]) -> Split:
        held = zip(pool.members, copies, strict=True)
        indices = sorted(index for members, number in held for index in members[:number])
        return Split(name, tuple(samples[index] for index in indices))

    pair = SplitPair(
        aspect="systematicity",
        corpus=samples[0].corpus,
        protocol="strict",
        arms=(split("atom", found.atom), split("combination", found.combination)),
        test=split("test", found.test),
        part=None if settings.method == "anneal" else settings.method,
    )
    violations = check.systematicity(pair, limit=settings.limit).violations
    if violations:  # the search and the check count apart from each other: one of them is wrong
        raise SplitError(f"failed its check: {'; '.join(each.words for each in violations)}")
    return pair


def _nothing_to_test() -> SplitError:
    return SplitError(
        "no sample can be tested: its units never occur apart from each other",
        remedy="Give more samples that share single units.",
    )


_MARGIN = 1.003  # by which a chain aims above the floors, for it settles close to its aims
_LAST_RESORT = 100  # constructions by the paper's rule where annealing tests nothing


def _search(pool: Pool, settings: Settings, seed: int, chain: int, report: chains.Report) -> _Found:
    """Make one search of its own; ``report`` is told the steps made."""
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
        choose_test_set(sets, aims, settings.moves, rng, report)
        if not sets.test_samples:
            sets = _tested(pool, best_test_set(pool, _LAST_RESORT, rng, lambda _: None))
    else:
        sets = _tested(pool, best_test_set(pool, settings.moves, rng, report))
    if not choose_combination(sets, aims, settings.combination_moves, rng, report):
        sets.show_atom()
    items = range(len(pool.units))
    return _Found(
        atom=[pool.copies[item] if sets.in_atom(item) else 0 for item in items],
        combination=[sets.chosen[item] if sets.atoms[item] else 0 for item in items],
        test=[0 if sets.missing[item] else pool.copies[item] for item in items],
        test_units=sets.test_units,
        above_floors=max(gaps(sets, floors)) <= 0,
    )


def _tested(pool: Pool, items: Sequence[int]) -> Sets:
    """Return sets that test these items, with Combination as Atom."""
    sets = Sets(pool)
    sets.switch(sorted({pair for item in items for pair in pool.pairs[item]}))
    sets.show_atom()
    return sets
