"""Views of a sample and of the outputs for it, which page and terminal share.

The page gets them as they are, without the fields that have their default.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from spor_tasks.core.sample import DataUnit, Hidden, Orders, Sample, side_of_each, sides
from spor_tasks.core.table import CellTable
from spor_tasks.metrics.groups import memberships
from spor_tasks.report.marking import (
    Extent,
    Fault,
    Marked,
    faults_of,
    is_wordless,
    mark,
)
from spor_tasks.report.sample_table import SIDES, TableView, table_view
from spor_tasks.results.runs import Run
from spor_tasks.results.samples import Record, alone

AS_IS = "as is"
"""The arm of a model as it is."""

Verdict = Literal["expressed", "missing", "in doubt", "without words"]
"""What an output does with a data unit."""


class SampleView(msgspec.Struct, frozen=True, omit_defaults=True):
    """A sample without its twin.

    ``about`` are facts about it in a few words, and ``section`` is the text of the section that
    its table is from. ``hidden`` pairs hidden strings with the phrases that its units show.
    """

    id: str
    about: tuple[str, ...]
    units: tuple[DataUnit, ...]
    references: tuple[str, ...]
    hidden: tuple[tuple[str, str], ...] = ()
    table: TableView | None = None
    section: str | None = None
    fields: tuple[tuple[str, str], ...] = ()
    """The document of a task that is not ours, field by field."""


class OutputView(msgspec.Struct, frozen=True, omit_defaults=True):
    """An output with its marks.

    ``purpose`` tells it from the sample's other outputs: the twin, an input order, the side of a
    pair. ``verdicts`` are those on the units of its side of the sample, if there are any. ``notes``
    say what it lacks and what it leaks.
    """

    marked: Marked
    purpose: str = ""
    verdicts: tuple[Verdict, ...] = ()
    notes: tuple[str, ...] = ()


class RecordView(msgspec.Struct, frozen=True, omit_defaults=True):
    """The outputs for a sample, and what was measured of all of them.

    ``scores`` are to four digits, the task's headline first, without those that have no verdict.
    ``faults`` are None where texts were given, of which there is nothing to mark.
    """

    outputs: tuple[OutputView, ...]
    scores: Mapping[str, float]
    faults: tuple[Fault, ...] | None = None
    notes: tuple[str, ...] = ()

    @property
    def faultless(self) -> str:
        """Outputs without faults, by what was tested: their values, or only their form."""
        is_judged = all(output.verdicts for output in self.outputs)
        return "all values found" if is_judged else "no fault of form"


# --- The sample -----------------------------------------------------------------------------------


def run_name(run: Run) -> str:
    """Return the arm of a run, and the seed of its training."""
    arm = run.arm or AS_IS
    return arm if run.seed is None else f"{arm}, seed {run.seed}"


def category_of(sample: Sample) -> str | None:
    """Return the category or dialogue act of a sample, or the group of samples it belongs to."""
    return sample.about("category") or sample.about("act") or next(iter(memberships(sample)), None)


def sample_views(sample: Sample, most_rows: int | None = None) -> tuple[SampleView, ...]:
    """Return what is shown of a sample, and of its twin if it has one.

    ``most_rows`` limits the rows of a table without highlighted cells.
    """
    views = []
    for side in sides(sample):
        prefix = side.about("prefix")
        about = (side.about("name"), category_of(side), prefix and f"begins “{prefix}”")
        views.append(
            SampleView(
                id=side.id,
                about=tuple(fact for fact in about if fact),
                units=side.units,
                references=side.references,
                hidden=side.challenge.phrases if isinstance(side.challenge, Hidden) else (),
                table=table_view(side, most_rows),
                section=side.about("section_text"),
            )
        )
    return tuple(views)


# --- The outputs ----------------------------------------------------------------------------------


def view_of(record: Record) -> RecordView:
    """Return what is shown of a record's outputs."""
    declared, scores = record.run.spec, {}
    for name in sorted(record.scores, key=lambda name: name != declared.headline):
        value = alone(declared, name, record.scores[name])
        if value is not None and math.isfinite(value):
            scores[name] = round(value, 4)
    notes, outputs = tuple(_notes(record)), list[OutputView]()
    if not record.likelihoods:
        owners = side_of_each(record.sample, len(record.outputs))
        for number, owner in enumerate(owners):
            output, text = record.outputs[number], record.scored[number]
            marked = mark(owner, output, text, record.recognized)
            outputs.append(_output(record, number, owner, marked))
        faults = faults_of(record.sample, [output.marked for output in outputs])
        return RecordView(tuple(outputs), scores, faults, notes)
    purposes = SIDES if len(record.scored) > 1 else ("",)  # of a pair each text has a side
    for text, likelihood, purpose in zip(record.scored, record.likelihoods, purposes, strict=True):
        token = "" if likelihood.per_token is None else f", {likelihood.per_token:.3f} by token"
        note = f"log likelihood {likelihood.log:.2f}{token}, {likelihood.per_byte:.3f} by byte"
        outputs.append(OutputView(Marked(text, Extent(0, len(text))), purpose, notes=(note,)))
    return RecordView(tuple(outputs), scores, notes=notes)


def _output(record: Record, number: int, owner: Sample, marked: Marked) -> OutputView:
    """Return what is shown of one output for the side of the sample that owns it."""
    purposes, challenge = [], owner.challenge
    if record.sample.twin:
        is_own = number < len(record.outputs) / 2
        purposes.append("the original" if is_own else "the twin")
    if isinstance(challenge, Orders):
        order = challenge.inputs[number % len(challenge.inputs)]
        purposes.append(f"input order {' '.join(map(str, order))}")
    hidden = challenge.phrases if isinstance(challenge, Hidden) else ()
    units = () if owner.has_attributes else marked.units
    notes = {
        "not located": " ".join(f"[{unit}]" for unit in units),
        "not copied": ", ".join(hidden[phrase][1] for phrase in marked.phrases),
        "leaked": ", ".join(marked.leaks),
        "slot errors": ", ".join(marked.slots),
    }
    return OutputView(
        marked,
        ", ".join(purposes),
        tuple(_verdicts(record, owner, marked)),
        tuple(f"{what}: {text}" for what, text in notes.items() if text),
    )


def _verdicts(record: Record, owner: Sample, marked: Marked) -> Iterator[Verdict]:
    """Yield the verdict on each unit; none on linked columns and attributes that nobody judged."""
    of_cells = isinstance(owner.table, CellTable)
    is_judged = of_cells or not owner.table
    if owner.has_attributes:
        is_judged = len(record.recognized) == len(owner.units)
    labels = {label for mark in marked.marks for label in mark.labels}
    for number, unit in enumerate(owner.units if is_judged else ()):
        if number in marked.units:
            yield "missing"
        elif ("doubtful unit", number) in labels:
            yield "in doubt"
        else:
            yield "without words" if of_cells and is_wordless(unit) else "expressed"


def _notes(record: Record) -> Iterator[str]:
    """Yield what was measured of all outputs together."""
    if len(record.likelihoods) > 1:
        winners = []
        for unit, name in (("token", "per_token"), ("sum", "log"), ("byte", "per_byte")):
            text, contrast = (getattr(each, name) for each in record.likelihoods)
            if text is None or contrast is None:
                likelier = "not known"
            else:
                likelier = "neither" if text == contrast else SIDES[0 if text > contrast else 1]
            winners.append(f"by {unit} {likelier}")
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
