"""The requirements of order invariance: units in the order of the text, and tests in two orders.

This shares no code with the builder, except what finds units in a text.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from spor_tasks.aspects.check.result import CheckResult, unless_equal, unless_none
from spor_tasks.core.sample import Orders, Sample, SplitPair
from spor_tasks.text import align


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderInvariance(CheckResult):
    """Counts of Original, Match and one of their test sets (section 3.3).

    Match must have one sample for each reference of Original, with the same units. Single units are
    counted in the parts that test orders, samples that are not shown twice in the part that
    compares two orders.
    """

    references: Annotated[int, "references of Original"]
    matches: Annotated[int, "samples of Match"]
    foreign_matches: Annotated[int, "samples of Match that are not references of Original"]
    matches_out_of_order: Annotated[int, "samples of Match that are not in the order of the text"]
    missing_units: Annotated[int, "test units that do not occur in training samples"]
    single_units: Annotated[int, "test samples with a single unit"]
    not_shown_twice: Annotated[int, "test samples without two different input orders"]
    misread_references: Annotated[int, "test samples with a reference in another order"]


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
    misread = [sample for sample in test if not _reads_as_told(sample)]
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
                (references, len(match)), "Original has {} references but Match {} samples"
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
    orders = sample.challenge
    return isinstance(orders, Orders) and len(set(orders.inputs)) > 1


def _reads_as_told(sample: Sample) -> bool:
    """Return whether every reference mentions every unit, in the order that the sample states."""
    if not isinstance(sample.challenge, Orders):
        return True
    places = [align.locate(sample.units, text, strict=False) for text in sample.references]
    orders = [list(order) for order in sample.challenge.references]
    return orders == list(map(_order_of_text, places)) and not any(None in each for each in places)


def _compare(
    match: Iterable[Sample], original: Iterable[Sample]
) -> tuple[list[Sample], list[Sample]]:
    """Return the samples of Match that are not references of Original, and those in a wrong order.

    Each reference counts once, for a sample in the right order if there is one.
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
    """Return whether a sample of Match has its source's units in the order of the text."""
    (text,) = sample.references
    order = _order_of_text(align.locate(source.units, text, strict=False))
    return sample.units == tuple(source.units[unit] for unit in order)


def _order_of_text(places: Sequence[int | None]) -> list[int]:
    """Return the units by where the text mentions them, those that it does not mention last.

    Units at the same place, or at none, keep the order of the corpus.
    """
    mentioned = [(place, unit) for unit, place in enumerate(places) if place is not None]
    others = [unit for unit, place in enumerate(places) if place is None]
    return [unit for _, unit in sorted(mentioned)] + others
