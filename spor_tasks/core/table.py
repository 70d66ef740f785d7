"""Tables of samples: of named columns, as in LogicNLG, and of cells with spans, as in ToTTo.

A row of a file has a table as JSON: ``{"header": [name, …], "rows": [[text, …], …]}``, or
``{"cells": [[cell, …], …], "highlighted": [[row, index], …]}``. There a cell is its text, or
``[text, is header, column span, row span]`` if it is a header or spans several columns or rows.
"""

import csv
from collections.abc import Iterator, Mapping
from io import StringIO
from typing import Annotated, TypeAlias

import msgspec
from msgspec.structs import astuple

from spor_tasks.core.files import JsonObject

_Span: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]


class Table(msgspec.Struct, frozen=True):
    """A table of texts. Two columns may have one name, and a row may have too few or many cells."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Cell(msgspec.Struct, frozen=True, gc=False):
    """A cell, and how many columns and rows it spans; a decoder fills it with a published one."""

    value: str
    is_header: bool = False
    column_span: _Span = 1
    row_span: _Span = 1


class CellTable(msgspec.Struct, frozen=True):
    """Ragged rows of cells, and the row and the index in it of each highlighted cell, as annotated.

    A cell that spans several rows or columns is in the first row only, once, so that an index
    counts the cells of a row and not its columns. A cell that was highlighted twice is there twice.

    Raises:
        ValueError: no cell is highlighted, or one that is not in the table.
    """

    rows: tuple[tuple[Cell, ...], ...]
    highlighted: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        if not self.highlighted:
            raise ValueError("no cell is highlighted")
        for row, index in self.highlighted:
            if not (0 <= row < len(self.rows) and 0 <= index < len(self.rows[row])):
                raise ValueError(f"the highlighted cell [{row}, {index}] is not in the table")

    @property
    def cells(self) -> Iterator[Cell]:
        """All cells, row by row."""
        return (cell for row in self.rows for cell in row)

    @property
    def highlighted_cells(self) -> tuple[Cell, ...]:
        """The highlighted cells, as annotated."""
        return tuple(self.rows[row][index] for row, index in self.highlighted)


class _Cells(msgspec.Struct):
    cells: tuple[tuple[str | tuple[str, bool, _Span, _Span], ...], ...]
    highlighted: tuple[tuple[int, int], ...]


def to_json(table: Table | CellTable) -> JsonObject:
    """Return a table as rows of a file have it."""
    if isinstance(table, Table):
        return {"header": table.header, "rows": table.rows}
    rows = (
        [cell.value if cell == Cell(cell.value) else astuple(cell) for cell in row]
        for row in table.rows
    )
    return {"cells": list(rows), "highlighted": table.highlighted}


def from_json(content: object) -> Table | CellTable:
    """Return the table that a row of a file has.

    Raises:
        ValueError: it is of neither form.
    """
    if isinstance(content, Mapping) and "header" in content:
        return msgspec.convert(content, Table)
    stored = msgspec.convert(content, _Cells)
    rows = (
        tuple([Cell(cell) if isinstance(cell, str) else Cell(*cell) for cell in row])
        for row in stored.cells
    )
    return CellTable(tuple(rows), stored.highlighted)


def parse_table(text: str) -> Table:
    """Return the table in a text with a line for each row, without its empty lines.

    A cell with a `#`, a line break or a quotation mark at its start stands in quotation
    marks. An empty text is a table without columns.
    """
    rows = csv.reader(StringIO(text, newline=""), delimiter="#")
    header, *body = (tuple(row) for row in rows if row) if text.strip() else [()]
    return Table(header, tuple(body))
