"""Check sets against the requirements of their aspect, whoever made the sets."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from itertools import chain, combinations
from typing import NamedTuple, TypeAlias

from spor_tasks.aspects.arms import ARMS
from spor_tasks.aspects.numbers import LIMIT, divergence_of_counts, require_few_pairs
from spor_tasks.aspects.productivity import threshold_of
from spor_tasks.core.errors import SplitError, advice
from spor_tasks.core.sample import DataUnit, Hidden, Sample, Sets, Triple
from spor_tasks.text.normalize import display

_log = logging.getLogger(__name__)

Counted: TypeAlias = int | float | tuple[int, ...]
"""A tuple has one number for each arm, in their order."""


class Violation(NamedTuple):
    """A requirement that does not hold, in words, with the ids of the samples concerned by split.

    There are no ids where whole sets differ.
    """

    words: str
    samples: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, words: str, **samples: Sequence[Sample]) -> "Violation":
        """Return a violation by these samples of each split."""
        ids = {split: tuple(sample.id for sample in some) for split, some in samples.items()}
        return cls(words, {split: some for split, some in ids.items() if some})


class CheckResult(NamedTuple):
    """The counts of sets by name, the requirements that do not hold, and further warnings."""

    counts: Mapping[str, Counted]
    violations: tuple[Violation, ...]
    warnings: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """True if every requirement holds."""
        return not self.violations


def violated(pair: Sets) -> list[str]:
    """Return the requirements that the sets break, in words, before they are trained on.

    Raises:
        SplitError: they are strict sets, which must break none.
    """
    if pair.facts.aspect not in ARMS:  # a benchmark without aspects has no requirements
        return []
    violations = [violation.words for violation in check(pair).violations]
    listed = "; ".join(violations)
    if violations and pair.facts.protocol == "strict":
        raise SplitError(
            f"{pair.facts.aspect} {pair.facts.corpus} breaks the requirements of strict sets: "
            f"{listed}",
            remedy="Build the sets again.",
        )
    if count := len(violations):
        _log.warning("the published sets break %d of their requirements: %s", count, listed)
    return violations


def check(pair: Sets) -> CheckResult:
    """Check the sets of ``pair`` against the requirements of their aspect.

    In order invariance and rule learnability only the test samples are looked at.

    Raises:
        SplitError: the aspect or part is unknown, or an arm has nothing to count.
    """
    match pair.facts.aspect:
        case "systematicity":
            return systematicity(pair)
        case "productivity":
            return productivity(pair, threshold_of(pair.facts.part))
        case "order_invariance":  # the flaw of released sets
            missing = _distinct_units(pair.test) - _distinct_units(pair.arms["original"])
            concerned = [sample for sample in pair.test if not missing.isdisjoint(sample.units)]
            words = "units of the test set do not occur in training samples"
            violations = _of_faults(missing, words, test=concerned)
            return CheckResult({"missing_units": len(missing)}, tuple(violations))
        case "rule_learnability":
            return _rule_learnability(pair)
    raise SplitError(
        f"there is no aspect {pair.facts.aspect!r}", remedy=advice(pair.facts.aspect, ARMS)
    )


def systematicity(pair: Sets, *, limit: float = LIMIT) -> CheckResult:
    """Check the sets of ``pair``: Atom, Combination and their test set (section 3.1.1).

    Atoms are the units of the test set; test pairs are the unordered pairs of units within a test
    sample. The divergence is over atoms and at most ``limit``. More test pairs in Combination are
    better: a share below :data:`SHARE_FLOOR` is a warning.

    Raises:
        SplitError: an arm has no atom at all, or there are too many pairs of units.
    """
    atom, combination, test = pair.all.values()
    atoms = _distinct_units(test)
    occurrences = [
        Counter(unit for sample in arm for unit in set(sample.units) & atoms)
        for arm in (atom, combination)
    ]
    in_combination = shown_pairs(pair)
    test_pairs = {two for sample in test for two in _pairs(sample)}
    revealed = test_pairs.intersection(two for sample in atom for two in _pairs(sample))
    leaking = [sample for sample in atom if not revealed.isdisjoint(_pairs(sample))]
    touched = [sample for sample in test if not revealed.isdisjoint(_pairs(sample))]
    given_away = [sample for sample in touched if revealed.issuperset(_pairs(sample))]
    missing = [atoms - of_arm.keys() for of_arm in occurrences]
    copies = _copies(pair)
    totals, divergence = [each.total() for each in occurrences], divergence_of_counts(*occurrences)
    counts: dict[str, Counted] = {
        "missing_atoms": tuple(len(units) for units in missing),
        "test_samples_shown": tuple(len(samples) for samples in copies.values()),
        "pairs_in_atom": len(revealed),
        "atom_samples_with_pairs": len(leaking),
        "test_samples_touched": len(touched),
        "test_samples_given_away": len(given_away),
        "occurrences": tuple(totals),
        "divergence": divergence,
        "limit": limit,
        "pairs_in_combination": sum(
            two in test_pairs for sample in combination for two in _pairs(sample)
        ),
        "test_pairs": in_combination.pairs,
        "share_shown_in_combination": in_combination.share,
        "test_samples_without_one": in_combination.samples_without,
    }
    violations = [
        *_of_missing(pair, missing, "atoms"),
        *_of_copies(copies),
        *_of_faults(revealed, "test pairs occur in Atom", atom=leaking, test=touched),
        *_of_faults(given_away, "test samples have every pair in Atom", test=given_away),
        *_of_balance(
            "atoms occur {} times in Atom but {} times in Combination", totals, divergence, limit
        ),
    ]
    return CheckResult(counts, tuple(violations), warnings_of(pair))


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


def shown_pairs(pair: Sets) -> ShownPairs:
    """Count the pairs of test samples that Combination shows, in sets of systematicity.

    Raises:
        SplitError: there are too many pairs of units.
    """
    require_few_pairs(chain.from_iterable(pair.all.values()))
    tested = {two for sample in pair.test for two in _pairs(sample)}
    shown = tested.intersection(
        two for sample in pair.arms["combination"] for two in _pairs(sample)
    )
    without = sum(shown.isdisjoint(_pairs(sample)) for sample in pair.test)
    return ShownPairs(len(tested), len(shown), without)


def warnings_of(pair: Sets) -> tuple[str, ...]:
    """Return what weakens sets that break no requirement, in words."""
    if pair.facts.aspect != "systematicity" or (shown := shown_pairs(pair)).share >= SHARE_FLOOR:
        return ()
    few = f"Combination shows {shown.share:.0%} of the test samples' pairs"
    alike = f"no pair of {shown.samples_without:,} of {len(pair.test):,} samples"
    return (f"{few}, below the floor of {SHARE_FLOOR:.0%}, and {alike}",)


def productivity(pair: Sets, threshold: int, *, limit: float = LIMIT) -> CheckResult:
    """Check the sets of ``pair``: Invisible, Visible and their test set (section 3.2.1).

    The divergence is over all units and at most ``limit``. More samples of Visible with more than
    N units are better. The sets alone do not show whether Invisible has *all* training samples of
    at most ``threshold`` units, so this is not checked.

    Raises:
        SplitError: an arm has no unit.
    """
    n = threshold
    invisible, visible, test = pair.all.values()
    occurrences = [Counter(unit for s in arm for unit in s.units) for arm in (invisible, visible)]
    short = [sample for sample in test if len(sample.units) <= n]
    long_invisible = [sample for sample in invisible if len(sample.units) > n]
    long = [sample for sample in visible if len(sample.units) > n]
    ids = {sample.id for sample in invisible}
    foreign = [s for s in visible if len(s.units) <= n and s.id not in ids]
    missing = [_distinct_units(test) - of_arm.keys() for of_arm in occurrences]
    copies = _copies(pair)
    totals, divergence = [each.total() for each in occurrences], divergence_of_counts(*occurrences)
    counts: dict[str, Counted] = {
        "threshold": n,
        "short_in_test": len(short),
        "long_in_invisible": len(long_invisible),
        "missing_units": tuple(len(units) for units in missing),
        "test_samples_shown": tuple(len(samples) for samples in copies.values()),
        "short_not_in_invisible": len(foreign),
        "units": tuple(totals),
        "divergence": divergence,
        "limit": limit,
        "long_in_visible": len(long),
        "units_in_long": sum(len(sample.units) for sample in long),
    }
    many = f"samples of Invisible have more than {n} units"
    violations = [
        *_of_faults(short, f"test samples have at most {n} units", test=short),
        *_of_faults(long_invisible, many, invisible=long_invisible),
        *_of_missing(pair, missing, "units of the test set"),
        *_of_copies(copies),
        *_of_faults(foreign, "short samples of Visible are not in Invisible", visible=foreign),
        *_of_balance("Invisible has {} units but Visible {}", totals, divergence, limit),
    ]
    if not long:
        violations.append(Violation.of(f"no sample of Visible has more than {n} units"))
    return CheckResult(counts, tuple(violations))


def _rule_learnability(pair: Sets) -> CheckResult:
    """Count what the test samples hide: a phrase stands for it, and it stands nowhere itself."""
    plain, shown, phrases = list[Sample](), list[Sample](), 0
    for sample in pair.test:
        if not isinstance(sample.challenge, Hidden):
            plain.append(sample)
            continue
        phrases += len(sample.challenge.phrases)
        triples = [unit for unit in sample.units if isinstance(unit, Triple)]
        ends = {display(end).lower() for unit in triples for end in (unit.subject, unit.object)}
        for name, phrase in sample.challenge.phrases:
            if triples:
                is_hidden = name.lower() not in ends and phrase.lower() in ends
            else:
                is_hidden = {unit[-1] for unit in sample.units if unit[0] == name} == {phrase}
            if not is_hidden:
                shown.append(sample)
                break
    words = "test samples show what they hide, or lack a phrase for it"
    violations = [
        *_of_faults(plain, "test samples hide nothing", test=plain),
        *_of_faults(shown, words, test=shown),
    ]
    return CheckResult({"hidden": phrases, "shown_hidden": len(shown)}, tuple(violations))


# --- What both arms must have, and must not -------------------------------------------------------


def _distinct_units(samples: Iterable[Sample]) -> set[DataUnit]:
    return {unit for sample in samples for unit in sample.units}


def _pairs(sample: Sample) -> Iterator[tuple[DataUnit, DataUnit]]:
    """Yield the unordered pairs of the sample's units, each in one fixed order."""
    return combinations(sorted(set(sample.units)), 2)


def _of_faults(faults: Sized, words: str, **samples: Sequence[Sample]) -> Iterator[Violation]:
    """Yield the violation that there are faults, if there are any."""
    if faults:
        yield Violation.of(f"{len(faults)} {words}", **samples)


def _of_missing(pair: Sets, missing: Iterable[set[DataUnit]], words: str) -> Iterator[Violation]:
    """Yield a violation for each arm that lacks units of the test set."""
    for arm, units in zip(pair.arms, missing, strict=True):
        concerned = [s for s in pair.test if not units.isdisjoint(s.units)]
        yield from _of_faults(units, f"{words} do not occur in {arm.capitalize()}", test=concerned)


def _copies(pair: Sets) -> dict[str, list[Sample]]:
    """Return the samples of each arm that have exactly the units of some test sample."""
    tested = {frozenset(sample.units) for sample in pair.test}
    return {
        arm: [sample for sample in samples if frozenset(sample.units) in tested]
        for arm, samples in pair.arms.items()
    }


def _of_copies(copies: Mapping[str, list[Sample]]) -> Iterator[Violation]:
    words = "training samples have exactly the units of a test sample"
    return _of_faults([*chain(*copies.values())], words, **copies)


def _of_balance(
    words: str, totals: Sequence[int], divergence: float, limit: float
) -> Iterator[Violation]:
    """Yield what makes arms unlike; ``words`` say that they have other numbers of units."""
    if len(set(totals)) > 1:
        yield Violation.of(words.format(*totals))
    if not divergence <= limit:
        yield Violation.of(f"the divergence of the arms is {divergence:.4f}, more than {limit}")
