"""Larger strict sets for systematicity, by searching the whole corpus (section 3.1).

The search decides which pairs of units may be tested; all else follows. ``annealing`` is the
search, and ``sets`` keeps its counts. Why it is so: docs/decisions/search.md.
"""

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from math import ceil
from typing import NamedTuple, TypeAlias

from spor_tasks.aspects.arms import strict_sets
from spor_tasks.aspects.numbers import require_few_pairs
from spor_tasks.aspects.search.annealing import (
    choose_combination,
    choose_test_set,
    gaps,
)
from spor_tasks.aspects.search.sets import SearchPool, SearchSets
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import Sample, Sets

ASPECT = "systematicity"
"""The aspect whose sets are searched."""

Progress: TypeAlias = Callable[[int, int, str], None]
"""Called now and then with the steps done so far, the steps in all, and the best sets so far.

The steps are moves or, if the search ends by time, seconds. The best is a phrase, at first empty.
"""

ROUNDS = 4
"""The number of rounds of a search without a time limit."""

_UNLIMITED = 30
"""More rounds than any time limit allows."""

_MOVES, _COMBINATION_MOVES = 3.125, 3.3
"""The moves of the first round for each sample of the pool: of the search for a test set, and of
the one that completes Combination. Every further round makes four times and twice as many."""

_SAMPLES = 300
"""A smaller pool gets as many moves as one with this number of samples."""

_ATOM_FLOOR, _PAIR_FLOOR = 0.4, 0.4
"""Lower bounds that the search aims at, and that a small pool may miss: the samples of Atom and the
occurrences of test pairs in Combination, both as a share of the samples of the pool. Atom's is its
share in the published E2E sets (3,351 of 8,370 samples). The other is above what the published
WebNLG sets reach: 2,359 test pairs in Combination for 15,351 samples (0.15)."""

_MARGIN = 1.003
"""A search aims this much above the floors, because it settles close to its aims, on either side.
With 1, short searches on both corpora ended just below a floor."""


class Searched(NamedTuple):
    """The best sets of the complete rounds, and whether an interrupt ended the search.

    ``rank`` says whether they reach the floors, and has the number of units in their test set.
    """

    pair: Sets
    rank: tuple[bool, int]
    rounds: int
    interrupted: bool = False

    def __str__(self) -> str:
        samples = len(self.pair.test)
        return f"best so far {samples:,} test samples / {self.rank[1]:,} test units"


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
    the best of the rounds completed by then, but not before it has found sets. The same holds for
    a ``KeyboardInterrupt``, which is passed on as long as there are no sets.

    Raises:
        SplitError: no sample of the pool can be a test sample, the arms would not differ, or there
            are too many pairs of units.
    """
    pool = tuple(samples)
    require_few_pairs(pool)
    size = max(_SAMPLES, len(pool))
    plan = [
        (ceil(_MOVES * size * 4**k), ceil(_COMBINATION_MOVES * size * 2**k))
        for k in range(rounds or (_UNLIMITED if seconds else ROUNDS))
    ]
    started, moves, all_moves = time.monotonic(), 0, sum(map(sum, plan))
    best: Searched | None = None
    try:
        for new_moves, best in _rounds(pool, plan, seed):
            moves += new_moves
            passed = time.monotonic() - started
            if progress:
                done, whole = (min(passed, seconds), seconds) if seconds else (moves, all_moves)
                progress(int(done), int(whole), str(best or ""))
            if best and seconds and passed >= seconds:
                break
    except KeyboardInterrupt:
        if not best:
            raise
        best = best._replace(interrupted=True)
    if not best:
        raise SplitError(
            "the search found no test sample whose units Atom shows apart and Combination together",
            remedy="Search longer, or give more samples that share one unit, or two and more.",
        )
    return best


def _rounds(
    samples: Sequence[Sample], plan: Iterable[tuple[int, int]], seed: int
) -> Iterator[tuple[int, Searched | None]]:
    """Yield, many times in each round, the moves made since the last time and the best sets."""
    pool, best = SearchPool(samples), None
    floors = _ATOM_FLOOR * pool.samples, _PAIR_FLOOR * pool.samples
    aims = floors[0] * _MARGIN, floors[1] * _MARGIN
    for number, (moves, combination_moves) in enumerate(plan if pool.with_pair else ()):
        sets, rng = SearchSets(pool), random.Random(f"{seed}:{number}")
        test_set = choose_test_set(sets, aims, moves, rng)
        combination = choose_combination(sets, combination_moves, rng)
        for steps in chain(test_set, combination):
            yield steps, best
        rank = max(gaps(sets, floors)) <= 0, sets.test_units
        is_complete = max(gaps(sets, (0, 0))) <= 0 and not sets.uncovered_in_combination
        # Without pairs in Combination the arms are equal.
        if is_complete and sets.pairs and (best is None or rank >= best.rank):
            best = Searched(_pair(samples, sets), rank, number + 1)
        best = best and best._replace(rounds=number + 1)
        yield 0, best


def _pair(samples: Sequence[Sample], sets: SearchSets) -> Sets:
    """Return the sets as samples, in the order of the pool."""

    def chosen(copies: Iterable[int]) -> list[Sample]:
        members = zip(sets.pool.members, copies, strict=True)
        return [samples[i] for i in sorted(i for indices, n in members for i in indices[:n])]

    copies = list(enumerate(sets.pool.copies))
    return strict_sets(
        ASPECT,
        chosen(n if sets.in_atom(item) else 0 for item, n in copies),
        chosen(n if sets.atoms[item] else 0 for item, n in enumerate(sets.chosen)),
        test=chosen(0 if sets.forbidden[item] else n for item, n in copies),
    )
