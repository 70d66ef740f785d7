"""The requirements of systematicity and productivity: what the arms show of the test set."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import TypeAlias

from spor_tasks.aspects.check.result import (
    CheckResult,
    Violation,
    unless,
    unless_equal,
    unless_none,
)
from spor_tasks.aspects.divergence import LIMIT, divergence
from spor_tasks.core.sample import DataUnit, Sample, SplitPair

_Pair: TypeAlias = tuple[DataUnit, DataUnit]


@dataclass(frozen=True, slots=True, kw_only=True)
class Systematicity(CheckResult):
    """Counts of Atom, Combination and their test set (section 3.1.1).

    Atoms are the units of the test set; test pairs are the unordered pairs of units within a test
    sample. Of two numbers the first is for Atom, the second for Combination.
    """

    missing_atoms: tuple[int, int]
    """Atoms that do not occur in the arm."""
    test_samples_shown: tuple[int, int]
    """Samples of the arm with exactly the units of some test sample."""
    pairs_in_atom: int
    """Distinct test pairs that occur in Atom."""
    atom_samples_with_pairs: int
    """Samples of Atom with such a pair."""
    test_samples_touched: int
    """Test samples with a pair that occurs in Atom."""
    test_samples_given_away: int
    """Test samples with every pair in Atom."""
    occurrences: tuple[int, int]
    """Occurrences of atoms."""
    divergence: float
    """Divergence of the arms over atoms; it may be at most ``limit``."""
    limit: float
    pairs_in_combination: int
    """Occurrences of test pairs in Combination; more are better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Productivity(CheckResult):
    """Counts of Invisible, Visible and their test set (section 3.2.1).

    A long sample has more than ``threshold`` units, a short one at most as many. Of two numbers the
    first is for Invisible, the second for Visible.
    """

    threshold: int
    short_in_test: int
    """Short samples of the test set."""
    long_in_invisible: int
    """Long samples of Invisible."""
    missing_units: tuple[int, int]
    """Units of the test set that do not occur in the arm."""
    test_samples_shown: tuple[int, int]
    """Samples of the arm with exactly the units of some test sample."""
    short_not_in_invisible: int
    """Short samples of Visible that are not in Invisible."""
    units: tuple[int, int]
    """Occurrences of units."""
    divergence: float
    """Divergence of the arms over all units; it may be at most ``limit``."""
    limit: float
    long_in_visible: int
    """Long samples of Visible; more are better."""
    units_in_long: int
    """Occurrences of units in them; more are better."""


def systematicity(pair: SplitPair, *, limit: float = LIMIT) -> Systematicity:
    """Check the sets of ``pair`` (Atom, Combination; test).

    Raises:
        SplitError: an arm has no atom at all.
    """
    atom, combination, test = (split.samples for split in pair.splits)
    atoms = set(_units(test))
    in_atom, in_combination = (
        Counter(unit for unit in _units(samples) if unit in atoms)
        for samples in (atom, combination)
    )
    missing = atoms - in_atom.keys(), atoms - in_combination.keys()
    shown = _with_units_of(test, atom), _with_units_of(test, combination)
    test_pairs = set(chain.from_iterable(map(_pairs, test)))
    known = test_pairs.intersection(chain.from_iterable(map(_pairs, atom)))
    leaking = [sample for sample in atom if not known.isdisjoint(_pairs(sample))]
    touched = [sample for sample in test if not known.isdisjoint(_pairs(sample))]
    given_away = [sample for sample in touched if known.issuperset(_pairs(sample))]
    occurrences = in_atom.total(), in_combination.total()
    distance = divergence(in_atom, in_combination)
    return Systematicity(
        missing_atoms=(len(missing[0]), len(missing[1])),
        test_samples_shown=(len(shown[0]), len(shown[1])),
        pairs_in_atom=len(known),
        atom_samples_with_pairs=len(leaking),
        test_samples_touched=len(touched),
        test_samples_given_away=len(given_away),
        occurrences=occurrences,
        divergence=distance,
        limit=limit,
        pairs_in_combination=sum(
            pair in test_pairs for sample in combination for pair in _pairs(sample)
        ),
        violations=(
            *unless_none(missing[0], "atoms do not occur in Atom", test=_holding(missing[0], test)),
            *unless_none(
                missing[1], "atoms do not occur in Combination", test=_holding(missing[1], test)
            ),
            *_all_shown(atom=shown[0], combination=shown[1]),
            *unless_none(known, "test pairs occur in Atom", atom=leaking, test=touched),
            *unless_none(given_away, "test samples have every pair in Atom", test=given_away),
            *unless_equal(occurrences, "atoms occur {} times in Atom but {} times in Combination"),
            *_diverging(distance, limit),
        ),
    )


def productivity(pair: SplitPair, threshold: int, *, limit: float = LIMIT) -> Productivity:
    """Check the sets of ``pair`` (Invisible, Visible; test).

    The sets alone do not show whether Invisible has *all* training samples of at most ``threshold``
    units, so this is not checked.

    Raises:
        SplitError: an arm has no unit.
    """
    invisible, visible, test = (split.samples for split in pair.splits)
    in_invisible, in_visible = (
        Counter(unit for sample in samples for unit in sample.units)
        for samples in (invisible, visible)
    )
    tested = set(_units(test))
    missing = tested - in_invisible.keys(), tested - in_visible.keys()
    shown = _with_units_of(test, invisible), _with_units_of(test, visible)
    short_tests, _ = _by_length(test, threshold)
    _, long_in_invisible = _by_length(invisible, threshold)
    short, long = _by_length(visible, threshold)
    known = {sample.id for sample in invisible}
    foreign = [sample for sample in short if sample.id not in known]
    units = in_invisible.total(), in_visible.total()
    distance = divergence(in_invisible, in_visible)
    n = threshold
    return Productivity(
        threshold=threshold,
        short_in_test=len(short_tests),
        long_in_invisible=len(long_in_invisible),
        missing_units=(len(missing[0]), len(missing[1])),
        test_samples_shown=(len(shown[0]), len(shown[1])),
        short_not_in_invisible=len(foreign),
        units=units,
        divergence=distance,
        limit=limit,
        long_in_visible=len(long),
        units_in_long=sum(len(sample.units) for sample in long),
        violations=(
            *unless_none(short_tests, f"test samples have at most {n} units", test=short_tests),
            *unless_none(
                long_in_invisible,
                f"samples of Invisible have more than {n} units",
                invisible=long_in_invisible,
            ),
            *unless_none(
                missing[0],
                "units of the test set do not occur in Invisible",
                test=_holding(missing[0], test),
            ),
            *unless_none(
                missing[1],
                "units of the test set do not occur in Visible",
                test=_holding(missing[1], test),
            ),
            *_all_shown(invisible=shown[0], visible=shown[1]),
            *unless_none(foreign, "short samples of Visible are not in Invisible", visible=foreign),
            *unless_equal(units, "Invisible has {} units but Visible {}"),
            *_diverging(distance, limit),
            *unless(bool(long), f"no sample of Visible has more than {n} units"),
        ),
    )


def _units(samples: Iterable[Sample]) -> Iterator[DataUnit]:
    """Yield the units of each sample, a repeated unit only once per sample."""
    return chain.from_iterable(set(sample.units) for sample in samples)


def _holding(units: set[DataUnit], samples: Iterable[Sample]) -> list[Sample]:
    return [sample for sample in samples if not units.isdisjoint(sample.units)]


def _pairs(sample: Sample) -> Iterator[_Pair]:
    """Yield the unordered pairs of the sample's units, each in one fixed order."""
    return combinations(sorted(set(sample.units)), 2)


def _with_units_of(test: Iterable[Sample], samples: Iterable[Sample]) -> list[Sample]:
    """Return the samples with exactly the units of some test sample."""
    tested = {frozenset(sample.units) for sample in test}
    return [sample for sample in samples if frozenset(sample.units) in tested]


def _by_length(samples: Sequence[Sample], threshold: int) -> tuple[list[Sample], list[Sample]]:
    """Return the samples of at most ``threshold`` units, and those of more."""
    short = [sample for sample in samples if len(sample.units) <= threshold]
    return short, [sample for sample in samples if len(sample.units) > threshold]


def _all_shown(**samples: Sequence[Sample]) -> Iterator[Violation]:
    found = list(chain.from_iterable(samples.values()))
    return unless_none(found, "training samples have exactly the units of a test sample", **samples)


def _diverging(distance: float, limit: float) -> Iterator[Violation]:
    return unless(
        distance <= limit, f"the divergence of the arms is {distance:.4f}, more than {limit}"
    )
