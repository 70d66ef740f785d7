"""Check sets against the requirements of their aspect, whoever made the sets."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sized
from itertools import chain, combinations
from typing import NamedTuple, TypeAlias

from spor_tasks.aspects.arms import ARMS
from spor_tasks.aspects.divergence import LIMIT, divergence
from spor_tasks.aspects.productivity import threshold_of
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import DataUnit, Hidden, Sample, SplitPair

Count: TypeAlias = int | float | tuple[int, ...]
"""A tuple has one number for each arm, in their order."""


class Violation(NamedTuple):
    """A requirement that does not hold, in words, with the ids of the samples concerned by split.

    There are no ids where whole sets differ.
    """

    words: str
    samples: Mapping[str, tuple[str, ...]]


class CheckResult(NamedTuple):
    """The counts of sets by name, and the requirements that do not hold."""

    counts: Mapping[str, Count]
    violations: tuple[Violation, ...]

    @property
    def holds(self) -> bool:
        """True if every requirement holds."""
        return not self.violations


def check(pair: SplitPair, *, limit: float = LIMIT) -> CheckResult:
    """Check the sets of ``pair`` against the requirements of their aspect.

    ``limit`` is the largest divergence allowed between the arms. In order invariance and rule
    learnability only the test samples are looked at.

    Raises:
        SplitError: the aspect or part is unknown, or an arm has nothing to count.
    """
    match pair.aspect:
        case "systematicity":
            return systematicity(pair, limit=limit)
        case "productivity":
            return productivity(pair, threshold_of(pair.part), limit=limit)
        case "order_invariance":
            return _order_invariance(pair)
        case "rule_learnability":
            return _rule_learnability(pair)
    raise SplitError(
        f"no aspect is called {pair.aspect!r}", remedy=f"Use one of {', '.join(ARMS)}."
    )


def systematicity(pair: SplitPair, *, limit: float = LIMIT) -> CheckResult:
    """Check the sets of ``pair``: Atom, Combination and their test set (section 3.1.1).

    Atoms are the units of the test set; test pairs are the unordered pairs of units within a test
    sample. The divergence is over atoms. More test pairs in Combination are better.

    Raises:
        SplitError: an arm has no atom at all.
    """
    atom, combination, test = (split.samples for split in pair.splits)
    atoms = _distinct_units(test)
    counts = [
        Counter(unit for sample in arm for unit in set(sample.units) & atoms)
        for arm in (atom, combination)
    ]
    missing, training_copies = (
        [atoms - count.keys() for count in counts],
        _with_units_of_a_test(pair),
    )
    occurrences, distance = tuple(count.total() for count in counts), divergence(*counts)
    test_pairs = set(chain.from_iterable(map(_pairs, test)))
    revealed = test_pairs.intersection(chain.from_iterable(map(_pairs, atom)))
    leaking = [sample for sample in atom if not revealed.isdisjoint(_pairs(sample))]
    touched = [sample for sample in test if not revealed.isdisjoint(_pairs(sample))]
    given_away = [sample for sample in touched if revealed.issuperset(_pairs(sample))]
    in_combination = sum(two in test_pairs for sample in combination for two in _pairs(sample))
    return CheckResult(
        {
            "missing_atoms": tuple(map(len, missing)),
            "test_samples_shown": tuple(map(len, training_copies.values())),
            "pairs_in_atom": len(revealed),
            "atom_samples_with_pairs": len(leaking),
            "test_samples_touched": len(touched),
            "test_samples_given_away": len(given_away),
            "occurrences": occurrences,
            "divergence": distance,
            "limit": limit,
            "pairs_in_combination": in_combination,
        },
        (
            *_unless_all_occur(missing, "atoms", pair),
            *_unless_none_shown(training_copies),
            *_unless_none(revealed, "test pairs occur in Atom", atom=leaking, test=touched),
            *_unless_none(given_away, "test samples have every pair in Atom", test=given_away),
            *_unless_equal(occurrences, "atoms occur {} times in Atom but {} times in Combination"),
            *_unless_alike(distance, limit),
        ),
    )


def productivity(pair: SplitPair, threshold: int, *, limit: float = LIMIT) -> CheckResult:
    """Check the sets of ``pair``: Invisible, Visible and their test set (section 3.2.1).

    The divergence is over all units. More samples of Visible with more than N units are better. The
    sets alone do not show whether Invisible has *all* training samples of at most ``threshold``
    units, so this is not checked.

    Raises:
        SplitError: an arm has no unit.
    """
    n = threshold
    invisible, visible, test = (split.samples for split in pair.splits)
    counts = [Counter(unit for s in arm for unit in s.units) for arm in (invisible, visible)]
    missing = [_distinct_units(test) - count.keys() for count in counts]
    units, distance = tuple(count.total() for count in counts), divergence(*counts)
    training_copies = _with_units_of_a_test(pair)
    short_tests = [sample for sample in test if len(sample.units) <= n]
    long_invisible = [sample for sample in invisible if len(sample.units) > n]
    long = [sample for sample in visible if len(sample.units) > n]
    invisible_ids = {sample.id for sample in invisible}
    foreign = [s for s in visible if len(s.units) <= n and s.id not in invisible_ids]
    return CheckResult(
        {
            "threshold": n,
            "short_in_test": len(short_tests),
            "long_in_invisible": len(long_invisible),
            "missing_units": tuple(map(len, missing)),
            "test_samples_shown": tuple(map(len, training_copies.values())),
            "short_not_in_invisible": len(foreign),
            "units": units,
            "divergence": distance,
            "limit": limit,
            "long_in_visible": len(long),
            "units_in_long": sum(len(sample.units) for sample in long),
        },
        (
            *_unless_none(short_tests, f"test samples have at most {n} units", test=short_tests),
            *_unless_none(
                long_invisible,
                f"samples of Invisible have more than {n} units",
                invisible=long_invisible,
            ),
            *_unless_all_occur(missing, "units of the test set", pair),
            *_unless_none_shown(training_copies),
            *_unless_none(
                foreign, "short samples of Visible are not in Invisible", visible=foreign
            ),
            *_unless_equal(units, "Invisible has {} units but Visible {}"),
            *_unless_alike(distance, limit),
            *_unless(bool(long), f"no sample of Visible has more than {n} units"),
        ),
    )


def _order_invariance(pair: SplitPair) -> CheckResult:
    """Count the units of the test set that no training sample has, the flaw of released sets."""
    test = pair.test.samples
    missing = _distinct_units(test) - _distinct_units(pair.arms[0].samples)
    words = "units of the test set do not occur in training samples"
    concerned = [sample for sample in test if not missing.isdisjoint(sample.units)]
    return CheckResult(
        {"missing_units": len(missing)}, tuple(_unless_none(missing, words, test=concerned))
    )


def _rule_learnability(pair: SplitPair) -> CheckResult:
    """Count what the test samples hide."""
    test = pair.test.samples
    plain = [sample for sample in test if not isinstance(sample.challenge, Hidden)]
    hidden = (s.challenge.phrases for s in test if isinstance(s.challenge, Hidden))
    return CheckResult(
        {"hidden": sum(map(len, hidden))},
        tuple(_unless_none(plain, "test samples hide nothing", test=plain)),
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


def _unless(met: bool, words: str, **samples: Iterable[Sample]) -> Iterator[Violation]:  # noqa: FBT001
    """Yield a violation unless the requirement is met, with the ``samples`` concerned, by split."""
    if not met:
        ids = {split: tuple(sample.id for sample in some) for split, some in samples.items()}
        yield Violation(words, {split: some for split, some in ids.items() if some})


def _unless_none(faults: Sized, words: str, **samples: Iterable[Sample]) -> Iterator[Violation]:
    return _unless(not faults, f"{len(faults)} {words}", **samples)


def _unless_equal(counts: tuple[int, ...], words: str) -> Iterator[Violation]:
    return _unless(len(set(counts)) == 1, words.format(*counts))


def _unless_all_occur(
    missing: Iterable[set[DataUnit]], what: str, pair: SplitPair
) -> Iterator[Violation]:
    for arm, units in zip(pair.arms, missing, strict=True):
        concerned = [s for s in pair.test.samples if not units.isdisjoint(s.units)]
        words = f"{what} do not occur in {arm.name.capitalize()}"
        yield from _unless_none(units, words, test=concerned)


def _unless_none_shown(copies: Mapping[str, list[Sample]]) -> Iterator[Violation]:
    samples = list(chain.from_iterable(copies.values()))
    return _unless_none(
        samples, "training samples have exactly the units of a test sample", **copies
    )


def _unless_alike(distance: float, limit: float) -> Iterator[Violation]:
    words = f"the divergence of the arms is {distance:.4f}, more than {limit}"
    return _unless(distance <= limit, words)
