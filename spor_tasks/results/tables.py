"""Tables before any format: which number is in which cell, by arm or by metric."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

from spor_tasks.core.contracts import SetSpec
from spor_tasks.metrics.base import score_info
from spor_tasks.results.rows import Cell, Comparison
from spor_tasks.results.statistics import Interval


class Number(NamedTuple):
    """A cell with a number, its interval and mark, and the numbers of its notes."""

    value: str
    interval: str = ""
    mark: str = ""
    notes: tuple[int, ...] = ()


Content = str | Number
"""What a cell shows; a text may come from outside, such as a model's name."""

Line = tuple[Content, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """One table: our ``runs``, then the ``paper``'s rows, and numbered notes.

    ``caption`` applies to the whole table.
    """

    title: str
    caption: str
    header: tuple[str, ...]
    runs: tuple[Line, ...]
    paper: tuple[Line, ...]
    notes: tuple[str, ...]


_SOURCES = {
    "seeds": "interval over training seeds only, by Student's t",
    "stderr": "interval from lm-eval's standard error",
}


def label(metric: str) -> str:
    """Return a score's name in headers."""
    return score_info(metric).label


class _TitledRow(Protocol):
    @property
    def spec(self) -> SetSpec: ...
    @property
    def variant(self) -> str: ...


def section_title(row: _TitledRow) -> str:
    """Return the title of a row's sets, without their part, and how the task asks."""
    return ", ".join(filter(None, [row.spec.title, row.variant]))


def full_title(row: _TitledRow) -> str:
    """Return the title of a row's task, with the part of the sets."""
    return ", ".join(filter(None, [section_title(row), row.spec.part_title]))


class Notes:
    """Numbers the notes, each once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def numbers(self, *reasons: str | None) -> tuple[int, ...]:
        """Return the numbers of these notes, new ones for those that are new."""
        texts = (reason for reason in reasons if reason)
        return tuple(sorted(self._numbers.setdefault(r, len(self._numbers) + 1) for r in texts))

    @property
    def texts(self) -> tuple[str, ...]:
        """All notes, in the order of their numbers."""
        return tuple(self._numbers)


# --- One column for each arm ----------------------------------------------------------------------


def by_arm(rows: Sequence[Comparison], part: str = "part") -> Grid:
    """Return the rows with a column for each arm; ``part`` is the header of the parts."""
    arms = rows[0].spec.arms
    parts = any(row.part for row in rows)
    notes = Notes()

    def line(row: Comparison) -> Line:
        own_part = (row.spec.part_title or "").removeprefix(f"{part} = ")
        return (
            row.name,
            *((own_part,) if parts else ()),
            label(row.metric),
            "" if row.published else _cell(row.as_is, row.metric, notes),
            *(_cell(cell, row.metric, notes) for cell in row.arms),
            _difference(row, notes),
            samples_text(row),
            _seeds(row),
        )

    metrics = rows[0].spec.reported
    ordered = sorted(
        rows, key=lambda row: (row.published, row.part or "", metrics.index(row.metric))
    )
    lines = [(row.published, line(row)) for row in ordered]
    return Grid(
        section_title(rows[0]),
        detectable_text(rows),
        (
            "model",
            *((part,) if parts else ()),
            "metric",
            "as is",
            *(arm.capitalize() for arm in arms),
            " − ".join(arm.capitalize() for arm in arms),
            "n",
            "seeds",
        ),
        tuple(line for published, line in lines if not published),
        tuple(line for published, line in lines if published),
        notes.texts,
    )


# --- One column for each metric -------------------------------------------------------------------


Column = tuple[str | None, str]
"""A column: the part of the sets, and the metric."""


def by_metric(
    title: str,
    rows: Sequence[Comparison],
    header: Callable[[Column], str] | None = None,
    about: Iterable[str] = (),
) -> Grid:
    """Return the rows with a column for each metric, and a line for each arm.

    ``header`` makes the header of a column from the part of the sets and the metric. ``about`` are
    texts that follow the number of samples in the caption.
    """
    columns = tuple(dict.fromkeys((row.part, row.metric) for row in rows))
    models: dict[tuple[bool, str], dict[Column, Comparison]] = defaultdict(dict)
    for row in rows:
        models[row.published, row.name][row.part, row.metric] = row
    notes = Notes()
    runs: list[Line] = []
    paper: list[Line] = []
    for (published, *_), by_column in models.items():
        (paper if published else runs).extend(_model_lines(by_column, columns, notes))
    headers = map(header, columns) if header else (label(metric) for _, metric in columns)
    line = ("model", "arm", *headers, "seeds")
    caption = "; ".join(filter(None, [_counts(rows), *about, detectable_text(rows)]))
    return Grid(title, caption, line, tuple(runs), tuple(paper), notes.texts)


def _model_lines(
    by_column: Mapping[Column, Comparison], columns: Iterable[Column], notes: Notes
) -> Iterator[Line]:
    """Yield the lines of one model: as it is, each of its arms, and their difference."""
    rows = tuple(by_column.values())
    arms = rows[0].spec.arms
    measured = {part for part, _ in by_column}

    def line(arm: str, number: Callable[[Comparison], Number], seeds: str = "") -> Line:
        return (
            rows[0].name,
            arm,
            *(
                number(by_column[key]) if key in by_column else _missing(absent(key[0]), notes)
                for key in columns
            ),
            seeds,
        )

    def cell_of_arm(at: int, row: Comparison) -> Number:
        return _cell(row.arms[at], row.metric, notes)

    def absent(part: str | None) -> str:
        if rows[0].published:
            return "not in the paper"
        return "not measured" if part in measured else "no result of this task"

    if any(row.as_is.values for row in rows):
        yield line("as is", lambda row: _cell(row.as_is, row.metric, notes))
        if not any(cell.values for row in rows for cell in row.arms):
            return
    for at, arm in enumerate(arms):
        seeds = _seeds_of(row.arms[at] for row in rows)
        yield line(arm, partial(cell_of_arm, at), seeds)
    if any(row.difference for row in rows):
        yield line(" − ".join(arms), lambda row: _difference(row, notes))


def detectable_text(rows: Iterable[Comparison]) -> str:
    """Return the smallest differences between arms that so many samples and seeds would show."""
    smallest: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row.difference and row.difference.detectable is not None:
            smallest[row.metric].append(row.difference.detectable)
    texts = []
    for metric, differences in smallest.items():
        form = ".2f" if is_signed(metric) else ".1f"
        ends = dict.fromkeys(format(end, form) for end in (min(differences), max(differences)))
        texts.append(f"{label(metric)} {' to '.join(ends)}")
    return f"smallest difference found with 80 % power: {' · '.join(texts)}" if texts else ""


def _counts(rows: Iterable[Comparison]) -> str:
    """Return the numbers of samples of our rows, for each part if they differ."""
    sizes = tuple(dict.fromkeys((row.part, samples_text(row)) for row in rows if not row.published))
    if len({n for _, n in sizes}) == 1:
        return f"n = {sizes[0][1]}"
    return f"n = {', '.join(f'{n} ({part})' if part else n for part, n in sizes)}"


# --- Cells ----------------------------------------------------------------------------------------


def samples_text(row: Comparison) -> str:
    """Return the number of samples, and that of clusters or of the whole test if they differ."""
    if row.documents and row.n < row.documents:
        return f"{row.n:,} of {row.documents:,}: a trial"
    if row.clusters is None or row.clusters == row.n:
        return f"{row.n:,}"
    return f"{row.n:,} in {row.clusters:,} cluster{'' if row.clusters == 1 else 's'}"


def _missing(reason: str | None, notes: Notes) -> Number:
    return Number("", notes=notes.numbers(reason))


def _cell(cell: Cell, metric: str, notes: Notes) -> Number:
    if cell.mean is None:
        return _missing(cell.reason, notes)
    return Number(
        f"{cell.mean:+.2f}" if is_signed(metric) else f"{cell.mean:.2f}",
        _spread(cell, metric),
        notes=notes.numbers(cell.reason, source_text(cell.interval), *cell.notes),
    )


def _spread(cell: Cell, metric: str) -> str:
    """Return the interval, and the number of samples where they are some only."""
    ends = {min(cell.counts), max(cell.counts)} if cell.counts else set()
    counted = " to ".join(f"{n:,}" for n in sorted(ends))
    texts = (interval_text(cell.interval, metric), counted and f"n = {counted}")
    return "; ".join(filter(None, texts))


def _difference(row: Comparison, notes: Notes) -> Number:
    difference = row.difference
    if difference is None:
        return _missing("no difference without both arms", notes)
    notes_of_difference = (difference.reason, source_text(difference.interval), *difference.notes)
    reasons = () if row.published else notes_of_difference
    return Number(
        f"{difference.value:+.2f}",
        interval_text(difference.interval, row.metric),
        difference.mark,
        notes.numbers(*reasons),
    )


def is_signed(metric: str) -> bool:
    """Return whether a score may be negative, so that its sign is always written."""
    return score_info(metric).low < 0


def interval_text(interval: Interval | None, metric: str) -> str:
    """Return both ends: one digit for a score from 0 to some number, two for others."""
    if interval is None:
        return ""
    if is_signed(metric):
        return f"{interval.low:+.2f}, {interval.high:+.2f}"
    digits = 1 if math.isfinite(score_info(metric).high) else 2
    return f"{interval.low:.{digits}f}, {interval.high:.{digits}f}"


def source_text(interval: Interval | None) -> str | None:
    """Return the note on an interval that is not over samples; None if it needs no note."""
    return None if interval is None else _SOURCES.get(interval.source)


def _seeds(row: Comparison) -> str:
    """Return the training seeds, for each arm if they differ."""
    by_arm = {arm: _seeds_of([cell]) for arm, cell in row.by_arm}
    distinct = set(filter(None, by_arm.values()))
    if len(distinct) <= 1:  # an arm without a result has an empty cell, and needs no seeds
        return next(iter(distinct), "")
    return "; ".join(f"{arm} {seeds}" for arm, seeds in by_arm.items())


def _seeds_of(cells: Iterable[Cell]) -> str:
    seeds = {seed for cell in cells for seed in cell.trained_seeds}
    return ", ".join(map(str, sorted(seeds)))
