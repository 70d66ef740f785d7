"""A table as ToTTo has it: ragged rows of cells with spans, some of them highlighted.

In the context of a sample it is JSON: ``{"cells": rows, "highlighted": [[row, index], …]}``. A cell
is its text, or ``[text, is header, column span, row span]`` if it is a header or spans more than
one column or row. A cell that spans several rows or columns is in the first row only, once, so
that an index counts the cells of a row and not its columns.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Annotated, NamedTuple, TypeAlias

import msgspec
from msgspec.structs import astuple

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Json, Sample

_Span: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]


class Cell(msgspec.Struct, frozen=True, gc=False):
    """A cell, and how many columns and rows it spans; a decoder fills it with a published one."""

    value: str
    is_header: bool = False
    column_span: _Span = 1
    row_span: _Span = 1


class Headers(NamedTuple):
    """The headers of a cell: those above it, row by row, and those on its left."""

    of_column: tuple[str, ...]
    of_row: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CellTable:
    """Rows of cells, and the row and the index in it of each highlighted cell, as annotated.

    A cell that was highlighted twice is there twice.
    """

    rows: tuple[tuple[Cell, ...], ...]
    highlighted: tuple[tuple[int, int], ...]

    @property
    def cells(self) -> Iterator[Cell]:
        """All cells, row by row."""
        return (cell for row in self.rows for cell in row)

    @property
    def highlighted_cells(self) -> tuple[Cell, ...]:
        """The highlighted cells, as annotated."""
        return tuple(self.rows[row][index] for row, index in self.highlighted)

    def headers(self, places: Iterable[tuple[int, int]]) -> Iterator[Headers]:
        """Yield the headers of the cells at some places, by the published heuristics.

        A column header stands in a row above and shares a column with the cell; a row header stands
        before the cell in its row. How many rows a cell spans is not looked at [code].
        """
        places = tuple(places)
        rows = self.rows[: max((row for row, _ in places), default=0)]
        headers = [_headers(row) for row in rows]
        with_headers = [number for number, row_headers in enumerate(headers) if row_headers]
        for row, index in places:
            before = self.rows[row][:index]
            start = sum([cell.column_span for cell in before])
            end = start + self.rows[row][index].column_span
            above = [
                value
                for number in takewhile(row.__gt__, with_headers)
                for value, first, last in headers[number]
                if first < end and start < last
            ]
            yield Headers(tuple(above), tuple([cell.value for cell in before if cell.is_header]))


def _headers(row: Iterable[Cell]) -> list[tuple[str, int, int]]:
    """Return the header cells of a row: value, first column, and the one after the last."""
    header_cells, start = [], 0
    for cell in row:
        end = start + cell.column_span
        if cell.is_header:
            header_cells.append((cell.value, start, end))
        start = end
    return header_cells


def as_json(table: CellTable) -> Json:
    """Return the table as it stands in a sample's context."""
    return {
        "cells": [
            [
                list(astuple(cell))
                if cell.is_header or cell.column_span > 1 or cell.row_span > 1
                else cell.value
                for cell in row
            ]
            for row in table.rows
        ],
        "highlighted": [list(place) for place in table.highlighted],
    }


def has_cells(sample: Sample) -> bool:
    """Return whether a sample is about a table of this kind."""
    content = sample.context.get("table")
    return isinstance(content, dict) and "cells" in content


class _Stored(msgspec.Struct):
    cells: tuple[tuple[str | tuple[str, bool, _Span, _Span], ...], ...]
    highlighted: tuple[tuple[int, int], ...]


def table_of(sample: Sample) -> CellTable:
    """Return the table of a sample.

    Raises:
        CorpusError: it has none, or one that is malformed.
    """
    try:
        content = msgspec.convert(sample.context.get("table"), _Stored)
        table = CellTable(
            tuple(
                tuple([Cell(cell) if isinstance(cell, str) else Cell(*cell) for cell in row])
                for row in content.cells
            ),
            content.highlighted,
        )
        check_places(table)
    except ValueError as error:
        raise CorpusError(
            f"has no table of cells: {error}",
            where=f"sample {sample.id}",
            remedy='Its context needs `"table": {"cells": [[text, …], …], "highlighted": '
            "[[row, index], …]}`.",
        ) from error
    return table


def check_places(table: CellTable) -> None:
    """Check that a table has highlighted cells.

    Raises:
        ValueError: no cell is highlighted, or one that is not in the table.
    """
    if not table.highlighted:
        raise ValueError("no cell is highlighted")
    for row, index in table.highlighted:
        if not (0 <= row < len(table.rows) and 0 <= index < len(table.rows[row])):
            raise ValueError(f"the highlighted cell [{row}, {index}] is not in the table")
