"""The state of a search: Atom, Combination and their test set, with all counts up to date.

A search tries millions of moves, so a move touches only what it changes. All counts are integers:
undoing a move restores them exactly, and every machine computes the same.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import sqrt
from typing import TypeAlias

from spor_tasks.core.sample import DataUnit, Sample

_ROOT_SCALE = 1 << 10
SCALE = _ROOT_SCALE * _ROOT_SCALE
"""The affinity Σ √(a c) is counted in this fraction of an occurrence, so that it is an integer.

Square roots are stored times 1,024, so a product of two is stored times SCALE. Truncation loses
less than 1 / SCALE for each atom: 0.003 occurrences for 3,000 atoms, far less than a move changes.
"""

_Share: TypeAlias = tuple[int, int, int, bool, bool]
"""What an atom adds to the totals: its occurrences in Atom and in Combination, its affinity, and
whether it is missing from Atom and from Combination."""
_NO_ATOM: _Share = (0, 0, 0, False, False)


class Pool:
    """The samples as numbers: those for the arms, and those that may be asked.

    These are the same unless others are ``asked``. Samples with equal units always enter the test
    set and Atom together, so one *item* stands for all of them. Items, units and pairs of units are
    numbered by first appearance; a pair is one that some sample has.

    ``members[item]`` are the item's samples for the arms, in order, and ``copies[item]`` is their
    number; ``asked_members[item]`` and ``asked[item]`` are the same of those that may be asked.
    ``units[item]`` and ``pairs[item]`` are what the item has; ``with_unit[unit]`` and
    ``with_pair[pair]`` are the items that have it.
    """

    def __init__(self, samples: Sequence[Sample], asked: Sequence[Sample] | None = None) -> None:
        first: dict[frozenset[DataUnit], Sample] = {}
        for sample in (*samples, *(asked or ())):
            first.setdefault(frozenset(sample.units), sample)
        unit: dict[DataUnit, int] = {}
        pair: dict[tuple[int, int], int] = {}
        self.samples = len(samples)
        self.members = _members(samples, first)
        self.asked_members = self.members if asked is None else _members(asked, first)
        self.copies, self.asked = (
            [len(held) for held in members] for members in (self.members, self.asked_members)
        )
        self.units = [
            tuple(sorted({unit.setdefault(u, len(unit)) for u in sample.units}))
            for sample in first.values()
        ]
        self.pairs = [
            tuple(pair.setdefault(two, len(pair)) for two in combinations(units, 2))
            for units in self.units
        ]
        self.with_unit = _holders(self.units, len(unit))
        self.with_pair = _holders(self.pairs, len(pair))

    @property
    def samples_per_pair(self) -> float:
        """Samples that have a pair, averaged over all pairs; 1 if there is no pair."""
        holding = sum(
            copies * len(pairs) for copies, pairs in zip(self.copies, self.pairs, strict=True)
        )
        return max(1.0, holding / len(self.with_pair)) if self.with_pair else 1.0


def _members(
    samples: Iterable[Sample], items: Iterable[frozenset[DataUnit]]
) -> list[Sequence[int]]:
    """Return the indices of the samples of each item."""
    members: dict[frozenset[DataUnit], list[int]] = {units: [] for units in items}
    for i, sample in enumerate(samples):
        members[frozenset(sample.units)].append(i)
    return list(members.values())


def _holders(parts: Iterable[Iterable[int]], number: int) -> list[list[int]]:
    """Return the items that have each part."""
    holders: list[list[int]] = [[] for _ in range(number)]
    for item, held in enumerate(parts):
        for part in held:
            holders[part].append(item)
    return holders


class Sets:
    """A test set, the largest Atom that goes with it, and a choice of Combination.

    Two things are decided: which pairs are *allowed* in test samples, and how many copies of each
    item are in Combination. The rest follows. The test set has every item of two or more units
    that may be asked and all of whose pairs are allowed. Its units are the *atoms*; its pairs are
    *tested*. Atom has every item with an atom and without a tested pair. A pair is *shown* if an
    item in Combination has it.

    :meth:`switch` and :meth:`choose` are the moves. Call :meth:`settle` after them, before reading
    a total. Totals count samples, that is, all copies of an item.
    """

    # Without slots a search takes a tenth longer.
    __slots__ = tuple(
        "pool allowed tests _shows forbidden blocked atoms "  # noqa: SIM905 - shorter than a list
        "_tested_and_shown chosen _tests_of_unit "
        "_in_atom _in_combination _share _changed _displaced _root test_samples test_units "
        "atom_samples pairs shown_samples affinity atom_occurrences combination_occurrences "
        "uncovered_in_atom uncovered_in_combination".split()
    )

    def __init__(self, pool: Pool) -> None:
        items, units, pairs = (len(part) for part in (pool.units, pool.with_unit, pool.with_pair))
        self.pool = pool
        # By pair: whether test samples may have it, and the items of the test set and of
        # Combination that have it. The pair is tested, or shown, if there are any.
        self.allowed = [False] * pairs
        self.tests = [0] * pairs
        self._shows = [0] * pairs
        # By item: its pairs that are not allowed; without any it is in the test set. A single unit
        # is never tested, nor is an item that may not be asked: each counts as a forbidden pair.
        self.forbidden = [
            (len(held) or 1) + (not asked)
            for held, asked in zip(pool.pairs, pool.asked, strict=True)
        ]
        # Its tested pairs; any of them keeps it out of Atom.
        self.blocked = [0] * items
        # Its atoms; without any it is in neither arm.
        self.atoms = [0] * items
        # Its pairs that are both tested and shown.
        self._tested_and_shown = [0] * items
        # Its copies in Combination; 0 for a test item.
        self.chosen = [0] * items
        # By unit: the test items that have it; it is an atom if there are any.
        self._tests_of_unit = [0] * units
        # Its occurrences in items without a tested pair, which are Atom's if the unit is an atom.
        self._in_atom = [sum(pool.copies[item] for item in holders) for holders in pool.with_unit]
        self._in_combination = [0] * units
        # What it has added to the totals so far.
        self._share = [_NO_ATOM] * units
        # Units whose share may be out of date, and items that the last switch took out of
        # Combination, with their copies there.
        self._changed: list[int] = []
        self._displaced: list[tuple[int, int]] = []
        self._root = [sqrt(n) * _ROOT_SCALE for n in range(pool.samples + 1)]
        self.test_samples = self.test_units = self.atom_samples = 0
        # Occurrences of tested pairs in Combination, and test samples with a pair that is shown.
        self.pairs = self.shown_samples = 0
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
            if allowed[pair]:
                for item in self.pool.with_pair[pair]:
                    if (left := forbidden[item]) > 1:
                        forbidden[item] = left - 1
                    else:
                        if chosen[item]:
                            self._displaced.append((item, chosen[item]))
                            self.choose(item, 0)
                        self._change_test(item, 1)
            else:
                for item in self.pool.with_pair[pair]:
                    if forbidden[item]:
                        forbidden[item] += 1
                    else:
                        self._change_test(item, -1)

    def switch_back(self, pairs: Sequence[int]) -> None:
        """Undo the last :meth:`switch`, which was of these pairs."""
        displaced = list(self._displaced)
        self.switch(reversed(pairs))
        for item, copies in displaced:
            self.choose(item, copies)

    def choose(self, item: int, copies: int) -> None:
        """Set the number of copies in Combination of an item that is not in the test set."""
        before = self.chosen[item]
        change = copies - before
        self.chosen[item] = copies
        self.pairs += change * self.blocked[item]
        units, in_combination = self.pool.units[item], self._in_combination
        self._changed += units
        for unit in units:
            in_combination[unit] += change
        if (before > 0) != (copies > 0):
            shows, tests, step = self._shows, self.tests, 1 if copies else -1
            for pair in self.pool.pairs[item]:
                shows[pair] += step
                if shows[pair] == (copies > 0) and tests[pair]:
                    self._change_tested_and_shown(pair, step)

    def in_atom(self, item: int) -> bool:
        """Return whether the item is in Atom."""
        return self.atoms[item] > 0 and not self.blocked[item]

    def show_atom(self) -> None:
        """Make Combination equal to Atom."""
        for item, copies in enumerate(self.pool.copies):
            self.choose(item, copies if self.in_atom(item) else 0)
        self.settle()

    def settle(self) -> None:
        """Bring the totals over atoms up to date."""
        tests_of_unit, share, root = self._tests_of_unit, self._share, self._root
        in_atom, in_combination = self._in_atom, self._in_combination
        for unit in set(self._changed):  # in any order, since integer sums are exact
            if tests_of_unit[unit]:
                a, c = in_atom[unit], in_combination[unit]
                now = (a, c, int(root[a] * root[c]), not a, not c)
            else:
                now = _NO_ATOM
            before = share[unit]
            if now != before:
                share[unit] = now
                self.atom_occurrences += now[0] - before[0]
                self.combination_occurrences += now[1] - before[1]
                self.affinity += now[2] - before[2]
                self.uncovered_in_atom += now[3] - before[3]
                self.uncovered_in_combination += now[4] - before[4]
        self._changed.clear()

    # What follows counts a change: something comes (``step`` 1) or goes (−1). A count that leaves
    # zero is then 1, and one that comes back to it is 0: it equals ``turning``.

    def _change_test(self, item: int, step: int) -> None:
        """Count an item into the test set, or out of it."""
        turning = int(step > 0)
        pool, copies = self.pool, step * self.pool.asked[item]
        self.forbidden[item] = 1 - turning
        self.test_samples += copies
        self.test_units += copies * len(pool.units[item])
        if self._tested_and_shown[item]:
            self.shown_samples += copies
        tests, tests_of_unit = self.tests, self._tests_of_unit
        for pair in pool.pairs[item]:
            tests[pair] += step
            if tests[pair] == turning:
                self._change_tested(pair, step)
        for unit in pool.units[item]:
            tests_of_unit[unit] += step
            if tests_of_unit[unit] == turning:
                self._change_atom(unit, step)

    def _change_atom(self, unit: int, step: int) -> None:
        """Count a unit that becomes an atom, or ceases to be one."""
        turning = int(step > 0)
        atoms, blocked, copies = self.atoms, self.blocked, self.pool.copies
        for item in self.pool.with_unit[unit]:
            now = atoms[item] = atoms[item] + step
            if now == turning and not blocked[item]:
                self.atom_samples += step * copies[item]
        self._changed.append(unit)

    def _change_tested(self, pair: int, step: int) -> None:
        """Count a pair that becomes tested, which takes items out of Atom, or ceases to be."""
        turning = int(step > 0)
        copies, units, in_atom = self.pool.copies, self.pool.units, self._in_atom
        atoms, blocked, chosen, changed = self.atoms, self.blocked, self.chosen, self._changed
        in_combination = 0
        for item in self.pool.with_pair[pair]:
            in_combination += chosen[item]
            now = blocked[item] = blocked[item] + step
            if now == turning:
                change = -step * copies[item]
                if atoms[item]:
                    self.atom_samples += change
                held = units[item]
                changed += held
                for unit in held:
                    in_atom[unit] += change
        self.pairs += step * in_combination
        if self._shows[pair]:
            self._change_tested_and_shown(pair, step)

    def _change_tested_and_shown(self, pair: int, step: int) -> None:
        """Count a pair that becomes both tested and shown, or ceases to be."""
        turning = int(step > 0)
        counts, forbidden, asked = self._tested_and_shown, self.forbidden, self.pool.asked
        for item in self.pool.with_pair[pair]:
            now = counts[item] = counts[item] + step
            if now == turning and not forbidden[item]:
                self.shown_samples += step * asked[item]
