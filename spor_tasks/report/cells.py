"""What is shown of a table of cells: the part around those that are highlighted."""

from collections import defaultdict, deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, islice
from typing import NamedTuple, TypeAlias

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Sample
from spor_tasks.corpora.totto.table import Cell, CellTable, has_cells, table_of


class ShownCell(NamedTuple):
    """A cell, or ``hidden`` cells that it stands for; ``units`` are its numbers if highlighted."""

    text: str
    header: bool = False
    columns: int = 1
    rows: int = 1
    units: tuple[int, ...] = ()
    hidden: int = 0


ShownRow: TypeAlias = tuple[ShownCell, ...] | int
"""The cells of a row, with those that reach into it from rows not shown; or a number of rows."""


@dataclass(frozen=True, slots=True)
class CellView:
    """The part of a table around its highlighted cells, the whole of a small one."""

    title: str
    rows: tuple[ShownRow, ...]


MOST_ROWS = 40
"""Rows of cells that are shown at most."""

_SMALL = 400  # cells of a table that is shown whole
_MOST_COLUMNS, _NEAR = 24, 2
_MOST_SPAN = 1000  # columns that HTML lets a cell span
_MOST_TEXT = 500  # characters of a cell


def cells_of(sample: Sample, most_rows: int = MOST_ROWS) -> CellView | None:
    """Return what is shown of a sample's table of cells; None if it has none that is sound."""
    if not has_cells(sample):
        return None
    try:
        table = table_of(sample)
    except CorpusError:
        return None
    if len(table.highlighted) != len(sample.units):
        return None
    title = " · ".join(filter(None, map(sample.about, ("title", "section_title"))))
    return CellView(title, tuple(_shown(table, most_rows)))


def _shown(table: CellTable, most_rows: int) -> Iterator[ShownRow]:
    units: dict[_Place, list[int]] = defaultdict(list)
    for unit, place in enumerate(table.highlighted):
        units[place].append(unit)
    kept = _rows_kept(table, most_rows)
    placed = dict(_placed(table.rows[: max(kept) + 1], kept))
    for is_kept, together in groupby(range(len(table.rows)), kept.__contains__):
        numbers = tuple(together)
        if not is_kept:
            yield len(numbers)
            continue
        first, last = numbers[0], numbers[-1]
        for number in numbers:
            line = placed[number]
            own_or_first = (
                tuple(_filled(line, number))
                if number == first
                else [each for each in line if each.place[0] == number]
            )
            cells = [_cell(each, number, last, units) for each in own_or_first]
            yield _few(cells, [each.column for each in own_or_first])


def _rows_kept(table: CellTable, most: int) -> frozenset[int]:
    """Return the rows that are shown: of highlighted cells first, then headers and neighbours."""
    count = len(table.rows)
    if count <= most and sum(map(len, table.rows)) <= _SMALL:
        return frozenset(range(count))
    highlighted = dict.fromkeys(row for row, _ in table.highlighted)
    heads = (
        number
        for number, row in enumerate(table.rows[:_NEAR])
        if row and all(cell.is_header for cell in row)
    )
    near = (row + step for row in highlighted for step in range(-_NEAR, _NEAR + 1))
    wanted = dict.fromkeys([*highlighted, *heads, *(row for row in near if 0 <= row < count)])
    return frozenset(islice(wanted, most))


_Place: TypeAlias = tuple[int, int]
"""The row of a cell, and its index there."""


class _Placed(NamedTuple):
    column: int
    place: _Place
    cell: Cell


def _placed(
    rows: Iterable[Sequence[Cell]], kept: Container[int]
) -> Iterator[tuple[int, list[_Placed]]]:
    """Yield rows that are kept: their cells and those that reach in from above, left to right.

    A cell stands in the first column that none from above covers, as in HTML.
    """
    above: list[_Placed] = []
    for number, row in enumerate(rows):
        if number not in kept and all(cell.row_span == 1 for cell in row):
            continue
        pending = deque(each for each in above if each.place[0] + each.cell.row_span > number)
        line: list[_Placed] = []
        column = 0
        for index, cell in enumerate(row):
            while pending and pending[0].column <= column:
                line.append(pending.popleft())
                column = max(column, line[-1].column + line[-1].cell.column_span)
            line.append(_Placed(column, (number, index), cell))
            column += cell.column_span
        line += pending
        if number in kept:
            yield number, line
        above = [each for each in line if each.cell.row_span > 1]


def _filled(line: Iterable[_Placed], number: int) -> Iterator[_Placed]:
    """Yield the cells of a row that is shown first, and blank ones where no cell is.

    A cell from above may stand to the right of a short row, and HTML would move it to the left.
    """
    end = 0
    for each in line:
        if each.column > end:
            yield _Placed(end, (number, -1), Cell("", column_span=each.column - end))
        yield each
        end = each.column + each.cell.column_span


def _cell(
    placed: _Placed, number: int, last: int, units: Mapping[_Place, Sequence[int]]
) -> ShownCell:
    """Return a cell in a row of that number, in a block of rows that ends with the last."""
    _, place, cell = placed
    below = min(place[0] + cell.row_span, last + 1) - number
    text = cell.value if len(cell.value) <= _MOST_TEXT else f"{cell.value[:_MOST_TEXT]}…"
    columns = min(cell.column_span, _MOST_SPAN)
    return ShownCell(text, cell.is_header, columns, below, tuple(units.get(place, ())))


def _few(cells: Sequence[ShownCell], columns: Sequence[int]) -> tuple[ShownCell, ...]:
    """Return the cells of a row, of a long one those around the highlighted ones and the first.

    One cell stands for several that are hidden only if no cell from above stands between them.
    """
    if len(cells) <= _MOST_COLUMNS:
        return tuple(cells)
    highlighted = [number for number, cell in enumerate(cells) if cell.units]
    near = (number + step for number in highlighted for step in range(-_NEAR, _NEAR + 1))
    wanted = dict.fromkeys([*highlighted, *range(_NEAR), *near])
    kept = frozenset(islice(wanted, _MOST_COLUMNS))
    own = accumulate((cell.columns for cell in cells), initial=0)
    from_above = [column - before for column, before in zip(columns, own, strict=False)]
    shown: list[ShownCell] = []
    for (is_kept, rows, _), together in groupby(
        range(len(cells)), lambda number: (number in kept, cells[number].rows, from_above[number])
    ):
        found = [cells[number] for number in together]
        if is_kept:
            shown += found
        else:
            width = min(sum(cell.columns for cell in found), _MOST_SPAN)
            shown.append(ShownCell("", columns=width, rows=rows, hidden=len(found)))
    return tuple(shown)
