"""One sample with its marks, as text for the terminal. Nothing is computed."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from spor_tasks.core.sample import Hidden, Sample, sides
from spor_tasks.core.visible import visible
from spor_tasks.metrics.totals import Value
from spor_tasks.report.exhibit import Exhibit
from spor_tasks.report.marking import Kind, Marked
from spor_tasks.report.sample_table import ShownCell, ShownRow, TableView, table_view
from spor_tasks.report.views import RecordView
from spor_tasks.results.logged import Record, alone
from spor_tasks.results.reading import TaskResult

WIDTH = 100

_MARKS: dict[Kind, tuple[str, str]] = {  # a sign, and colours with underlines
    "unit": ("{}", "36;4"),
    "doubtful unit": ("{}?", "33;4"),
    "phrase": ("=", "32;4"),
    "leak": ("!", "31;7"),
    "inner leak": ("(!)", "31;4"),
}
_SOFT, _BOLD, _BAD, _GOOD = "2", "1", "31", "32"
_ROWS, _CELL = 12, 24  # rows of a table, and characters of a cell, that are shown
_SIGNS = "*°"  # of columns that the text, or the contrast, is linked to
_COLORS = re.compile(r"\x1b\[[\d;]*m")


class _Piece(NamedTuple):
    """A part of a line, and its style; the text may come from outside."""

    text: str
    style: str = ""


class _Line(NamedTuple):
    pieces: Iterable[_Piece]
    indent: int = 8


def _line(text: str, style: str = "", indent: int = 8) -> _Line:
    return _Line([_Piece(text, style)], indent)


def terminal(exhibit: Exhibit, *, color: bool = False, width: int = WIDTH) -> str:
    """Return the sample, then each run's outputs.

    Marks are brackets: ``[0: words]`` expresses unit 0, ``[0?: words]`` may express it,
    ``[=: words]`` copies a phrase, ``[!: words]`` leaks, and ``[(!): words]`` counts as a leak
    inside a word. With ``color`` the words are coloured as well.
    """
    first, _ = exhibit.runs[0]
    place = f" {first.run.protocol}: sample {exhibit.index}, {first.sample.id}"
    lines = [_Line([_Piece(first.run.comparison, _BOLD), _Piece(place)], 0)]
    for number, side in enumerate(sides(first.sample)):
        lines += [*([_line("twin:", _SOFT)] if number else []), *_side(side)]
    for record, view in exhibit.runs:
        lines += [_line(""), *_run(record, view)]
    text = "\n".join(wrapped for line in lines for wrapped in _wrapped(line, width))
    return text if color else _COLORS.sub("", text)  # texts from outside have no such codes


def run_name(run: TaskResult) -> str:
    """Return what identifies a run within its task: model, arm and seed."""
    seed = None if run.seed is None else f"seed {run.seed}"
    return ", ".join(filter(None, [run.model, run.arm or "as is", seed]))


# --- A sample ------------------------------------------------------------------------------------


def _side(sample: Sample) -> Iterator[_Line]:
    begins = sample.about("prefix")
    about = [sample.about("name"), sample.about("category"), begins and f"begins “{begins}”"]
    if any(about):
        yield _line(", ".join(filter(None, about)))
    table = table_view(sample, _ROWS)
    if table:
        yield from _table(table)
    if not (table and table.linked):
        for number, unit in enumerate(sample.units):
            yield _line(f"{f'[{number}]':<4}{' | '.join(unit)}", indent=4)
    if isinstance(sample.challenge, Hidden):
        yield from (_line(f"{phrase} hides {what}") for what, phrase in sample.challenge.phrases)
    yield from map(_line, sample.references)


def _table(view: TableView) -> Iterator[_Line]:
    yield _line(view.title, _BOLD)
    yield from (_Line(_row(row)) for row in view.rows)
    if view.linked:
        yield _line("* columns of the text, ° columns of the contrast", _SOFT)


def _row(row: ShownRow) -> Iterator[_Piece]:
    if isinstance(row, int):
        yield _Piece(f"({row:,} {'row' if row == 1 else 'rows'} not shown)", _SOFT)
        return
    for number, cell in enumerate(row):
        yield _Piece(" | " if number else "")
        yield _cell(cell)


def _cell(cell: ShownCell) -> _Piece:
    text = " ".join(cell.text.split())
    text = text if len(text) <= _CELL else f"{text[: _CELL - 1]}…"
    if cell.units:
        return _Piece(f"[{' '.join(map(str, cell.units))}: {text}]", _MARKS["unit"][1])
    signs = "".join(_SIGNS[side] for side in cell.sides if cell.header)
    return _Piece(text + signs, _BOLD if cell.header else "")


# --- The outputs of a run ------------------------------------------------------------------------


def _run(record: Record, view: RecordView) -> Iterator[_Line]:
    yield _line(run_name(record.run), _BOLD, 0)
    scores = (
        f"{name} {_number(name, value)}"
        for name, value in record.scores.items()
        if value is not None or name not in record.run.spec.breakdown
    )
    yield _line("  ".join(scores), _SOFT, 4)
    for output in view.outputs:
        if output.purpose:
            yield _line(f"{output.purpose}:", _SOFT, 4)
        yield _Line(_pieces(output.marked))
        yield from map(_line, output.notes)
    yield from map(_line, view.notes)
    if not record.likelihoods:
        faults = ", ".join(view.faults)
        yield _Line([_Piece("→ "), _Piece(faults or "fine", _BAD if faults else _GOOD)])


def _pieces(output: Marked) -> Iterator[_Piece]:
    """Yield the parts of the output in order, marked ones in brackets."""
    if not output.output.strip():
        yield _Piece("no output", _SOFT)
        return
    text, (at, end_of_scored) = output.output, output.scored
    if before := text[:at].strip():
        yield _Piece(f"(not scored: {before}) ", _SOFT)
    for start, end, labels in output.marks:
        yield _Piece(text[at:start])
        signs = " ".join(_MARKS[label.kind][0].format(label.number) for label in labels)
        yield _Piece(f"[{signs}: {text[start:end]}]", _MARKS[labels[-1].kind][1])
        at = end
    yield _Piece(text[at:end_of_scored])
    if rest := text[end_of_scored:].strip():
        yield _Piece(f" (not scored: {rest})", _SOFT)


def _number(name: str, value: Value) -> str:
    number = alone(name, value)
    return "–" if number is None else f"{number:.2f}"


# --- Lines ---------------------------------------------------------------------------------------


def _wrapped(line: _Line, width: int) -> Iterator[str]:
    """Yield a line broken at spaces and painted word by word, without control characters."""
    words: list[list[_Piece]] = [[]]
    for text, style in line.pieces:
        for part in re.split(r"( +)", visible(text)):
            if part.isspace():
                words.append([])
            elif part:
                words[-1].append(_Piece(part, style))
    row, used = "", 0
    for word in filter(None, words):
        length = sum(len(text) for text, _ in word)
        painted = "".join(f"\x1b[{style}m{text}\x1b[0m" if style else text for text, style in word)
        if used and line.indent + used + 1 + length > width:
            yield " " * line.indent + row
            row, used = "  " + painted, 2 + length
        else:
            row, used = (f"{row} {painted}", used + 1 + length) if used else (painted, length)
    yield (" " * line.indent + row).rstrip()
