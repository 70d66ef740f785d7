"""A table as ToTTo has it: ragged rows of cells with spans, some of them highlighted.

In the context of a sample it is JSON: ``{"cells": rows, "highlighted": [[row, index], …]}``. A cell
is its text, or ``[text, is header, column span, row span]`` if it is a header or spans more than
one column or row. A cell that spans several rows or columns is in the first row only, once, so
that an index counts the cells of a row and not its columns.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, NamedTuple

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Json, Sample


class Cell(NamedTuple):
    """A cell, and how many columns and rows it spans."""

    value: str
    is_header: bool = False
    column_span: int = 1
    row_span: int = 1


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
        spans = [list(_spans(row)) for row in self.rows]
        headers = [
            [(cell.value, *span) for cell, span in zip(row, of_row, strict=True) if cell.is_header]
            for row, of_row in zip(self.rows, spans, strict=True)
        ]
        with_headers = [number for number, of_row in enumerate(headers) if of_row]
        for row, index in places:
            start, end = spans[row][index]
            yield Headers(
                tuple(
                    value
                    for number in takewhile(row.__gt__, with_headers)
                    for value, first, last in headers[number]
                    if first < end and start < last
                ),
                tuple(cell.value for cell in self.rows[row][:index] if cell.is_header),
            )


def _spans(row: Iterable[Cell]) -> Iterator[tuple[int, int]]:
    """Yield the first column that each cell covers, and the one after its last."""
    start = 0
    for cell in row:
        yield start, start + cell.column_span
        start += cell.column_span


def as_json(table: CellTable) -> Json:
    """Return the table as it stands in a sample's context."""
    return {
        "cells": [
            [list(cell) if cell[1:] != _PLAIN else cell.value for cell in row] for row in table.rows
        ],
        "highlighted": [list(place) for place in table.highlighted],
    }


_PLAIN = (False, 1, 1)


def has_cells(sample: Sample) -> bool:
    """Return whether a sample is about a table of this kind."""
    given = sample.context.get("table")
    return isinstance(given, dict) and "cells" in given


def table_of(sample: Sample) -> CellTable:
    """Return the table of a sample.

    Raises:
        CorpusError: it has none, or one that is malformed.
    """
    given: Any = sample.context.get("table")
    try:
        rows = tuple(tuple(map(_cell, row)) for row in given["cells"])
        highlighted = tuple((int(row), int(index)) for row, index in given["highlighted"])
    except (KeyError, TypeError, ValueError) as error:
        raise CorpusError(
            "has no table of cells",
            where=f"sample {sample.id}",
            remedy='Its context needs `"table": {"cells": [[text, …], …], "highlighted": '
            "[[row, index], …]}`.",
        ) from error
    table = CellTable(rows, highlighted)
    if fault := fault_of(table):
        raise CorpusError(fault, where=f"sample {sample.id}")
    return table


def _cell(given: Any) -> Cell:  # noqa: ANN401 - JSON
    if isinstance(given, str):
        return Cell(given)
    value, is_header, column_span, row_span = given
    if not isinstance(value, str):
        raise TypeError(value)
    return Cell(value, bool(is_header), int(column_span), int(row_span))


def fault_of(table: CellTable) -> str | None:
    """Return what is wrong with a table, or None: cells, spans or highlighted places."""
    if not any(table.rows):
        return "has an empty table"
    if span := next((cell for cell in table.cells if min(cell[2:]) < 1), None):
        return (
            f"has a cell {span.value!r} that spans {span.column_span} columns and "
            f"{span.row_span} rows; both must be at least 1"
        )
    if not table.highlighted:
        return "has no highlighted cell"
    for row, index in table.highlighted:
        if not (0 <= row < len(table.rows) and 0 <= index < len(table.rows[row])):
            return f"highlights the cell [{row}, {index}], which is not in the table"
    return None
