"""One sample with its marks, as text for the terminal. Nothing is computed."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import NamedTuple

from spor_tasks.core.sample import Hidden, Orders, Sample, side_of_each, sides
from spor_tasks.core.visible import visible
from spor_tasks.metrics.likelihood import Likelihood
from spor_tasks.metrics.totals import Value
from spor_tasks.report.cells import CellView, ShownRow, cells_of
from spor_tasks.report.exhibit import Exhibit, Told
from spor_tasks.report.marking import Kind, Marked, faults_of, has_attributes
from spor_tasks.report.view import TableView, view_of
from spor_tasks.results.logged import Reading, Record, alone
from spor_tasks.results.reading import TaskResult

WIDTH = 100

_SHOWN: dict[Kind, tuple[str, str]] = {  # a sign, and colours with underlines
    "unit": ("{}", "36;4"),
    "doubtful unit": ("{}?", "33;4"),
    "phrase": ("=", "32;4"),
    "leak": ("!", "31;7"),
    "inner leak": ("(!)", "31;4"),
}
_SOFT, _BOLD, _BAD, _GOOD = "2", "1", "31", "32"
_ROWS, _CELL = 12, 24  # rows of a table, and characters of a cell, that are shown
_SIDES, _SIGNS = ("text", "contrast"), ("*", "°")
_MEASURES: Mapping[str, Callable[[Likelihood], float | None]] = {
    "token": lambda found: found.per_token,
    "sum": lambda found: found.log,
    "byte": lambda found: found.per_byte,
}
_COLORS = re.compile(r"\x1b\[[\d;]*m")


def terminal(shown: Exhibit, *, color: bool = False, width: int = WIDTH) -> str:
    """Return the sample, then each run's outputs.

    Marks are brackets: ``[0: words]`` expresses unit 0, ``[0?: words]`` may express it,
    ``[=: words]`` copies a phrase, ``[!: words]`` leaks, and ``[(!): words]`` counts as a leak
    inside a word. With ``color`` the words are coloured as well.
    """
    first = shown.told[0].record
    task = _paint(visible(first.run.comparison), _BOLD)
    place = f"sample {shown.index}, {visible(first.sample.id)}"
    lines = [f"{task} {first.run.protocol}: {place}", *_sample(first.sample, width)]
    for told in shown.told:
        lines += ["", *_told(told, width)]
    text = "\n".join(lines)
    return text if color else _COLORS.sub("", text)  # what others wrote holds no such codes


def _paint(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if text and style else text


def _sample(sample: Sample, width: int) -> Iterator[str]:
    own, *twin = sides(sample)
    yield from _side(own, width)
    for side in twin:
        yield _paint(f"{'':<8}twin:", _SOFT)
        yield from _side(side, width)


def _side(sample: Sample, width: int) -> Iterator[str]:
    said = [sample.about(key) for key in ("name", "category")]
    if begins := sample.about("prefix"):
        said.append(f"begins “{begins}”")
    about = ", ".join(visible(text) for text in said if text)
    if about:
        yield f"{'':<8}{about}"
    if view := view_of(sample):
        yield from _table(view)
    if cells := cells_of(sample, _ROWS):
        yield from _cells(cells, width)
    for number, unit in enumerate(() if view else sample.units):
        yield f"    {f'[{number}]':<4}{visible(' | '.join(unit))}"
    if isinstance(sample.challenge, Hidden):
        for what, phrase in sample.challenge.phrases:
            yield f"        {visible(phrase)} hides {visible(what)}"
    for text in sample.references:
        yield from _wrapped([_Piece(visible(text))], width)


def _table(view: TableView) -> Iterator[str]:
    """Yield the title and the first rows, with signs at the columns that a text is about."""
    table = view.table
    signs = _SIGNS if len(view.columns) > 1 else _SIGNS[:1]
    names = [
        name + "".join(sign for sign, about in zip(signs, view.columns, strict=True) if at in about)
        for at, name in enumerate(table.header)
    ]
    shown = [[_short(cell) for cell in row] for row in (names, *table.rows[:_ROWS])]
    widths = [max(map(len, column)) for column in zip_longest(*shown, fillvalue="")]
    yield f"{'':<8}{_paint(visible(view.title), _BOLD)}"
    for row in shown:
        yield f"{'':<8}{'  '.join(map(str.ljust, row, widths)).rstrip()}"
    if (more := len(table.rows) - _ROWS) > 0:
        yield f"{'':<8}and {more:,} more rows"
    told = (f"{sign} columns of the {side}" for sign, side in zip(signs, _SIDES, strict=False))
    yield _paint(f"{'':<8}{', '.join(told)}", _SOFT)


def _short(text: str) -> str:
    shown = visible(" ".join(text.split()))
    return shown if len(shown) <= _CELL else f"{shown[: _CELL - 1]}…"


def _likelihoods(record: Record, width: int) -> Iterator[str]:
    """Yield given texts with their log likelihoods, and which of two is likelier."""
    for side, text, found in zip(_SIDES, record.scored, record.likelihoods, strict=False):
        each = "" if found.per_token is None else f", {found.per_token:.3f} by token"
        told = f"(log likelihood {found.log:.2f}{each}, {found.per_byte:.3f} by byte)"
        yield from _wrapped([_Piece(f"{side}: {visible(text)} "), _Piece(told, _SOFT)], width)
    if len(record.likelihoods) > 1:
        won = (f"by {name} {_likelier(record, of)}" for name, of in _MEASURES.items())
        yield f"        → likelier: {', '.join(won)}"


def _likelier(record: Record, of: Callable[[Likelihood], float | None]) -> str:
    one, other = map(of, record.likelihoods)
    if one is None or other is None:
        return "not known"
    return "neither" if one == other else _SIDES[one < other]


def _reading(reading: Reading, width: int) -> Iterator[str]:
    """Yield the program that an output was read as, with its verdict."""
    found = f"{reading.programs:,} programs found, search ended: {visible(reading.ended)}"
    if reading.program is None:
        yield f"        {found}"
        return
    verdict = "true" if reading.verdict else "false"
    told = f"read as {verdict}: {visible(reading.program)} ({found})"
    yield from _wrapped([_Piece(told)], width)


def _attributes(record: Record, who: str, width: int) -> Iterator[str]:
    """Yield which value of each aspect is found, and what was asked for if it is another one."""
    said = (
        f"{visible(aspect)} {visible(value)}"
        + ("" if value == asked else f" (asked: {visible(asked or 'none')})")
        for aspect, value, asked in record.said
    )
    yield from _wrapped([_Piece(f"{who}: {', '.join(said)}")], width)


def _told(told: Told, width: int) -> Iterator[str]:
    record, sample = told.record, told.record.sample
    yield _paint(run_name(record.run), _BOLD)
    scores = (
        f"{visible(name)} {_number(name, value)}"
        for name, value in record.scores.items()
        if value is not None or name not in record.run.spec.breakdown
    )
    for line in _wrapped([_Piece("  ".join(scores))], width, indent=4):
        yield _paint(line, _SOFT)
    if record.likelihoods:
        yield from _likelihoods(record, width)
        if record.said:
            yield from _attributes(record, "likeliest as", width)
        return
    asked = side_of_each(sample, len(told.outputs))
    for number, (side, output) in enumerate(zip(asked, told.outputs, strict=True)):
        if number and side is not asked[number - 1]:
            yield _paint("    of the twin:", _SOFT)
        if isinstance(side.challenge, Orders):
            inputs = side.challenge.inputs
            order = " ".join(map(str, inputs[number % len(inputs)]))
            yield _paint(f"    input order {order}:", _SOFT)
        yield from _wrapped(_pieces(output), width)
        yield from _said(output, side)
    if record.reading:
        yield from _reading(record.reading, width)
    if record.said:
        yield from _attributes(record, "judged as", width)
    found = faults_of(sample, told.outputs)
    names = [_paint(fault.value, _BAD) for fault in found] or [_paint("fine", _GOOD)]
    yield f"        → {', '.join(names)}"


def run_name(run: TaskResult) -> str:
    """Return what identifies a run within its task: model, arm and seed."""
    seed = None if run.seed is None else f"seed {run.seed}"
    return visible(", ".join(filter(None, [run.model, run.arm or "as is", seed])))


def _said(output: Marked, sample: Sample) -> Iterator[str]:
    if output.units and not has_attributes(sample):
        yield f"        not located: {' '.join(f'[{number}]' for number in output.units)}"
    if output.phrases and isinstance(sample.challenge, Hidden):
        phrases = (visible(sample.challenge.phrases[number][1]) for number in output.phrases)
        yield f"        not copied: {', '.join(phrases)}"
    if output.leaks:
        yield f"        leaked: {', '.join(map(visible, output.leaks))}"


class _Piece(NamedTuple):
    text: str
    style: str = ""


def _pieces(output: Marked) -> Iterator[_Piece]:
    """Yield the parts of the output in order, marked ones in brackets."""
    if not output.output.strip():
        yield _Piece("no output", _SOFT)
        return
    text, (at, end_of_scored) = output.output, output.scored
    if before := text[:at].strip():
        yield _Piece(f"(not scored: {visible(before)}) ", _SOFT)
    for start, end, labels in output.marks:
        yield _Piece(visible(text[at:start]))
        signs = " ".join(_SHOWN[label.kind][0].format(label.number) for label in labels)
        yield _Piece(f"[{signs}: {visible(text[start:end])}]", _SHOWN[labels[-1].kind][1])
        at = end
    yield _Piece(visible(text[at:end_of_scored]))
    if rest := text[end_of_scored:].strip():
        yield _Piece(f" (not scored: {visible(rest)})", _SOFT)


def _cells(view: CellView, width: int) -> Iterator[str]:
    """Yield the title and the rows around highlighted cells, which are numbered as units are."""
    yield f"{'':<8}{_paint(visible(view.title), _BOLD)}"
    for row in view.rows:
        yield from _wrapped(_row(row), width)


def _row(row: ShownRow) -> Iterator[_Piece]:
    if isinstance(row, int):
        yield _Piece(f"({row:,} {'row' if row == 1 else 'rows'} not shown)", _SOFT)
        return
    for number, cell in enumerate(row):
        before = " | " if number else ""
        if cell.hidden:
            yield _Piece(f"{before}({cell.hidden:,} cells not shown)", _SOFT)
        elif cell.units:
            units = " ".join(map(str, cell.units))
            yield _Piece(before)
            yield _Piece(f"[{units}: {_short(cell.text)}]", _SHOWN["unit"][1])
        else:
            yield _Piece(before + _short(cell.text), _BOLD if cell.header else "")


def _wrapped(pieces: Iterable[_Piece], width: int, *, indent: int = 8) -> Iterator[str]:
    """Yield lines of the pieces' words, broken at white space and painted word by word."""
    words: list[list[_Piece]] = [[]]
    for text, style in pieces:
        for part in re.split(r"( +)", text):
            if part.isspace():
                words.append([])
            elif part:
                words[-1].append(_Piece(part, style))
    line, used = "", 0
    for word in filter(None, words):
        length = sum(len(text) for text, _ in word)
        painted = "".join(_paint(text, style) for text, style in word)
        if used and indent + used + 1 + length > width:
            yield " " * indent + line
            line, used = "  " + painted, 2 + length
        else:
            line, used = (f"{line} {painted}", used + 1 + length) if used else (painted, length)
    yield " " * indent + line


def _number(name: str, value: Value) -> str:
    number = alone(name, value)
    return "–" if number is None else f"{number:.2f}"
