"""Views of the outputs for a sample, which the page and the terminal share."""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Literal

from spor_tasks.core.sample import Hidden, Orders, Sample, side_of_each, sides
from spor_tasks.core.table import CellTable
from spor_tasks.report.marking import (
    Fault,
    Marked,
    faults_of,
    has_attributes,
    is_wordless,
    marks_of,
)
from spor_tasks.report.sample_table import SIDES
from spor_tasks.results.samples import Record

Verdict = Literal["expressed", "missing", "in doubt", "without words"]
"""What an output does with a data unit."""


@dataclass(frozen=True, slots=True)
class OutputView:
    """An output with its marks.

    ``purpose`` tells it from the sample's other outputs: the twin, an input order, the side of a
    pair. ``verdicts`` are those on the units of its side of the sample, if there are any. ``notes``
    say what it lacks and what it leaks.
    """

    marked: Marked
    purpose: str
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecordView:
    """The outputs for a sample, the faults of all, and notes on what was measured of them."""

    outputs: tuple[OutputView, ...]
    faults: tuple[Fault, ...]
    notes: tuple[str, ...]


def view_of(record: Record) -> RecordView:
    """Return what is shown of a record's outputs."""
    marked = marks_of(record)
    output_of = _of_text if record.likelihoods else _output
    outputs = (output_of(record, number, each, len(marked)) for number, each in enumerate(marked))
    return RecordView(tuple(outputs), faults_of(record.sample, marked), tuple(_notes(record)))


def _of_text(record: Record, number: int, marked: Marked, count: int) -> OutputView:
    """Return a given text with its likelihood; of a pair each text has a side."""
    likelihood = record.likelihoods[number]
    each = "" if likelihood.per_token is None else f", {likelihood.per_token:.3f} by token"
    note = f"log likelihood {likelihood.log:.2f}{each}, {likelihood.per_byte:.3f} by byte"
    return OutputView(marked, SIDES[number] if count > 1 else "", (), (note,))


def _output(record: Record, number: int, marked: Marked, count: int) -> OutputView:
    owner = side_of_each(record.sample, count)[number]
    purposes = []
    if len(sides(record.sample)) > 1:
        purposes.append("the original" if number < count / 2 else "the twin")
    if isinstance(owner.challenge, Orders):
        order = owner.challenge.inputs[number % len(owner.challenge.inputs)]
        purposes.append(f"input order {' '.join(map(str, order))}")
    verdicts = tuple(_verdicts(record, owner, marked))
    return OutputView(marked, ", ".join(purposes), verdicts, tuple(_lacks(owner, marked)))


def _verdicts(record: Record, owner: Sample, marked: Marked) -> Iterator[Verdict]:
    """Yield the verdict on each unit; none on linked columns and attributes that nobody judged."""
    of_cells = isinstance(owner.table, CellTable)
    is_judged = len(record.recognized) == len(owner.units)
    if not is_judged if has_attributes(owner) else "table" in owner.context and not of_cells:
        return
    labels = (label for mark in marked.marks for label in mark.labels)
    doubtful = {label.number for label in labels if label.kind == "doubtful unit"}
    for number, unit in enumerate(owner.units):
        if number in marked.units:
            yield "missing"
        elif number in doubtful:
            yield "in doubt"
        elif of_cells and is_wordless(unit):
            yield "without words"
        else:
            yield "expressed"


def _lacks(owner: Sample, marked: Marked) -> Iterator[str]:
    if marked.units and not has_attributes(owner):
        yield f"not located: {' '.join(f'[{number}]' for number in marked.units)}"
    if marked.phrases and isinstance(owner.challenge, Hidden):
        phrases = (owner.challenge.phrases[number][1] for number in marked.phrases)
        yield f"not copied: {', '.join(phrases)}"
    if marked.leaks:
        yield f"leaked: {', '.join(marked.leaks)}"


# --- What was measured ---------------------------------------------------------------------------


def _notes(record: Record) -> Iterator[str]:
    if len(record.likelihoods) > 1:
        units = {"token": "per_token", "sum": "log", "byte": "per_byte"}
        winners = (
            f"by {unit} {_likelier(*map(attrgetter(name), record.likelihoods))}"
            for unit, name in units.items()
        )
        yield f"likelier: {', '.join(winners)}"
    if reading := record.reading:
        search = f"{reading.programs:,} programs found, search ended: {reading.ended}"
        verdict = "true" if reading.verdict else "false"
        yield f"read as {verdict}: {reading.program} ({search})" if reading.program else search
    if record.recognized:
        values = (
            f"{aspect} {value}" + ("" if value == wish else f" (requested: {wish or 'none'})")
            for aspect, value, wish in record.recognized
        )
        yield f"{'likeliest' if record.likelihoods else 'judged'} as: {', '.join(values)}"


def _likelier(text: float | None, contrast: float | None) -> str:
    if text is None or contrast is None:
        return "not known"
    return "neither" if text == contrast else SIDES[text < contrast]
