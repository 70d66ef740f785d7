"""A table before any format: cells, lines, their sections, and the texts in them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from spor_tasks.core.words import joined
from spor_tasks.results.facts import ScoreFacts
from spor_tasks.results.rows import Comparison
from spor_tasks.results.runs import Run
from spor_tasks.results.stats import Interval

_FLOORS = "copied inputs, and one reference against the others (held out)"

_SMALLEST_P = 1e-4
_SOURCES = {
    "seeds": "interval over training seeds only, by Student's t",
    "stderr": "interval from lm-eval's standard error",
}


class Number(NamedTuple):
    """A cell with a number, its interval and mark, and the letters of its notes."""

    value: str
    interval: str = ""
    mark: str = ""
    notes: tuple[str, ...] = ()


Content = str | Number
"""What a cell shows; a text may come from outside, such as a model's name."""

Line = tuple[Content, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """One table: its lines by the kind of their rows, and notes by letter.

    ``caption`` applies to the whole table. ``legend`` says below it what its columns and arms are,
    and ``missing`` which of them lack a result, with the commands that would give it.
    """

    title: str
    caption: str
    header: tuple[str, ...]
    lines: Mapping[str, Sequence[Line]]
    notes: Mapping[str, str] = field(default_factory=dict)
    legend: str = ""
    missing: str = ""

    @property
    def runs(self) -> Sequence[Line]:
        """The lines of our runs."""
        return self.lines.get("run", ())

    @property
    def sections(self) -> tuple[tuple[str, Sequence[Line]], ...]:
        """The lines with the title of their section, empty for our own if they are alone."""
        others = {"floor": f"Floors: {_FLOORS}", "published": "As published"}
        shown = [(title, self.lines[kind]) for kind, title in others.items() if kind in self.lines]
        return (("Runs" if shown else "", self.runs), *shown)


class Notes:
    """Gives each note a letter: a to z, then aa."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def letters(self, *reasons: str | None) -> tuple[str, ...]:
        """Return the letters of these notes, new ones for those that are new."""
        texts = (reason for reason in reasons if reason)
        numbers = (self._numbers.setdefault(text, len(self._numbers)) for text in texts)
        return tuple(map(_letter, sorted(numbers)))

    @property
    def texts(self) -> dict[str, str]:
        """All notes by their letters, in order."""
        return {_letter(number): text for text, number in self._numbers.items()}


def _letter(number: int) -> str:
    more, last = divmod(number, 26)
    return (_letter(more - 1) if more else "") + chr(ord("a") + last)


def repeated(rows: Iterable[Comparison]) -> set[str]:
    """Return the scores that are in every row what the scores are that they correct.

    Nothing but their name would differ in a table. The score that a task is read by is none.
    """
    values = {
        (row.kind, row.name, row.task, row.metric): [each.values for each in (*row.arms, row.as_is)]
        for row in rows
        if row.kind != "published"
    }
    same: dict[str, bool] = {}
    for row in rows:
        place, corrected = (row.kind, row.name, row.task), row.score.corrects
        if corrected and row.kind != "published" and row.metric != row.spec.headline:
            is_same = values[*place, row.metric] == values.get((*place, corrected))
            same[row.metric] = same.get(row.metric, True) and is_same
    return {metric for metric, is_same in same.items() if is_same}


def section_title(row: Run | Comparison) -> str:
    """Return the title of a row's sets, without their part, and how the task asks."""
    return joined(", ", row.spec.title, row.variant)


def full_title(row: Run | Comparison) -> str:
    """Return the title of a row's task, with the part of the sets."""
    return joined(", ", section_title(row), row.spec.sets.part_title)


def samples_text(row: Comparison) -> str:
    """Return the number of samples, and that of clusters or of the whole test if they differ."""
    n, documents, clusters, _ = row.size
    if documents and n < documents:
        return f"{n:,} of {documents:,}: a trial"
    many = "" if clusters == 1 else "s"
    return f"{n:,}" if clusters in {None, n} else f"{n:,} in {clusters:,} cluster{many}"


def interval_text(interval: Interval | None, score: ScoreFacts) -> str:
    """Return both ends: one digit for a score from 0 to some number, two for others."""
    form = "+.2f" if score.is_signed else ".1f" if math.isfinite(score.high) else ".2f"
    ends = (interval.low, interval.high) if interval else ()
    return ", ".join(format(end, form) for end in ends)


def p_text(p: float | None) -> str:
    """Return a p with four digits, empty if there is none; a smaller one is no 0."""
    if p is None or math.isnan(p):
        return ""
    return f"{p:.4f}" if p >= _SMALLEST_P else f"<{_SMALLEST_P:.4f}"


def source_text(interval: Interval | None) -> str | None:
    """Return the note on an interval that is not over samples; None if it needs no note."""
    return None if interval is None else _SOURCES.get(interval.source)
