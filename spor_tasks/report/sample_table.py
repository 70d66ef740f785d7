"""The table that a sample is about: the part around highlighted cells, or with linked columns."""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

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

_AllCells: TypeAlias = Sequence[Sequence[ShownCell]]
"""All rows of a table, with the spans of the source."""


def table_view(sample: Sample, most_rows: int | None = None) -> TableView | None:
    """Return what is shown of a sample's table; None if it has none that is sound.

    A table without highlighted cells is shown whole, unless ``most_rows`` limits it.
    """
    units: dict[_Place, tuple[int, ...]] = defaultdict(tuple)
    linked: list[set[int]] = []  # columns by side
    rows: Iterable[Iterable[Cell]] = ()
    match sample.table:
        case CellTable() as table if len(table.highlighted) == len(sample.units):
            rows = table.rows
            for unit, place in enumerate(table.highlighted):
                units[place] += (unit,)
        case Table() as table:
            lines = enumerate((table.header, *table.rows))
            rows = [[Cell(text, number == 0) for text in line] for number, line in lines]
            pair = sample.challenge
            texts = [sample.units, pair.units] if isinstance(pair, Contrast) else [sample.units]
            linked = [{unit.number for unit in each if isinstance(unit, Column)} for each in texts]
    if not rows:
        return None
    shown = [
        [
            ShownCell(
                cell.value if len(cell.value) <= _MOST_TEXT else f"{cell.value[:_MOST_TEXT]}…",
                cell.is_header,
                cell.column_span,
                cell.row_span,
                units[number, index],
                tuple(side for side, columns in enumerate(linked) if index in columns),
            )
            for index, cell in enumerate(row)
        ]
        for number, row in enumerate(rows)
    ]
    limit = most_rows or (len(shown) if linked else MOST_ROWS)
    titles = (sample.about(fact) for fact in ("title", "section_title"))
    title = " · ".join(title for title in titles if title)
    return TableView(title, tuple(_shown_rows(shown, _visible(shown, limit))), bool(linked))


def _visible(rows: _AllCells, most: int) -> Container[int]:
    """Return the rows that are shown: of highlighted cells first, then headers and neighbours."""
    highlighted = [number for number, row in enumerate(rows) if any(cell.units for cell in row)]
    is_small = len(rows) <= most and sum(map(len, rows)) <= _SMALL
    if is_small or not highlighted:
        return range(min(len(rows), most))
    tops = enumerate(rows[:_NEAR])
    heads = [number for number, row in tops if row and all(cell.header for cell in row)]
    near = [row + step for row in highlighted for step in range(-_NEAR, _NEAR + 1)]
    numbers = dict.fromkeys(row for row in (*highlighted, *heads, *near) if 0 <= row < len(rows))
    return frozenset(islice(numbers, most))


_Place: TypeAlias = tuple[int, int]
"""The row of a cell, and its index in that row."""

_Slots: TypeAlias = Mapping[int, _Place]
"""The place of the cell in each slot of a row that is filled, by column."""


def _slots(rows: _AllCells) -> Sequence[_Slots]:
    """Return the slots of each row. As in HTML, a cell stands in the first column that is free.

    Where HTML lets cells overlap, the cell ends.
    """
    lines: list[dict[int, _Place]] = [{} for _ in rows]
    for number, row in enumerate(rows):
        column = 0
        for index, cell in enumerate(row):
            while column in lines[number]:
                column += 1
            for free in range(column, min(column + cell.columns, _MOST_COLUMNS)):
                if free in lines[number]:
                    break
                for line in lines[number : number + cell.rows]:
                    line[free] = number, index
            column += cell.columns
    return lines


def _shown_rows(rows: _AllCells, visible: Container[int]) -> Iterator[ShownRow]:
    """Yield the cells of the visible rows; the first of a block also has cells from above it."""
    for is_visible, run in groupby(enumerate(_slots(rows)), lambda each: each[0] in visible):
        block = list(run)
        if not is_visible:
            yield len(block)
            continue
        first, last = block[0][0], block[-1][0]
        for number, line in block:
            cells = []
            for place, columns in groupby(range(1 + max(line, default=-1)), line.get):
                width = len(list(columns))
                if place is None:
                    cells.append(ShownCell("", columns=width))
                elif number in {place[0], first}:
                    cell = rows[place[0]][place[1]]
                    height = min(place[0] + cell.rows - 1, last) - number + 1
                    cells.append(replace(cell, columns=width, rows=height))
            yield tuple(cells)
