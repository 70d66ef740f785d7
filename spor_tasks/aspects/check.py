"""Check sets against the requirements of their aspect, whoever made the sets."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from itertools import chain, combinations
from typing import NamedTuple, TypeAlias

from spor_tasks.aspects.arms import ARMS
from spor_tasks.aspects.numbers import LIMIT, divergence_of_counts, require_few_pairs
from spor_tasks.aspects.productivity import threshold_of
from spor_tasks.core.errors import SplitError, advice
from spor_tasks.core.sample import DataUnit, Hidden, Sample, SplitPair, Triple
from spor_tasks.text.normalize import display

Count: TypeAlias = int | float | tuple[int, ...]
"""A tuple has one number for each arm, in their order."""


class Violation(NamedTuple):
    """A requirement that does not hold, in words, with the ids of the samples concerned by split.

    There are no ids where whole sets differ.
    """

    words: str
    samples: Mapping[str, tuple[str, ...]]


class CheckResult(NamedTuple):
    """The counts of sets by name, the requirements that do not hold, and further warnings."""

    counts: Mapping[str, Count]
    violations: tuple[Violation, ...]
    warnings: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """True if every requirement holds."""
        return not self.violations


def check(pair: SplitPair) -> CheckResult:
    """Check the sets of ``pair`` against the requirements of their aspect.

    In order invariance and rule learnability only the test samples are looked at.

    Raises:
        SplitError: the aspect or part is unknown, or an arm has nothing to count.
    """
    match pair.name.aspect:
        case "systematicity":
            return systematicity(pair)
        case "productivity":
            return productivity(pair, threshold_of(pair.name.part))
        case "order_invariance":
            return _order_invariance(pair)
        case "rule_learnability":
            return _rule_learnability(pair)
    raise SplitError(
        f"there is no aspect {pair.name.aspect!r}", remedy=advice(pair.name.aspect, ARMS)
    )


def systematicity(pair: SplitPair, *, limit: float = LIMIT) -> CheckResult:
    """Check the sets of ``pair``: Atom, Combination and their test set (section 3.1.1).

    Atoms are the units of the test set; test pairs are the unordered pairs of units within a test
    sample. The divergence is over atoms and at most ``limit``. More test pairs in Combination are
    better: a share below :data:`SHARE_FLOOR` is a warning.

    Raises:
        SplitError: an arm has no atom at all, or there are too many pairs of units.
    """
    shown = shown_pairs(pair)
    atom, combination, test = (split.samples for split in pair.splits)
    atoms = _distinct_units(test)
    occurrences = [
        Counter(unit for sample in arm for unit in set(sample.units) & atoms)
        for arm in (atom, combination)
    ]
    test_pairs = set(chain.from_iterable(map(_pairs, test)))
    revealed = test_pairs.intersection(chain.from_iterable(map(_pairs, atom)))
    leaking = [sample for sample in atom if not revealed.isdisjoint(_pairs(sample))]
    touched = [sample for sample in test if not revealed.isdisjoint(_pairs(sample))]
    given_away = [sample for sample in touched if revealed.issuperset(_pairs(sample))]
    checks = _Checks(pair)
    checks.all_occur("missing_atoms", atoms, occurrences, "atoms")
    checks.none_shown()
    words = "test pairs occur in Atom"
    checks.none("pairs_in_atom", revealed, words, atom=leaking, test=touched)
    checks.counts["atom_samples_with_pairs"] = len(leaking)
    checks.counts["test_samples_touched"] = len(touched)
    words = "test samples have every pair in Atom"
    checks.none("test_samples_given_away", given_away, words, test=given_away)
    words = "atoms occur {} times in Atom but {} times in Combination"
    checks.alike("occurrences", occurrences, words, limit)
    checks.counts["pairs_in_combination"] = sum(
        two in test_pairs for sample in combination for two in _pairs(sample)
    )
    checks.counts |= {
        "test_pairs": shown.pairs,
        "share_shown_in_combination": shown.share,
        "test_samples_without_one": shown.samples_without,
    }
    return checks.result()._replace(warnings=warnings_of(pair))


SHARE_FLOOR = 1 / 3
"""The share of the test pairs that Combination should show. The smallest share of the published
sets is WebNLG's, 0.396."""


class ShownPairs(NamedTuple):
    """How many test pairs there are, how many Combination shows, and test samples without any."""

    pairs: int
    shown: int
    samples_without: int

    @property
    def share(self) -> float:
        """The share of the test pairs that Combination shows."""
        return self.shown / max(self.pairs, 1)


def shown_pairs(pair: SplitPair) -> ShownPairs:
    """Count the pairs of test samples that Combination shows, in sets of systematicity.

    Raises:
        SplitError: there are too many pairs of units.
    """
    require_few_pairs(chain.from_iterable(split.samples for split in pair.splits))
    tested = set(chain.from_iterable(map(_pairs, pair.test.samples)))
    shown = tested.intersection(chain.from_iterable(map(_pairs, pair.arms[1].samples)))
    without = sum(shown.isdisjoint(_pairs(sample)) for sample in pair.test.samples)
    return ShownPairs(len(tested), len(shown), without)


def warnings_of(pair: SplitPair) -> tuple[str, ...]:
    """Return what weakens sets that break no requirement, in words."""
    if pair.name.aspect != "systematicity" or (shown := shown_pairs(pair)).share >= SHARE_FLOOR:
        return ()
    few = f"Combination shows {shown.share:.0%} of the test samples' pairs"
    alike = f"no pair of {shown.samples_without:,} of {len(pair.test.samples):,} samples"
    return (f"{few}, below the floor of {SHARE_FLOOR:.0%}, and {alike}",)


def productivity(pair: SplitPair, threshold: int, *, limit: float = LIMIT) -> CheckResult:
    """Check the sets of ``pair``: Invisible, Visible and their test set (section 3.2.1).

    The divergence is over all units and at most ``limit``. More samples of Visible with more than
    N units are better. The sets alone do not show whether Invisible has *all* training samples of
    at most ``threshold`` units, so this is not checked.

    Raises:
        SplitError: an arm has no unit.
    """
    n = threshold
    invisible, visible, test = (split.samples for split in pair.splits)
    occurrences = [Counter(unit for s in arm for unit in s.units) for arm in (invisible, visible)]
    short = [sample for sample in test if len(sample.units) <= n]
    long_invisible = [sample for sample in invisible if len(sample.units) > n]
    long = [sample for sample in visible if len(sample.units) > n]
    ids = {sample.id for sample in invisible}
    foreign = [s for s in visible if len(s.units) <= n and s.id not in ids]
    checks = _Checks(pair)
    checks.counts["threshold"] = n
    checks.none("short_in_test", short, f"test samples have at most {n} units", test=short)
    words = f"samples of Invisible have more than {n} units"
    checks.none("long_in_invisible", long_invisible, words, invisible=long_invisible)
    checks.all_occur("missing_units", _distinct_units(test), occurrences, "units of the test set")
    checks.none_shown()
    words = "short samples of Visible are not in Invisible"
    checks.none("short_not_in_invisible", foreign, words, visible=foreign)
    checks.alike("units", occurrences, "Invisible has {} units but Visible {}", limit)
    checks.counts["long_in_visible"] = len(long)
    checks.counts["units_in_long"] = sum(len(sample.units) for sample in long)
    checks.require(bool(long), f"no sample of Visible has more than {n} units")
    return checks.result()


def _order_invariance(pair: SplitPair) -> CheckResult:
    """Count the units of the test set that no training sample has, the flaw of released sets."""
    test = pair.test.samples
    missing = _distinct_units(test) - _distinct_units(pair.arms[0].samples)
    concerned = [sample for sample in test if not missing.isdisjoint(sample.units)]
    checks = _Checks(pair)
    words = "units of the test set do not occur in training samples"
    checks.none("missing_units", missing, words, test=concerned)
    return checks.result()


def _rule_learnability(pair: SplitPair) -> CheckResult:
    """Count what the test samples hide: a phrase stands for it, and it stands nowhere itself."""
    hidden = [(sample, sample.challenge) for sample in pair.test.samples]
    plain = [sample for sample, challenge in hidden if not isinstance(challenge, Hidden)]
    checks = _Checks(pair)
    checks.counts["hidden"] = sum(len(c.phrases) for _, c in hidden if isinstance(c, Hidden))
    checks.require(not plain, f"{len(plain)} test samples hide nothing", test=plain)
    shown = [s for s, challenge in hidden if isinstance(challenge, Hidden) and _shows(s, challenge)]
    words = "test samples show what they hide, or lack a phrase for it"
    checks.none("shown_hidden", shown, words, test=shown)
    return checks.result()


def _shows(sample: Sample, hidden: Hidden) -> bool:
    """Return whether the units have a hidden entity or value, or lack a phrase in its place."""
    triples = [unit for unit in sample.units if isinstance(unit, Triple)]
    ends = {display(end).lower() for triple in triples for end in (triple.subject, triple.object)}
    for name, phrase in hidden.phrases:
        if triples:
            is_hidden = name.lower() not in ends and phrase.lower() in ends
        else:
            values = {unit[-1] for unit in sample.units if unit[0] == name}
            is_hidden = values == {phrase}
        if not is_hidden:
            return True
    return False


def _distinct_units(samples: Iterable[Sample]) -> set[DataUnit]:
    return {unit for sample in samples for unit in sample.units}


def _pairs(sample: Sample) -> Iterator[tuple[DataUnit, DataUnit]]:
    """Yield the unordered pairs of the sample's units, each in one fixed order."""
    return combinations(sorted(set(sample.units)), 2)


class _Checks:
    """The counts of some sets so far, and the requirements that do not hold."""

    def __init__(self, pair: SplitPair) -> None:
        self.counts: dict[str, Count] = {}
        self._pair = pair
        self._violations: list[Violation] = []

    def result(self) -> CheckResult:
        """Return all of them."""
        return CheckResult(self.counts, tuple(self._violations))

    def require(self, met: bool, words: str, **samples: Iterable[Sample]) -> None:  # noqa: FBT001
        """Add a violation unless a requirement is met, with the samples concerned, by split."""
        if not met:
            ids = {split: tuple(sample.id for sample in some) for split, some in samples.items()}
            concerned = {split: some for split, some in ids.items() if some}
            self._violations.append(Violation(words, concerned))

    def none(self, name: str, faults: Sized, words: str, **samples: Iterable[Sample]) -> None:
        """Count faults; there must be none."""
        self.counts[name] = len(faults)
        self.require(not faults, f"{len(faults)} {words}", **samples)

    def all_occur(
        self, name: str, units: set[DataUnit], arms: Iterable[Counter[DataUnit]], words: str
    ) -> None:
        """Count the units that each arm lacks, given the occurrences of units in it."""
        missing = [units - occurrences.keys() for occurrences in arms]
        self.counts[name] = tuple(map(len, missing))
        for arm, lacking in zip(self._pair.arms, missing, strict=True):
            concerned = [s for s in self._pair.test.samples if not lacking.isdisjoint(s.units)]
            place = arm.name.capitalize()
            fault = f"{len(lacking)} {words} do not occur in {place}"
            self.require(not lacking, fault, test=concerned)

    def none_shown(self) -> None:
        """Count the samples of each arm with exactly the units of some test sample."""
        tested = {frozenset(sample.units) for sample in self._pair.test.samples}
        copies = {
            arm.name: [sample for sample in arm.samples if frozenset(sample.units) in tested]
            for arm in self._pair.arms
        }
        numbers = tuple(map(len, copies.values()))
        self.counts["test_samples_shown"] = numbers
        words = f"{sum(numbers)} training samples have exactly the units of a test sample"
        self.require(not any(numbers), words, **copies)

    def alike(self, name: str, arms: Sequence[Counter[DataUnit]], words: str, limit: float) -> None:
        """Count occurrences in each arm, which must be as many, and measure the divergence."""
        totals, distance = tuple(count.total() for count in arms), divergence_of_counts(*arms)
        self.counts |= {name: totals, "divergence": distance, "limit": limit}
        self.require(len(set(totals)) == 1, words.format(*totals))
        self.require(
            distance <= limit, f"the divergence of the arms is {distance:.4f}, more than {limit}"
        )
