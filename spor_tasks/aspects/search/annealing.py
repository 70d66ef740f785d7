"""The search itself: annealing over allowed pairs and Combination, with prices that adapt.

Only operations that every machine rounds alike are used: no exponential function, no power, and no
``sum`` of floats, which Python rounds differently since 3.12. Sources: docs/decisions/search.md.

The constants were tuned by hand on WebNLG, where a pair of units is in 5 samples on average, and on
E2E, where it is in 86.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from typing import TypeAlias

from spor_tasks.aspects.numbers import LIMIT
from spor_tasks.aspects.search.sets import SCALE, SearchSets

_STAGES = 1000
"""Stages of an annealing: prices adapt and the threshold sinks after each."""

_PRICE_RATE = 0.1
"""How far a price moves, after a stage, towards the price that the present gap asks for."""

_TEST_HEAT, _COMBINATION_HEAT = 12.0, 2.0
"""The highest threshold at the start, in test units and in pairs; the first is multiplied by the
square root of the samples per pair, as a switch of a pair changes the more, the more have it."""

_LAST_SLOPE = 0.3
"""The threshold sinks as (heat · t + this) · t, t being the share of stages left: at the end like a
straight line of this slope, less than one unit or pair."""

_TEST_SHARE = 0.37
"""The share of moves that change the test set, in the search for it; the rest change Combination,
which must follow."""

_SAMPLE_SHARE = 1.25
"""Divided by the samples per pair: the share of moves that switch all pairs of a sample, at most
``_TEST_SHARE``. They cost more and are kept less often the more samples have each pair."""

_TEST_STIFFNESS = (75.0, 3_500.0, 70_000.0, 7_000.0, 7_000.0)
"""How steeply the price of each gap rises in the search for a test set, divided by the samples of
the pool. All but the first are also divided by the cube of the samples per pair: the more samples
have a pair, the easier Combination is to complete afterwards."""

_TEST_PRICES = (2.0, 0.0, 0.0, 0.0, 0.0)
"""The first prices, in test units. That of a sample that Atom lacks is near where it settles, so
that the search does not first empty Atom."""

_COMBINATION_TERMS = (0.5, 0.05, 0.05), (5.0, 0.0, 0.0)
"""Stiffness and first prices of the search for Combination alone, in pairs, for the gaps from the
affinity on: Atom is fixed then, and pairs are maximised."""

_UNCOVERED_COST = 10.0
"""The cost of an atom that Combination lacks, in test units or pairs."""

_MISSING_COST = 100.0
"""The cost of anything missing once Combination must be exact: more pairs than a move can bring."""


Aims: TypeAlias = tuple[float, float]
"""The least samples of Atom, and the least occurrences of test pairs in Combination."""


def gaps(sets: SearchSets, aims: Aims) -> tuple[float, ...]:
    """Return by how much the sets fall short; zero or less if they do not.

    The result has samples of Atom, test pairs in Combination, the affinity for the divergence
    limit, and a surplus and a deficit of atoms in Combination.
    """
    balance = sets.combination_occurrences - sets.atom_occurrences
    mean = (sets.combination_occurrences + sets.atom_occurrences) / 2
    return (
        aims[0] - sets.atom_samples,
        aims[1] - sets.pairs,
        (1 - LIMIT) * mean - sets.affinity / SCALE,
        balance,
        -balance,
    )


@dataclass
class Goal:
    """What is maximised: a value, less what gaps and atoms that Combination lacks cost.

    A gap costs max(0, price + stiffness · gap)² / (2 · stiffness).
    """

    sets: SearchSets
    value: Callable[[], int]
    gaps: Callable[[], Sequence[float]]
    stiffness: Sequence[float]
    prices: Sequence[float]

    def __call__(self) -> float:
        """Return the value less all costs."""
        total = self.value() - _UNCOVERED_COST * self.sets.uncovered_in_combination
        for price, stiffness in zip(self._targets(), self.stiffness, strict=True):
            total -= price * price / (2 * stiffness)
        return total

    def adapt(self) -> None:
        """Move every price towards the one that its gap asks for."""
        pairs = zip(self.prices, self._targets(), strict=True)
        self.prices = [price + _PRICE_RATE * (target - price) for price, target in pairs]

    def _targets(self) -> list[float]:
        terms = zip(self.prices, self.stiffness, self.gaps(), strict=True)
        return [max(0.0, price + stiffness * gap) for price, stiffness, gap in terms]


class Walk:
    """A walk through the sets: every step tries a move, and undoes it if the goal falls too far.

    A fall by at most ``threshold`` is accepted.
    """

    def __init__(self, sets: SearchSets, goal: Callable[[], float], rng: random.Random) -> None:
        self._sets, self._goal = sets, goal
        self.random = rng.random  # the only method whose numbers Python promises never to change
        self._items = range(len(sets.pool.units))
        self._combinations = [item for item in self._items if sets.pool.pairs[item]]
        self._value = goal()

    def anneal(
        self, move: Callable[[float], None], goal: Goal, moves: int, heat: float
    ) -> Iterator[int]:
        """Make moves with a random threshold that sinks to zero, and yield how many at a time.

        It is ``highest`` times two uniform random numbers, so most thresholds are far below it.
        """
        for stage in range(_STAGES):
            remaining = 1 - stage / _STAGES
            highest = (heat * remaining + _LAST_SLOPE) * remaining
            steps = moves * (stage + 1) // _STAGES - moves * stage // _STAGES
            for _ in range(steps):
                move(highest * self.random() * self.random())
            goal.adapt()
            self._value = goal()
            yield steps

    def switch_sample(self, threshold: float) -> None:
        """Try to put an item into the test set, or to take it out by the pairs that only it has."""
        item = self.draw(self._combinations)
        sets, pairs = self._sets, self._sets.pool.pairs[item]
        if sets.forbidden[item]:
            switched = [pair for pair in pairs if not sets.allowed[pair]]
        else:
            switched = [pair for pair in pairs if sets.tests[pair] == 1] or [self.draw(pairs)]
        self.switch(switched, threshold)

    def change_copies(self, threshold: float) -> None:
        """Try one more or one fewer copy of an item in Combination."""
        if change := self._draw_change():
            self._choose([change], threshold)

    def exchange(self, threshold: float) -> None:
        """Try to change two items in Combination at once, keeping the number of atoms."""
        first, second = self._draw_change(), self._draw_change()
        if first and second and first[0] != second[0]:
            atoms, chosen = self._sets.atoms, self._sets.chosen
            balance = sum(atoms[item] * (copies - chosen[item]) for item, copies in (first, second))
            if not balance:
                self._choose([first, second], threshold)

    def switch(self, pairs: list[int], threshold: float) -> None:
        """Try to allow those of the pairs that are forbidden, and forbid the others."""
        self._sets.switch(pairs)
        if not self._accepts(threshold):
            self._sets.switch_back(pairs)
            self._sets.settle()

    def _choose(self, changes: Sequence[tuple[int, int]], threshold: float) -> None:
        before = [(item, self._sets.chosen[item]) for item, _ in changes]
        for item, copies in changes:
            self._sets.choose(item, copies)
        if not self._accepts(threshold):
            for item, copies in before:
                self._sets.choose(item, copies)
            self._sets.settle()

    def _accepts(self, threshold: float) -> bool:
        self._sets.settle()
        value = self._goal()
        if self._sets.uncovered_in_atom or value < self._value - threshold:
            return False
        self._value = value
        return True

    def draw(self, population: Sequence[int]) -> int:
        """Return one of the population at random."""
        return population[int(self.random() * len(population))]

    def _draw_change(self) -> tuple[int, int] | None:
        """Draw an item and its new number of copies in Combination, one more or one fewer."""
        sets, item = self._sets, self.draw(self._items)
        if not sets.atoms[item] or not sets.forbidden[item]:
            return None
        chosen, copies = sets.chosen[item], sets.pool.copies[item]
        more = not chosen or (chosen < copies and self.random() < 0.5)
        return item, chosen + (1 if more else -1)


def choose_test_set(sets: SearchSets, aims: Aims, moves: int, rng: random.Random) -> Iterator[int]:
    """Search for the most test units with which both arms can still reach their aims.

    Combination is chosen roughly along the way; :func:`choose_combination` makes it exact. The
    search yields now and then how many moves it made.
    """
    pool, reach = sets.pool, sets.pool.samples_per_pair
    of_atom, *of_combination = (part / pool.samples for part in _TEST_STIFFNESS)
    stiffness = (of_atom, *(part / (reach * reach * reach) for part in of_combination))
    for item, units in enumerate(pool.units):  # a Combination to start from
        if len(units) == 1:
            sets.choose(item, pool.copies[item])
    sets.settle()
    whole_samples, pairs = min(_TEST_SHARE, _SAMPLE_SHARE / reach), range(len(pool.with_pair))

    def move(threshold: float) -> None:
        kind = walk.random()
        if kind < whole_samples:
            walk.switch_sample(threshold)
        elif kind < _TEST_SHARE:
            walk.switch([walk.draw(pairs)], threshold)
        else:
            walk.change_copies(threshold)

    goal = Goal(sets, lambda: sets.test_units, lambda: gaps(sets, aims), stiffness, _TEST_PRICES)
    walk = Walk(sets, goal, rng)
    yield from walk.anneal(move, goal, moves, _TEST_HEAT * sqrt(reach))


def choose_combination(sets: SearchSets, moves: int, rng: random.Random) -> Iterator[int]:
    """Search for the most test pairs in Combination; the test set stays as it is.

    Every atom must occur in Combination, atoms must occur as often as in Atom, and the divergence
    must be within its limit. The search yields now and then how many moves it made.
    """

    def shortfalls() -> tuple[float, ...]:
        return gaps(sets, (0, 0))[2:]  # Atom is fixed, and pairs are maximised

    def exact() -> float:
        """Return the number of pairs, far below zero if anything required is missing."""
        missing = fsum(1 + gap for gap in shortfalls() if gap > 0)
        return sets.pairs - _MISSING_COST * (missing + sets.uncovered_in_combination)

    goal = Goal(sets, lambda: sets.pairs, shortfalls, *_COMBINATION_TERMS)
    walk = Walk(sets, goal, rng)
    yield from walk.anneal(walk.change_copies, goal, moves, _COMBINATION_HEAT)
    walk = Walk(sets, exact, rng)
    for step in range(moves // 2):
        walk.change_copies(0.0)
        walk.exchange(0.0)
        if not step % _STAGES:
            yield 0
