"""The search itself: annealing over allowed pairs and Combination, under prices that adapt.

What is asked of the sets is kept by the method of multipliers: a shortfall costs its price, and a
price rises while its shortfall lasts and falls while there is room (Hestenes, 1969; Powell, 1969;
for inequalities Rockafellar, 1973). A move is taken unless it makes the value worse by more than a
random threshold that sinks to nothing (threshold accepting; Dueck & Scheuer, 1990).

Here are only operations that every machine rounds alike: no exponential function, no power, and no
``sum`` of floats, which Python 3.12 began to round better.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import fsum, sqrt

from spor_tasks.aspects.search.chains import Report
from spor_tasks.aspects.search.sets import SCALE, Sets


@dataclass(frozen=True, slots=True, kw_only=True)
class Aims:
    """What the sets should come to: see :class:`spor_tasks.aspects.search.Settings`."""

    atom_samples: float
    pairs: float
    shown: float
    limit: float


_STAGES = 1000  # of an annealing: prices adapt after each
_RATE = 0.1  # of the way from a price to what the shortfall of the moment asks for
_LAST_HEAT = 0.3
_TEST_MOVES = 0.37  # of the moves in the search for a test set; the others are in Combination
_UNCOVERED = 10.0  # what an atom costs that Combination lacks
_MISSING = 100.0  # more pairs than any move can bring
_OF_COMBINATION = slice(2, None)  # the gaps that a fixed test set leaves open


class Prices:
    """The price of each shortfall, in units of what is maximised."""

    def __init__(self, stiffness: Sequence[float], prices: Sequence[float]) -> None:
        self.prices = list(prices)
        self._stiffness = stiffness

    def charge(self, gaps: Iterable[float]) -> float:
        """Return what the shortfalls cost; a gap at or below zero is none."""
        total = 0.0
        for price, stiffness, gap in zip(self.prices, self._stiffness, gaps, strict=True):
            asked = price + stiffness * gap
            if asked > 0:
                total += asked * asked / (2 * stiffness)
        return total

    def adapt(self, gaps: Iterable[float]) -> None:
        """Move every price towards what its gap asks for."""
        self.prices = [
            price + _RATE * (max(0.0, price + stiffness * gap) - price)
            for price, stiffness, gap in zip(self.prices, self._stiffness, gaps, strict=True)
        ]


class Walk:
    """A walk through the sets: every step tries a move and keeps it, or takes it back."""

    def __init__(self, sets: Sets, value: Callable[[], float], rng: random.Random) -> None:
        self.sets = sets
        self._value_of_sets = value
        self.random = rng.random  # the one method whose numbers are promised never to change
        self._items = range(len(sets.pool.units))
        self._pairs = range(len(sets.pool.with_pair))
        self._combinations = [item for item, pairs in enumerate(sets.pool.pairs) if pairs]
        self.value = value()

    def revalue(self) -> None:
        """Value the sets anew, as after a change of prices."""
        self.value = self._value_of_sets()

    def switch_pair(self, threshold: float) -> None:
        """Try to allow or forbid one pair."""
        self._switch([self._draw(self._pairs)], threshold)

    def switch_sample(self, threshold: float) -> None:
        """Try to allow all pairs of an item, or to forbid those that only this test item has."""
        item = self._draw(self._combinations)
        sets, pairs = self.sets, self.sets.pool.pairs[item]
        if sets.missing[item]:
            switched = [pair for pair in pairs if not sets.allowed[pair]]
        else:
            switched = [pair for pair in pairs if sets.tested[pair] == 1] or [self._draw(pairs)]
        self._switch(switched, threshold)

    def change_copies(self, threshold: float) -> None:
        """Try one copy of an item more, or less, in Combination."""
        change = self._draw_change()
        if change:
            self._choose([change], threshold)

    def exchange(self, threshold: float) -> None:
        """Try a copy of one item more and one of another less, with equally many atoms."""
        first, second = self._draw_change(), self._draw_change()
        if first and second and first[0] != second[0]:
            atoms, chosen = self.sets.atoms, self.sets.chosen
            balance = sum(atoms[item] * (copies - chosen[item]) for item, copies in (first, second))
            if not balance:
                self._choose([first, second], threshold)

    def _switch(self, pairs: list[int], threshold: float) -> None:
        sets = self.sets
        sets.switch(pairs)
        sets.settle()
        if sets.uncovered_in_atom or not self._accept(threshold):
            sets.switch_back(pairs)
            sets.settle()

    def _choose(self, changes: Sequence[tuple[int, int]], threshold: float) -> None:
        sets = self.sets
        before = [(item, sets.chosen[item]) for item, _ in changes]
        for item, copies in changes:
            sets.choose(item, copies)
        sets.settle()
        if not self._accept(threshold):
            for item, copies in before:
                sets.choose(item, copies)
            sets.settle()

    def _accept(self, threshold: float) -> bool:
        value = self._value_of_sets()
        if value < self.value - threshold:
            return False
        self.value = value
        return True

    def _draw(self, population: Sequence[int]) -> int:
        return population[int(self.random() * len(population))]

    def _draw_change(self) -> tuple[int, int] | None:
        """Draw an item and how many copies it could have in Combination, one more or less."""
        sets, item = self.sets, self._draw(self._items)
        if not sets.atoms[item] or not sets.missing[item]:
            return None
        chosen, copies = sets.chosen[item], sets.pool.copies[item]
        more = not chosen or (chosen < copies and self.random() < 0.5)  # noqa: PLR2004
        return item, chosen + (1 if more else -1)


def gaps(sets: Sets, aims: Aims) -> tuple[float, ...]:
    """Return by how much the sets fall short of each aim; zero or less where they do not."""
    balance = sets.combination_occurrences - sets.atom_occurrences
    mean = (sets.combination_occurrences + sets.atom_occurrences) / 2
    return (
        aims.atom_samples - sets.atom_samples,
        aims.pairs - sets.pairs,
        aims.shown * sets.test_samples - sets.shown_samples,
        (1 - aims.limit) * mean - sets.affinity / SCALE,
        balance,
        -balance,
    )


def choose_test_set(
    sets: Sets, aims: Aims, iterations: int, rng: random.Random, report: Report
) -> None:
    """Look for the most test units that leave room for what ``aims`` asks of both arms.

    Combination is chosen along the way, roughly: :func:`choose_combination` makes it exact.
    """
    pool = sets.pool
    reach = pool.samples_per_pair  # what one pair more or less changes, and counts of it
    # The further pairs reach, the easier Combination is to choose afterwards, and the less it may
    # stand in the way here.
    ease = reach * reach * reach
    of_combination = (3_500.0, 3_500.0, 70_000.0, 7_000.0, 7_000.0)
    stiffness = (75.0, *(part / ease for part in of_combination))
    prices = Prices(
        stiffness=[part / pool.samples for part in stiffness],
        prices=(2.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    )

    def shortfalls() -> tuple[float, ...]:
        return gaps(sets, aims)

    def value() -> float:
        uncovered = _UNCOVERED * sets.uncovered_in_combination
        return sets.test_units - uncovered - prices.charge(shortfalls())

    for item, units in enumerate(pool.units):
        if len(units) == 1:
            sets.choose(item, pool.copies[item])
    sets.settle()
    walk = Walk(sets, value, rng)
    # A whole sample's pairs cost the more to switch, and are the less often kept, the more samples
    # each pair reaches.
    whole_samples = min(_TEST_MOVES, 1.25 / reach)

    def move(threshold: float) -> None:
        kind = rng.random()
        if kind < whole_samples:
            walk.switch_sample(threshold)
        elif kind < _TEST_MOVES:
            walk.switch_pair(threshold)
        else:
            walk.change_copies(threshold)

    _anneal(walk, move, prices, shortfalls, iterations, heat=12 * sqrt(reach), report=report)


def choose_combination(
    sets: Sets, aims: Aims, iterations: int, rng: random.Random, report: Report
) -> bool:
    """Look for the most pairs in Combination; the test set stays as it is.

    Return whether Combination is what it has to be: equal occurrences of atoms, all of them there,
    the divergence within its limit.
    """

    def shortfalls() -> tuple[float, ...]:
        return gaps(sets, aims)[_OF_COMBINATION]

    prices = Prices(stiffness=(0.05, 0.5, 0.05, 0.05), prices=(0.0, 5.0, 0.0, 0.0))

    def value() -> float:
        uncovered = _UNCOVERED * sets.uncovered_in_combination
        return sets.pairs - uncovered - prices.charge(shortfalls())

    walk = Walk(sets, value, rng)
    _anneal(walk, walk.change_copies, prices, shortfalls, iterations, heat=2.0, report=report)

    def value_of_exact() -> float:
        """Return the pairs, but less than any number of them where something is missing."""
        missing = fsum(1 + gap for gap in shortfalls() if gap > 0)
        return sets.pairs - _MISSING * (missing + sets.uncovered_in_combination)

    walk = Walk(sets, value_of_exact, rng)
    for _ in range(iterations // 2):
        walk.change_copies(0.0)
        walk.exchange(0.0)
    _, *required = shortfalls()
    return not sets.uncovered_in_combination and max(required) <= 0


def _anneal(
    walk: Walk,
    move: Callable[[float], None],
    prices: Prices,
    shortfalls: Callable[[], tuple[float, ...]],
    iterations: int,
    *,
    heat: float,
    report: Report,
) -> None:
    """Make moves under a threshold that sinks from ``heat`` to nothing, ever more slowly."""
    draw = walk.random
    for stage in range(_STAGES):
        left = 1 - stage / _STAGES
        highest = (heat * left + _LAST_HEAT) * left
        steps = iterations * (stage + 1) // _STAGES - iterations * stage // _STAGES
        for _ in range(steps):
            move(highest * draw() * draw())
        prices.adapt(shortfalls())
        walk.revalue()
        report(steps)
