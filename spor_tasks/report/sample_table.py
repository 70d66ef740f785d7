"""The table that a sample is about: the part around highlighted cells, or with linked columns."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import TypeAlias

import msgspec

from spor_tasks.core.sample import Column, Contrast, Sample
from spor_tasks.core.table import Cell, CellTable, Table

SIDES = ("text", "contrast")
"""The texts of a sample that columns may be linked to: its own, and of a pair the other one."""


class ShownCell(msgspec.Struct, frozen=True, omit_defaults=True):
    """A cell, and how many columns and rows it spans.

    ``units`` are its numbers if it is highlighted, and ``sides`` are those of the texts that its
    column is linked to.
    """

    text: str
    header: bool = False
    columns: int = 1
    rows: int = 1
    units: tuple[int, ...] = ()
    sides: tuple[int, ...] = ()


ShownRow: TypeAlias = tuple[ShownCell, ...] | int
"""The cells that begin in a row; or a number of rows that are not shown."""


class TableView(msgspec.Struct, frozen=True):
    """A title, and rows of cells as HTML lays them out.

    If a table is ``linked``, units are columns of it; otherwise they are highlighted cells.
    """

    title: str
    rows: tuple[ShownRow, ...]
    linked: bool


MOST_ROWS = 40
"""Rows that are shown at most of a large table with highlighted cells."""

_SMALL = 400  # cells of a table that is shown whole
_NEAR = 2  # rows above and below one with a highlighted cell
_MOST_COLUMNS = 1000  # as many as HTML lets a cell span
_MOST_TEXT = 500  # characters of a cell

_Place: TypeAlias = tuple[int, int]
"""The row of a cell, and its index in that row."""


@dataclass(frozen=True, slots=True)
class _Table:
    """Rows of cells; units by place; and the numbers of the columns that each text is about."""

    title: str
    rows: Sequence[Sequence[Cell]]
    units: Mapping[_Place, tuple[int, ...]] = field(default_factory=dict)
    columns: Sequence[Container[int]] = ()


def table_view(sample: Sample, most_rows: int | None = None) -> TableView | None:
    """Return what is shown of a sample's table; None if it has none that is sound.

    A table without highlighted cells is shown whole, unless ``most_rows`` limits it.
    """
    match sample.table:
        case CellTable() as content:
            table = _with_cells(sample, content)
        case Table() as content:
            table = _with_columns(sample, content)
        case None:
            return None
    if table is None:
        return None
    limit = most_rows or (MOST_ROWS if table.units else len(table.rows))
    rows = _shown_rows(table, frozenset(_kept_rows(table, limit)))
    return TableView(table.title, tuple(rows), linked=not table.units)


def _with_cells(sample: Sample, table: CellTable) -> _Table | None:
    if len(table.highlighted) != len(sample.units):
        return None
    units: dict[_Place, tuple[int, ...]] = {}
    for unit, place in enumerate(table.highlighted):
        units[place] = (*units.get(place, ()), unit)
    title = " · ".join(filter(None, map(sample.about, ("title", "section_title"))))
    return _Table(title, table.rows, units)


def _with_columns(sample: Sample, table: Table) -> _Table:
    lines = (table.header, *table.rows)
    rows = [[Cell(text, not number) for text in line] for number, line in enumerate(lines)]
    pair = sample.challenge
    sides = [sample.units, pair.units] if isinstance(pair, Contrast) else [sample.units]
    columns = [{unit.number for unit in units if isinstance(unit, Column)} for units in sides]
    return _Table(sample.about("title") or "", rows, columns=columns)


def _kept_rows(table: _Table, most: int) -> Iterable[int]:
    """Return the rows that are shown: of highlighted cells first, then headers and neighbours."""
    count = len(table.rows)
    if not table.units or (count <= most and sum(map(len, table.rows)) <= _SMALL):
        return range(min(count, most))
    highlighted = [row for row, _ in table.units]
    heads = [
        number
        for number, row in enumerate(table.rows[:_NEAR])
        if row and all(cell.is_header for cell in row)
    ]
    near = [row + step for row in highlighted for step in range(-_NEAR, _NEAR + 1)]
    rows = dict.fromkeys(row for row in (*highlighted, *heads, *near) if 0 <= row < count)
    return islice(rows, most)


_Slots: TypeAlias = Mapping[int, _Place]
"""The place of the cell in each slot of a row that is filled, by column."""


def _slots(rows: Sequence[Sequence[Cell]]) -> Sequence[_Slots]:
    """Return the slots of each row. As in HTML, a cell stands in the first column that is free.

    Where HTML lets cells overlap, the cell ends.
    """
    lines: list[dict[int, _Place]] = [{} for _ in rows]
    for number, row in enumerate(rows):
        column = 0
        for index, cell in enumerate(row):
            while column in lines[number]:
                column += 1
            for free in range(column, min(column + cell.column_span, _MOST_COLUMNS)):
                if free in lines[number]:
                    break
                for line in lines[number : number + cell.row_span]:
                    line[free] = number, index
            column += cell.column_span
    return lines


def _shown_rows(table: _Table, rows: Container[int]) -> Iterator[ShownRow]:
    lines = enumerate(_slots(table.rows))
    for is_kept, run in groupby(lines, lambda each: each[0] in rows):
        block = list(run)
        if is_kept:
            first, last = block[0][0], block[-1][0]
            yield from (tuple(_cells(table, *line, first, last)) for line in block)
        else:
            yield len(block)


def _cells(table: _Table, number: int, line: _Slots, first: int, last: int) -> Iterator[ShownCell]:
    """Yield the cells of a row in a block of rows; its first one also has those from above."""
    for place, columns in groupby(range(1 + max(line, default=-1)), line.get):
        column, *others = columns
        if place is None:
            yield ShownCell("", columns=1 + len(others))
        elif number in {place[0], first}:
            cell = table.rows[place[0]][place[1]]
            yield ShownCell(
                cell.value if len(cell.value) <= _MOST_TEXT else f"{cell.value[:_MOST_TEXT]}…",
                cell.is_header,
                1 + len(others),
                min(place[0] + cell.row_span - 1, last) - number + 1,
                table.units.get(place, ()),
                tuple(side for side, linked in enumerate(table.columns) if column in linked),
            )
