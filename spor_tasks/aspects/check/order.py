"""The requirements of order invariance: units in the order of the text, and tests in two orders.

This shares no code with the builder: the builder sorts units, the check compares them in pairs.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from spor_tasks.aspects.check.result import CheckResult, unless_equal, unless_none
from spor_tasks.core.sample import DataUnit, Orders, Sample, SplitPair
from spor_tasks.text import align


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderInvariance(CheckResult):
    """Counts of Original, Match and one of their test sets (section 3.3)."""

    references: int
    """References of Original."""
    matches: int
    """Samples of Match; there must be one for each reference."""
    foreign_matches: int
    """Samples of Match that are not a reference of Original with the same units."""
    matches_out_of_order: int
    """Samples of Match whose units are not in the order of the text."""
    missing_units: int
    """Units of the test set that no training sample has."""
    single_units: int
    """Test samples with a single unit, in the parts that test orders."""
    not_shown_twice: int
    """Test samples without two different input orders, in the part that compares them."""
    misread_references: int
    """Test samples with orders, and a reference that does not mention every unit in its order."""


def order_invariance(pair: SplitPair) -> OrderInvariance:
    """Check the sets of ``pair`` (Original, Match; test).

    Every text is aligned again, which takes seconds on a real corpus.
    """
    original, match, test = (split.samples for split in pair.splits)
    references = sum(len(sample.references) for sample in original)
    foreign, displaced = _compare(match, original)
    known = {unit for sample in original for unit in sample.units}
    missing = {unit for sample in test for unit in sample.units} - known
    single = [s for s in test if len(s.units) == 1 and pair.part != "performance"]
    once = [sample for sample in test if pair.part == "main" and not _shown_twice(sample)]
    misread = [
        sample
        for sample in test
        if isinstance(sample.challenge, Orders) and not _reads_as_told(sample, sample.challenge)
    ]
    return OrderInvariance(
        references=references,
        matches=len(match),
        foreign_matches=len(foreign),
        matches_out_of_order=len(displaced),
        missing_units=len(missing),
        single_units=len(single),
        not_shown_twice=len(once),
        misread_references=len(misread),
        violations=(
            *unless_equal(
                (references, len(match)),
                "Original has {} references but Match {} samples",
            ),
            *unless_none(foreign, "samples of Match are not references of Original", match=foreign),
            *unless_none(
                displaced,
                "samples of Match do not have their units in the order of the text",
                match=displaced,
            ),
            *unless_none(
                missing,
                "units of the test set do not occur in training samples",
                test=[sample for sample in test if not missing.isdisjoint(sample.units)],
            ),
            *unless_none(single, "test samples have a single unit", test=single),
            *unless_none(once, "test samples are not shown in two different orders", test=once),
            *unless_none(
                misread,
                "test samples have a reference that does not mention every unit in its order",
                test=misread,
            ),
        ),
    )


def _shown_twice(sample: Sample) -> bool:
    return isinstance(sample.challenge, Orders) and len(set(sample.challenge.inputs)) > 1


def _reads_as_told(sample: Sample, orders: Orders) -> bool:
    """Return whether every reference mentions every unit, in the order that the sample states."""
    if len(orders.references) != len(sample.references):
        return False
    for text, order in zip(sample.references, orders.references, strict=True):
        places = align.locate(sample.units, text, strict=False)
        if None in places or sorted(order) != list(range(len(places))):
            return False
        if not _is_order_of_text(order, places):
            return False
    return True


def _compare(
    match: Iterable[Sample], original: Iterable[Sample]
) -> tuple[list[Sample], list[Sample]]:
    """Return the samples of Match that are not references of Original, and those in a wrong order.

    Each reference counts once.
    """
    untold: dict[Hashable, list[Sample]] = defaultdict(list)
    for sample in original:
        for text in sample.references:
            untold[_content(sample, text)].append(sample)
    left = []
    for sample in match:
        sources = untold[_content(sample, *sample.references)]
        ordered = (number for number, source in enumerate(sources) if _is_ordered(sample, source))
        number = next(ordered, None)
        if number is None:
            left.append(sample)
        else:
            del sources[number]
    foreign: list[Sample] = []
    displaced: list[Sample] = []
    for sample in left:
        sources = untold[_content(sample, *sample.references)]
        (displaced if sources else foreign).append(sample)
        del sources[:1]
    return foreign, displaced


def _content(sample: Sample, *texts: str) -> Hashable:
    return sample.about("name"), tuple(sorted(sample.units)), texts


def _is_ordered(sample: Sample, source: Sample) -> bool:
    """Return whether a sample of Match has its source's units in the order of the text.

    Units that the text does not mention come last. They keep the order of the source, and so do
    units that are mentioned at the same place.
    """
    (text,) = sample.references
    left: dict[DataUnit, list[int]] = defaultdict(list)
    for number, unit in enumerate(source.units):
        left[unit].append(number)
    order = [left[unit].pop(0) for unit in sample.units]
    return _is_order_of_text(order, align.locate(source.units, text, strict=False))


def _is_order_of_text(order: Sequence[int], places: Sequence[int | None]) -> bool:
    return all(_precedes(one, other, places) for one, other in combinations(order, 2))


def _precedes(one: int, other: int, places: Sequence[int | None]) -> bool:
    """Return whether unit ``one`` comes before unit ``other``; both are indices in corpus order."""
    here, there = places[one], places[other]
    if here == there:
        return one < other
    return there is None or (here is not None and here < there)
