"""A table before any format: cells, lines, their sections, and the texts in them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from spor_tasks.results.facts import Declared, ScoreFacts
from spor_tasks.results.rows import Comparison
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
    """One table: our ``runs``, the ``floors``, the ``paper``'s rows, and notes by letter.

    ``caption`` applies to the whole table. ``legend`` says below it what its columns and arms are,
    and ``missing`` which of them lack a result, with the commands that would give it.
    """

    title: str
    caption: str
    header: tuple[str, ...]
    runs: tuple[Line, ...]
    paper: tuple[Line, ...]
    notes: Mapping[str, str]
    floors: tuple[Line, ...] = ()
    legend: str = ""
    missing: str = ""

    @property
    def sections(self) -> tuple[tuple[str, tuple[Line, ...]], ...]:
        """The lines with the title of their section, empty for our own if they are alone."""
        others = (
            (f"Floors: {_FLOORS}", self.floors),
            ("As published", self.paper),
        )
        shown = tuple((title, lines) for title, lines in others if lines)
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


def joined(separator: str, *texts: str | None) -> str:
    """Return the texts that are not empty, with the separator between them."""
    return separator.join(text for text in texts if text)


class _TitledRow(Protocol):
    @property
    def spec(self) -> Declared: ...
    @property
    def variant(self) -> str: ...


def section_title(row: _TitledRow) -> str:
    """Return the title of a row's sets, without their part, and how the task asks."""
    return joined(", ", row.spec.title, row.variant)


def full_title(row: _TitledRow) -> str:
    """Return the title of a row's task, with the part of the sets."""
    return joined(", ", section_title(row), row.spec.sets.part_title)


def samples_text(row: Comparison) -> str:
    """Return the number of samples, and that of clusters or of the whole test if they differ."""
    n, documents, clusters, _ = row.size
    if documents and n < documents:
        return f"{n:,} of {documents:,}: a trial"
    if clusters is None or clusters == n:
        return f"{n:,}"
    return f"{n:,} in {clusters:,} cluster{'' if clusters == 1 else 's'}"


def interval_text(interval: Interval | None, score: ScoreFacts) -> str:
    """Return both ends: one digit for a score from 0 to some number, two for others."""
    if interval is None:
        return ""
    if score.is_signed:
        return f"{interval.low:+.2f}, {interval.high:+.2f}"
    digits = 1 if math.isfinite(score.high) else 2
    return f"{interval.low:.{digits}f}, {interval.high:.{digits}f}"


def p_text(p: float | None) -> str:
    """Return a p with four digits, empty if there is none; a smaller one is no 0."""
    if p is None or math.isnan(p):
        return ""
    return f"{p:.4f}" if p >= _SMALLEST_P else f"<{_SMALLEST_P:.4f}"


def source_text(interval: Interval | None) -> str | None:
    """Return the note on an interval that is not over samples; None if it needs no note."""
    return None if interval is None else _SOURCES.get(interval.source)
