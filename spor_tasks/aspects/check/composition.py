"""The requirements of systematicity and productivity: what the arms show of the test set."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Annotated

from spor_tasks.aspects.check.result import (
    CheckResult,
    Violation,
    unless,
    unless_equal,
    unless_none,
)
from spor_tasks.aspects.divergence import LIMIT, divergence
from spor_tasks.core.sample import DataUnit, Sample, SplitPair


@dataclass(frozen=True, slots=True, kw_only=True)
class Systematicity(CheckResult):
    """Counts of Atom, Combination and their test set (section 3.1.1).

    Atoms are the units of the test set; test pairs are the unordered pairs of units within a test
    sample. The divergence is over atoms. More test pairs in Combination are better.
    """

    missing_atoms: Annotated[tuple[int, ...], "atoms that do not occur in the arm"]
    test_samples_shown: Annotated[
        tuple[int, ...], "samples of the arm with exactly a test sample's units"
    ]
    pairs_in_atom: Annotated[int, "test pairs that occur in Atom"]
    atom_samples_with_pairs: Annotated[int, "samples of Atom with a test pair"]
    test_samples_touched: Annotated[int, "test samples with a pair seen in Atom"]
    test_samples_given_away: Annotated[int, "test samples with every pair seen in Atom"]
    occurrences: Annotated[tuple[int, ...], "occurrences of atoms in the arm"]
    divergence: Annotated[float, "divergence of the arms"]
    limit: Annotated[float, "largest divergence allowed"]
    pairs_in_combination: Annotated[int, "occurrences of test pairs in Combination"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Productivity(CheckResult):
    """Counts of Invisible, Visible and their test set (section 3.2.1).

    The divergence is over all units. More samples of Visible with more than N units are better.
    """

    threshold: Annotated[int, "N"]
    short_in_test: Annotated[int, "test samples of at most N units"]
    long_in_invisible: Annotated[int, "samples of Invisible with more than N units"]
    missing_units: Annotated[tuple[int, ...], "test units that do not occur in training samples"]
    test_samples_shown: Annotated[
        tuple[int, ...], "samples of the arm with exactly a test sample's units"
    ]
    short_not_in_invisible: Annotated[
        int, "samples of Visible of at most N units, not in Invisible"
    ]
    units: Annotated[tuple[int, ...], "units of the arm"]
    divergence: Annotated[float, "divergence of the arms"]
    limit: Annotated[float, "largest divergence allowed"]
    long_in_visible: Annotated[int, "samples of Visible with more than N units"]
    units_in_long: Annotated[int, "units of these samples"]


def systematicity(pair: SplitPair, *, limit: float = LIMIT) -> Systematicity:
    """Check the sets of ``pair`` (Atom, Combination; test).

    Raises:
        SplitError: an arm has no atom at all.
    """
    atom, combination, test = (split.samples for split in pair.splits)
    atoms = _distinct_units(test)
    counts = [
        Counter(unit for sample in arm for unit in set(sample.units) & atoms)
        for arm in (atom, combination)
    ]
    missing = [atoms - count.keys() for count in counts]
    occurrences = tuple(count.total() for count in counts)
    distance = divergence(*counts)
    shown = _with_units_of_a_test(pair)
    test_pairs = set(chain.from_iterable(map(_pairs, test)))
    known = test_pairs.intersection(chain.from_iterable(map(_pairs, atom)))
    leaking = [sample for sample in atom if not known.isdisjoint(_pairs(sample))]
    touched = [sample for sample in test if not known.isdisjoint(_pairs(sample))]
    given_away = [sample for sample in touched if known.issuperset(_pairs(sample))]
    return Systematicity(
        missing_atoms=tuple(map(len, missing)),
        test_samples_shown=tuple(map(len, shown.values())),
        pairs_in_atom=len(known),
        atom_samples_with_pairs=len(leaking),
        test_samples_touched=len(touched),
        test_samples_given_away=len(given_away),
        occurrences=occurrences,
        divergence=distance,
        limit=limit,
        pairs_in_combination=sum(
            two in test_pairs for sample in combination for two in _pairs(sample)
        ),
        violations=(
            *_unless_all_occur(missing, "atoms", pair),
            *_unless_none_shown(shown),
            *unless_none(known, "test pairs occur in Atom", atom=leaking, test=touched),
            *unless_none(given_away, "test samples have every pair in Atom", test=given_away),
            *unless_equal(occurrences, "atoms occur {} times in Atom but {} times in Combination"),
            *_unless_alike(distance, limit),
        ),
    )


def productivity(pair: SplitPair, threshold: int, *, limit: float = LIMIT) -> Productivity:
    """Check the sets of ``pair`` (Invisible, Visible; test).

    The sets alone do not show whether Invisible has *all* training samples of at most ``threshold``
    units, so this is not checked.

    Raises:
        SplitError: an arm has no unit.
    """
    n = threshold
    invisible, visible, test = (split.samples for split in pair.splits)
    counts = [Counter(unit for s in arm for unit in s.units) for arm in (invisible, visible)]
    missing = [_distinct_units(test) - count.keys() for count in counts]
    units = tuple(count.total() for count in counts)
    distance = divergence(*counts)
    shown = _with_units_of_a_test(pair)
    short_tests = [sample for sample in test if len(sample.units) <= n]
    long_in_invisible = [sample for sample in invisible if len(sample.units) > n]
    long = [sample for sample in visible if len(sample.units) > n]
    known = {sample.id for sample in invisible}
    foreign = [s for s in visible if len(s.units) <= n and s.id not in known]
    return Productivity(
        threshold=n,
        short_in_test=len(short_tests),
        long_in_invisible=len(long_in_invisible),
        missing_units=tuple(map(len, missing)),
        test_samples_shown=tuple(map(len, shown.values())),
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
            *_unless_all_occur(missing, "units of the test set", pair),
            *_unless_none_shown(shown),
            *unless_none(foreign, "short samples of Visible are not in Invisible", visible=foreign),
            *unless_equal(units, "Invisible has {} units but Visible {}"),
            *_unless_alike(distance, limit),
            *unless(bool(long), f"no sample of Visible has more than {n} units"),
        ),
    )


def _distinct_units(samples: Iterable[Sample]) -> set[DataUnit]:
    return {unit for sample in samples for unit in sample.units}


def _pairs(sample: Sample) -> Iterator[tuple[DataUnit, DataUnit]]:
    """Yield the unordered pairs of the sample's units, each in one fixed order."""
    return combinations(sorted(set(sample.units)), 2)


def _with_units_of_a_test(pair: SplitPair) -> dict[str, list[Sample]]:
    """Return the samples of each arm with exactly the units of some test sample."""
    tested = {frozenset(sample.units) for sample in pair.test.samples}
    return {
        arm.name: [sample for sample in arm.samples if frozenset(sample.units) in tested]
        for arm in pair.arms
    }


def _unless_all_occur(
    missing: Iterable[set[DataUnit]], what: str, pair: SplitPair
) -> Iterator[Violation]:
    for arm, units in zip(pair.arms, missing, strict=True):
        concerned = [s for s in pair.test.samples if not units.isdisjoint(s.units)]
        yield from unless_none(
            units, f"{what} do not occur in {arm.name.capitalize()}", test=concerned
        )


def _unless_none_shown(shown: dict[str, list[Sample]]) -> Iterator[Violation]:
    found = list(chain.from_iterable(shown.values()))
    return unless_none(found, "training samples have exactly the units of a test sample", **shown)


def _unless_alike(distance: float, limit: float) -> Iterator[Violation]:
    return unless(
        distance <= limit, f"the divergence of the arms is {distance:.4f}, more than {limit}"
    )
