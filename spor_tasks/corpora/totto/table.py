"""The headers of the cells of a table as ToTTo has it."""

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import NamedTuple

from spor_tasks.core.sample import Sample
from spor_tasks.core.table import CellTable
from spor_tasks.corpora import tables


class Headers(NamedTuple):
    """The headers of a cell: those above it, row by row, and those on its left."""

    of_column: tuple[str, ...]
    of_row: tuple[str, ...]


def headers_of(table: CellTable, places: Iterable[tuple[int, int]]) -> Iterator[Headers]:
    """Yield the headers of the cells of a table at some places, by the published heuristics.

    A column header stands in a row above and shares a column with the cell; a row header stands
    before the cell in its row. How many rows a cell spans is not looked at [code].
    """
    places = tuple(places)
    rows = table.rows[: max((row for row, _ in places), default=0)]
    headers: dict[int, list[tuple[str, int, int]]] = {}  # value, first column, and the one after
    for number, cells in enumerate(rows):
        end = 0
        for cell in cells:
            start, end = end, end + cell.column_span
            if cell.is_header:
                headers.setdefault(number, []).append((cell.value, start, end))
    for row, index in places:
        before = table.rows[row][:index]
        start = sum(cell.column_span for cell in before)
        end = start + table.rows[row][index].column_span
        above = [
            value
            for number in takewhile(row.__gt__, headers)
            for value, first, last in headers[number]
            if first < end and start < last
        ]
        yield Headers(tuple(above), tuple([cell.value for cell in before if cell.is_header]))


def table_of(sample: Sample) -> CellTable:
    """Return the table of a sample.

    Raises:
        CorpusError: it has none of cells.
    """
    return tables.table_of(sample, CellTable)
