"""Atom, Combination and their test set in numbers, and every count of them kept up to date.

A search tries millions of moves, so a move only touches what it changes. All counts are integers:
taking a move back restores them exactly, and no machine rounds them differently.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import sqrt
from typing import TypeAlias

from spor_tasks.core.sample import DataUnit, Sample

SCALE = 1 << 20
"""Parts of one in which affinities are counted."""

_Share: TypeAlias = tuple[int, int, int, bool, bool]
_NO_ATOM: _Share = (0, 0, 0, False, False)


class Pool:
    """The samples in numbers.

    Samples with equal units share every fate in the test set and in Atom, so one *item* stands for
    all of them: ``members[x]`` lists the samples, in order. Items, data units and pairs of units
    that some sample holds are numbered by first appearance.
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
        """How many samples hold a pair of units, on average; 1 where there is no pair."""
        holding = sum(
            copies * len(pairs) for copies, pairs in zip(self.copies, self.pairs, strict=True)
        )
        return holding / len(self.with_pair) if self.with_pair else 1.0


def _holders(parts: Iterable[Iterable[int]], number: int) -> list[list[int]]:
    """Return for every part the items that hold it."""
    holders: list[list[int]] = [[] for _ in range(number)]
    for item, held in enumerate(parts):
        for part in held:
            holders[part].append(item)
    return holders


class Sets:
    """A test set, the largest Atom that goes with it, and a choice of Combination.

    The test set is made of *allowed* pairs: it holds every item of two units or more all of whose
    pairs are allowed. Its units are the *atoms*, its pairs are *tested*. Atom holds every item that
    has an atom and no tested pair. Combination is free: ``chosen[x]`` copies of item x.

    :meth:`switch` and :meth:`choose` are the moves. After either, and before any count is read,
    :meth:`settle` must be called.
    """

    __slots__ = (
        "_changed",
        "_displaced",
        "_in_atom",
        "_in_combination",
        "_root",
        "_seen",
        "_share",
        "_shown",
        "_uses",
        "affinity",
        "allowed",
        "atom_occurrences",
        "atom_samples",
        "atoms",
        "blocked",
        "chosen",
        "combination_occurrences",
        "missing",
        "pairs",
        "pool",
        "shown_samples",
        "test_samples",
        "test_units",
        "tested",
        "uncovered_in_atom",
        "uncovered_in_combination",
    )

    def __init__(self, pool: Pool) -> None:
        items, units, pairs = (len(part) for part in (pool.units, pool.with_unit, pool.with_pair))
        self.pool = pool
        # Of a pair: may a test sample hold it; how many test items do; how many chosen items do.
        self.allowed = [False] * pairs
        self.tested = [0] * pairs
        self._shown = [0] * pairs
        # Of an item: pairs not allowed (a single unit is never tested, so that counts as one),
        # tested pairs, atoms, pairs that are tested and shown, copies in Combination.
        self.missing = [len(held) or 1 for held in pool.pairs]
        self.blocked = [0] * items
        self.atoms = [0] * items
        self._seen = [0] * items
        self.chosen = [0] * items
        # Of a unit: how many test items hold it; its occurrences in what may enter Atom, and in
        # Combination; what it adds to the totals.
        self._uses = [0] * units
        self._in_atom = [sum(pool.copies[item] for item in holders) for holders in pool.with_unit]
        self._in_combination = [0] * units
        self._share = [_NO_ATOM] * units
        # √n in parts of 1024, so that products of two are in parts of SCALE.
        self._root = [sqrt(n) * 1024 for n in range(pool.samples + 1)]
        self._changed: list[int] = []
        self._displaced: list[tuple[int, int]] = []
        # The totals.
        self.test_samples = self.test_units = self.atom_samples = 0
        self.pairs = 0  # occurrences of tested pairs in Combination
        self.shown_samples = 0  # test samples of which Combination shows a pair
        self.affinity = 0  # Σ √(a c) over atoms, in parts of SCALE
        self.atom_occurrences = self.combination_occurrences = 0
        self.uncovered_in_atom = self.uncovered_in_combination = 0  # atoms that never occur

    def switch(self, pairs: Iterable[int]) -> None:
        """Allow the pairs that are not allowed, and forbid the others.

        An item that enters the test set leaves Combination.
        """
        missing, allowed, holders = self.missing, self.allowed, self.pool.with_pair
        self._displaced.clear()
        for pair in pairs:
            if allowed[pair]:
                allowed[pair] = False
                for item in holders[pair]:
                    if missing[item]:
                        missing[item] += 1
                    else:
                        self._leave_test(item)
            else:
                allowed[pair] = True
                for item in holders[pair]:
                    if missing[item] == 1:
                        self._enter_test(item)
                    else:
                        missing[item] -= 1

    def switch_back(self, pairs: Sequence[int]) -> None:
        """Take back the last :meth:`switch`, which was of these pairs."""
        displaced = list(self._displaced)
        self.switch(reversed(pairs))
        for item, copies in displaced:
            self.choose(item, copies)

    def choose(self, item: int, copies: int) -> None:
        """Put this many copies of an item that is not tested into Combination."""
        before = self.chosen[item]
        change = copies - before
        self.chosen[item] = copies
        self.pairs += change * self.blocked[item]
        units, in_combination = self.pool.units[item], self._in_combination
        self._changed += units
        for unit in units:
            in_combination[unit] += change
        if (before > 0) != (copies > 0):
            shown, tested, step = self._shown, self.tested, 1 if copies else -1
            for pair in self.pool.pairs[item]:
                shown[pair] += step
                if shown[pair] == (copies > 0) and tested[pair]:
                    self._show(pair, step)

    def in_atom(self, item: int) -> bool:
        """Return whether an item belongs to Atom."""
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
        for unit in set(self._changed):  # sums of integers: their order is all the same
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
        self.missing[item] = 0
        self.test_samples += copies
        self.test_units += copies * len(pool.units[item])
        if self._seen[item]:
            self.shown_samples += copies
        tested, uses = self.tested, self._uses
        for pair in pool.pairs[item]:
            tested[pair] += 1
            if tested[pair] == 1:
                self._block(pair)
        for unit in pool.units[item]:
            uses[unit] += 1
            if uses[unit] == 1:
                self._add_atom(unit)

    def _leave_test(self, item: int) -> None:
        pool, copies = self.pool, self.pool.copies[item]
        tested, uses = self.tested, self._uses
        for unit in pool.units[item]:
            uses[unit] -= 1
            if not uses[unit]:
                self._drop_atom(unit)
        self.missing[item] = 1
        self.test_samples -= copies
        self.test_units -= copies * len(pool.units[item])
        if self._seen[item]:
            self.shown_samples -= copies
        for pair in pool.pairs[item]:
            tested[pair] -= 1
            if not tested[pair]:
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
        """Keep the holders of a pair that is tested from now on out of Atom."""
        blocked, chosen, entering = self.blocked, self.chosen, []
        for item in self.pool.with_pair[pair]:
            self.pairs += chosen[item]
            if not blocked[item]:
                entering.append(item)
            blocked[item] += 1
        if entering:
            self._move_atom(entering, -1)
        if self._shown[pair]:
            self._show(pair, 1)

    def _unblock(self, pair: int) -> None:
        """Let the holders of a pair that is tested no more into Atom."""
        blocked, chosen, leaving = self.blocked, self.chosen, []
        for item in self.pool.with_pair[pair]:
            self.pairs -= chosen[item]
            blocked[item] -= 1
            if not blocked[item]:
                leaving.append(item)
        if leaving:
            self._move_atom(leaving, 1)
        if self._shown[pair]:
            self._show(pair, -1)

    def _move_atom(self, items: Iterable[int], step: int) -> None:
        """Count items into Atom (+1) or out of it (−1)."""
        atoms, in_atom, changed, units = self.atoms, self._in_atom, self._changed, self.pool.units
        for item in items:
            change = step * self.pool.copies[item]
            if atoms[item]:
                self.atom_samples += change
            changed += units[item]
            for unit in units[item]:
                in_atom[unit] += change

    def _show(self, pair: int, step: int) -> None:
        """Count a pair that is both tested and shown from now on (+1), or no more (−1)."""
        seen, missing, copies = self._seen, self.missing, self.pool.copies
        turning = 1 if step > 0 else 0
        for item in self.pool.with_pair[pair]:
            seen[item] += step
            if seen[item] == turning and not missing[item]:
                self.shown_samples += step * copies[item]
