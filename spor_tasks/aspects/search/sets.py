"""The state of a search: Atom, Combination and their test set, with all counts up to date.

A search tries millions of moves, so a move touches only what it changes. All counts are integers:
undoing a move restores them exactly, and every machine computes the same.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import sqrt

from spor_tasks.core.sample import DataUnit, Sample

SCALE = 1 << 20
"""The affinity Σ √(a c) is counted in this fraction of an occurrence, so that it is an integer."""

_NO_ATOM = (0, 0, 0, False, False)


class SearchPool:
    """The samples as numbers.

    Samples with equal units always enter the test set and Atom together, so one *item* stands for
    all of them. Items, units and pairs of units are numbered by first appearance. ``members[item]``
    are the indices of its samples and ``copies[item]`` is their number; ``units[item]`` and
    ``pairs[item]`` are those that it has; ``with_unit[unit]`` and ``with_pair[pair]`` are the items
    that have it.
    """

    def __init__(self, samples: Sequence[Sample]) -> None:
        members: dict[frozenset[DataUnit], list[int]] = {}
        for i, sample in enumerate(samples):
            members.setdefault(frozenset(sample.units), []).append(i)
        unit: dict[DataUnit, int] = {}
        pair: dict[tuple[int, int], int] = {}
        self.samples = len(samples)
        self.members = list(members.values())
        self.copies = list(map(len, self.members))
        self.units = [
            tuple(sorted({unit.setdefault(u, len(unit)) for u in samples[first].units}))
            for first, *_ in self.members
        ]
        self.pairs = [
            tuple(pair.setdefault(two, len(pair)) for two in combinations(units, 2))
            for units in self.units
        ]
        self.with_unit = _holders(self.units, len(unit))
        self.with_pair = _holders(self.pairs, len(pair))

    @property
    def samples_per_pair(self) -> float:
        """Samples that have a pair, averaged over all pairs, of which there must be one."""
        counts = (n * len(pairs) for n, pairs in zip(self.copies, self.pairs, strict=True))
        return sum(counts) / len(self.with_pair)


def _holders(parts: Iterable[Iterable[int]], number: int) -> list[list[int]]:
    """Return the items that have each part."""
    holders: list[list[int]] = [[] for _ in range(number)]
    for item, held in enumerate(parts):
        for part in held:
            holders[part].append(item)
    return holders


class SearchSets:
    """A test set, the largest Atom that goes with it, and a choice of Combination.

    Two things are decided: which pairs are *allowed* in test samples, and how many copies of each
    item are in Combination. The rest follows. The test set has every item of two or more units all
    of whose pairs are allowed. Its units are the *atoms*; its pairs are *tested*. Atom has every
    item with an atom and without a tested pair.

    :meth:`switch` and :meth:`choose` are the moves. Call :meth:`settle` after them, before reading
    a total. Totals count samples, that is, all copies of an item.
    """

    def __init__(self, pool: SearchPool) -> None:
        items, units, pairs = (len(part) for part in (pool.units, pool.with_unit, pool.with_pair))
        self.pool = pool
        # By pair: whether test samples may have it, and the items of the test set that have it.
        # The pair is tested if there are any.
        self.allowed = [False] * pairs
        self.tests = [0] * pairs
        # By item: its pairs that are not allowed; without any it is in the test set. A single unit
        # is never tested: it counts as a forbidden pair.
        self.forbidden = [len(held) or 1 for held in pool.pairs]
        # Its tested pairs; any of them keeps it out of Atom.
        self.blocked = [0] * items
        # Its atoms; without any it is in neither arm.
        self.atoms = [0] * items
        # Its copies in Combination; 0 for a test item.
        self.chosen = [0] * items
        # By unit: the test items that have it; it is an atom if there are any.
        self._tests_of_unit = [0] * units
        # Its occurrences in items without a tested pair, which are Atom's if the unit is an atom.
        self._in_atom = [sum(pool.copies[item] for item in holders) for holders in pool.with_unit]
        self._in_combination = [0] * units
        # Its part of the totals so far (`settle`).
        self._share = [_NO_ATOM] * units
        # Units whose share may be out of date, and items that the last switch took out of
        # Combination, with their copies there.
        self._changed: list[int] = []
        self._displaced: list[tuple[int, int]] = []
        # Units in test samples, samples of Atom, and occurrences of tested pairs in Combination.
        self.test_units = self.atom_samples = self.pairs = 0
        # Σ √(a c) over atoms, times SCALE; a and c are an atom's occurrences in the two arms.
        self.affinity = 0
        # Occurrences of atoms in each arm, and atoms that the arm never shows.
        self.atom_occurrences = self.combination_occurrences = 0
        self.uncovered_in_atom = self.uncovered_in_combination = 0

    def switch(self, pairs: Iterable[int]) -> None:
        """Allow those of the pairs that are forbidden, and forbid those that are allowed.

        An item that enters the test set leaves Combination.
        """
        forbidden, allowed, chosen = self.forbidden, self.allowed, self.chosen
        self._displaced.clear()
        for pair in pairs:
            allowed[pair] = not allowed[pair]
            change = -1 if allowed[pair] else 1
            for item in self.pool.with_pair[pair]:
                before = forbidden[item]
                forbidden[item] = before + change
                if before and forbidden[item]:
                    continue
                if copies := chosen[item]:
                    self._displaced.append((item, copies))
                    self.choose(item, 0)
                self._change_test(item, -change)

    def switch_back(self, pairs: Sequence[int]) -> None:
        """Undo the last :meth:`switch`, which was of these pairs."""
        displaced = list(self._displaced)
        self.switch(reversed(pairs))
        for item, copies in displaced:
            self.choose(item, copies)

    def choose(self, item: int, copies: int) -> None:
        """Set the number of copies in Combination of an item that is not in the test set."""
        change = copies - self.chosen[item]
        self.chosen[item] = copies
        self.pairs += change * self.blocked[item]
        units, in_combination = self.pool.units[item], self._in_combination
        self._changed += units
        for unit in units:
            in_combination[unit] += change

    def in_atom(self, item: int) -> bool:
        """Return whether the item is in Atom."""
        return self.atoms[item] > 0 and not self.blocked[item]

    def settle(self) -> None:
        """Bring the totals over atoms up to date."""
        for unit in set(self._changed):  # in any order, since integer sums are exact
            now = _NO_ATOM
            if self._tests_of_unit[unit]:
                a, c = self._in_atom[unit], self._in_combination[unit]
                now = (a, c, int(SCALE * sqrt(a * c)), not a, not c)
            before = self._share[unit]
            if now != before:
                self._share[unit] = now
                self.atom_occurrences += now[0] - before[0]
                self.combination_occurrences += now[1] - before[1]
                self.affinity += now[2] - before[2]
                self.uncovered_in_atom += now[3] - before[3]
                self.uncovered_in_combination += now[4] - before[4]
        self._changed.clear()

    # The next methods count a change: something comes (``step`` 1) or goes (−1). A count that
    # leaves zero is then 1, and one that comes back to it is 0: it equals ``turning``.

    def _change_test(self, item: int, step: int) -> None:
        """Count an item into the test set, or out of it."""
        turning, pool, copies = max(step, 0), self.pool, step * self.pool.copies[item]
        self.test_units += copies * len(pool.units[item])
        for pair in pool.pairs[item]:
            self.tests[pair] += step
            if self.tests[pair] == turning:
                self._change_tested(pair, step)
        for unit in pool.units[item]:
            self._tests_of_unit[unit] += step
            if self._tests_of_unit[unit] == turning:
                self._change_atom(unit, step)

    def _change_atom(self, unit: int, step: int) -> None:
        """Count a unit that becomes an atom, or ceases to be one."""
        turning = max(step, 0)
        atoms, blocked, copies = self.atoms, self.blocked, self.pool.copies
        for item in self.pool.with_unit[unit]:
            now = atoms[item] = atoms[item] + step
            if now == turning and not blocked[item]:
                self.atom_samples += step * copies[item]
        self._changed.append(unit)

    def _change_tested(self, pair: int, step: int) -> None:
        """Count a pair that becomes tested, which takes items out of Atom, or ceases to be."""
        turning = max(step, 0)
        blocked, units, in_atom = self.blocked, self.pool.units, self._in_atom
        for item in self.pool.with_pair[pair]:
            self.pairs += step * self.chosen[item]
            now = blocked[item] = blocked[item] + step
            if now == turning:
                change = -step * self.pool.copies[item]
                if self.atoms[item]:
                    self.atom_samples += change
                self._changed += units[item]
                for unit in units[item]:
                    in_atom[unit] += change
