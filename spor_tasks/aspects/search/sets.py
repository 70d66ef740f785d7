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
    """The samples as numbers.

    Samples with equal units always enter the test set and Atom together, so one *item* stands for
    all of them. Items, units and pairs of units are numbered by first appearance; a pair is one
    that some sample has.

    ``members[item]`` are the item's samples, in order, and ``copies[item]`` is their number.
    ``units[item]`` and ``pairs[item]`` are what the item has; ``with_unit[unit]`` and
    ``with_pair[pair]`` are the items that have it.
    """

    def __init__(self, samples: Sequence[Sample]) -> None:
        equal: dict[frozenset[DataUnit], list[int]] = {}
        for i, sample in enumerate(samples):
            equal.setdefault(frozenset(sample.units), []).append(i)
        unit: dict[DataUnit, int] = {}
        pair: dict[tuple[int, int], int] = {}
        self.samples = len(samples)
        self.members = list(equal.values())
        self.copies = [len(members) for members in self.members]
        self.units = [
            tuple(sorted({unit.setdefault(u, len(unit)) for u in samples[members[0]].units}))
            for members in self.members
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
        return holding / len(self.with_pair) if self.with_pair else 1.0


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
    item are in Combination. The rest follows. The test set has every item of two or more units all
    of whose pairs are allowed. Its units are the *atoms*; its pairs are *tested*. Atom has every
    item with an atom and without a tested pair. A pair is *shown* if an item in Combination has it.

    :meth:`switch` and :meth:`choose` are the moves. Call :meth:`settle` after them, before reading
    a total.

    The state, by pair:

    - ``allowed[pair]``: whether test samples may have it
    - ``tests[pair]``: the test items that have it; it is tested if there are any
    - ``_shows[pair]``: the items in Combination that have it; it is shown if there are any

    By item:

    - ``forbidden[item]``: its pairs that are not allowed; it is in the test set if there are none.
      A single unit is never tested, so it counts as one forbidden pair.
    - ``blocked[item]``: its tested pairs; any of them keeps it out of Atom
    - ``atoms[item]``: the atoms it has; without any it is in neither arm
    - ``_seen[item]``: its pairs that are both tested and shown
    - ``chosen[item]``: its copies in Combination; 0 for a test item

    By unit:

    - ``_uses[unit]``: the test items that have it; it is an atom if there are any
    - ``_in_atom[unit]``: its occurrences in items without a tested pair, which are Atom's if the
      unit is an atom
    - ``_in_combination[unit]``: its occurrences in Combination
    - ``_share[unit]``: what it has added to the totals so far

    Totals count samples, that is, all copies of an item:

    - ``test_samples``, ``test_units``, ``atom_samples``: samples and units of the test set, samples
      of Atom
    - ``pairs``: occurrences of tested pairs in Combination
    - ``shown_samples``: test samples with a pair that is shown
    - ``affinity``: Σ √(a c) over atoms, times SCALE; a and c are an atom's occurrences in Atom and
      in Combination
    - ``atom_occurrences``, ``combination_occurrences``: occurrences of atoms in each arm
    - ``uncovered_in_atom``, ``uncovered_in_combination``: atoms that the arm never shows
    """

    __slots__ = (
        "_changed",
        "_displaced",
        "_in_atom",
        "_in_combination",
        "_root",
        "_seen",
        "_share",
        "_shows",
        "_uses",
        "affinity",
        "allowed",
        "atom_occurrences",
        "atom_samples",
        "atoms",
        "blocked",
        "chosen",
        "combination_occurrences",
        "forbidden",
        "pairs",
        "pool",
        "shown_samples",
        "test_samples",
        "test_units",
        "tests",
        "uncovered_in_atom",
        "uncovered_in_combination",
    )

    def __init__(self, pool: Pool) -> None:
        items, units, pairs = (len(part) for part in (pool.units, pool.with_unit, pool.with_pair))
        self.pool = pool
        self.allowed = [False] * pairs
        self.tests = [0] * pairs
        self._shows = [0] * pairs
        self.forbidden = [len(held) or 1 for held in pool.pairs]
        self.blocked = [0] * items
        self.atoms = [0] * items
        self._seen = [0] * items
        self.chosen = [0] * items
        self._uses = [0] * units
        self._in_atom = [sum(pool.copies[item] for item in holders) for holders in pool.with_unit]
        self._in_combination = [0] * units
        self._share = [_NO_ATOM] * units
        self._root = [sqrt(n) * _ROOT_SCALE for n in range(pool.samples + 1)]
        self._changed: list[int] = []  # units whose share may be out of date
        self._displaced: list[tuple[int, int]] = []  # items that left Combination, with copies
        self.test_samples = self.test_units = self.atom_samples = 0
        self.pairs = self.shown_samples = self.affinity = 0
        self.atom_occurrences = self.combination_occurrences = 0
        self.uncovered_in_atom = self.uncovered_in_combination = 0

    def switch(self, pairs: Iterable[int]) -> None:
        """Allow those of the pairs that are forbidden, and forbid those that are allowed.

        An item that enters the test set leaves Combination.
        """
        forbidden, allowed, holders = self.forbidden, self.allowed, self.pool.with_pair
        self._displaced.clear()
        for pair in pairs:
            if allowed[pair]:
                allowed[pair] = False
                for item in holders[pair]:
                    if forbidden[item]:
                        forbidden[item] += 1
                    else:
                        self._leave_test(item)
            else:
                allowed[pair] = True
                for item in holders[pair]:
                    if forbidden[item] == 1:
                        self._enter_test(item)
                    else:
                        forbidden[item] -= 1

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
                    self._show(pair, step)

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
        uses, share, root = self._uses, self._share, self._root
        in_atom, in_combination = self._in_atom, self._in_combination
        for unit in set(self._changed):  # in any order, since integer sums are exact
            if uses[unit]:
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

    def _enter_test(self, item: int) -> None:
        pool, copies = self.pool, self.pool.copies[item]
        if self.chosen[item]:
            self._displaced.append((item, self.chosen[item]))
            self.choose(item, 0)
        self.forbidden[item] = 0
        self.test_samples += copies
        self.test_units += copies * len(pool.units[item])
        if self._seen[item]:
            self.shown_samples += copies
        tests, uses = self.tests, self._uses
        for pair in pool.pairs[item]:
            tests[pair] += 1
            if tests[pair] == 1:
                self._block(pair)
        for unit in pool.units[item]:
            uses[unit] += 1
            if uses[unit] == 1:
                self._add_atom(unit)

    def _leave_test(self, item: int) -> None:
        pool, copies = self.pool, self.pool.copies[item]
        tests, uses = self.tests, self._uses
        for unit in pool.units[item]:
            uses[unit] -= 1
            if not uses[unit]:
                self._drop_atom(unit)
        self.forbidden[item] = 1
        self.test_samples -= copies
        self.test_units -= copies * len(pool.units[item])
        if self._seen[item]:
            self.shown_samples -= copies
        for pair in pool.pairs[item]:
            tests[pair] -= 1
            if not tests[pair]:
                self._unblock(pair)

    def _add_atom(self, unit: int) -> None:
        atoms, blocked, copies = self.atoms, self.blocked, self.pool.copies
        for item in self.pool.with_unit[unit]:
            atoms[item] += 1
            if atoms[item] == 1 and not blocked[item]:
                self.atom_samples += copies[item]
        self._changed.append(unit)

    def _drop_atom(self, unit: int) -> None:
        atoms, blocked, copies = self.atoms, self.blocked, self.pool.copies
        for item in self.pool.with_unit[unit]:
            atoms[item] -= 1
            if not atoms[item] and not blocked[item]:
                self.atom_samples -= copies[item]
        self._changed.append(unit)

    def _block(self, pair: int) -> None:
        """Take the items with a newly tested pair out of Atom."""
        blocked, chosen, newly_blocked = self.blocked, self.chosen, []
        for item in self.pool.with_pair[pair]:
            self.pairs += chosen[item]
            if not blocked[item]:
                newly_blocked.append(item)
            blocked[item] += 1
        if newly_blocked:
            self._move_atom(newly_blocked, -1)
        if self._shows[pair]:
            self._show(pair, 1)

    def _unblock(self, pair: int) -> None:
        """Let the items with a pair that is no longer tested into Atom."""
        blocked, chosen, newly_free = self.blocked, self.chosen, []
        for item in self.pool.with_pair[pair]:
            self.pairs -= chosen[item]
            blocked[item] -= 1
            if not blocked[item]:
                newly_free.append(item)
        if newly_free:
            self._move_atom(newly_free, 1)
        if self._shows[pair]:
            self._show(pair, -1)

    def _move_atom(self, items: Iterable[int], step: int) -> None:
        """Count items into Atom (``step`` 1) or out of it (−1)."""
        atoms, in_atom, changed, units = self.atoms, self._in_atom, self._changed, self.pool.units
        for item in items:
            change = step * self.pool.copies[item]
            if atoms[item]:
                self.atom_samples += change
            changed += units[item]
            for unit in units[item]:
                in_atom[unit] += change

    def _show(self, pair: int, step: int) -> None:
        """Count a pair that becomes both tested and shown (``step`` 1), or ceases to be (−1)."""
        seen, forbidden, copies = self._seen, self.forbidden, self.pool.copies
        turning = 1 if step > 0 else 0
        for item in self.pool.with_pair[pair]:
            seen[item] += step
            if seen[item] == turning and not forbidden[item]:
                self.shown_samples += step * copies[item]
