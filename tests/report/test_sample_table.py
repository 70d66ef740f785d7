"""The table of a sample: which part of it is shown, and where its cells stand."""

from dataclasses import replace
from itertools import accumulate

from hypothesis import example, given
from hypothesis import strategies as st

from spor_tasks.core.sample import Sample
from spor_tasks.report.marking import Fault, mark
from spor_tasks.report.sample_table import MOST_ROWS, ShownCell, ShownRow, table_view
from tests.support import cell_runs


def shown(sample: Sample) -> tuple[ShownRow, ...]:
    view = table_view(sample)
    assert view is not None
    return view.rows


def test_a_small_table_is_shown_whole_if_every_unit_is_highlighted() -> None:
    cells = [[["Port", True, 1, 1], ["Boats", True, 2, 1]], ["Harl", "3", "10"], ["Lowdean", ""]]
    sample = cell_runs.of_cells(cells, [[1, 2], [0, 0], [1, 2]])
    assert shown(sample) == (
        (ShownCell("Port", header=True, units=(1,)), ShownCell("Boats", header=True, columns=2)),
        (ShownCell("Harl"), ShownCell("3"), ShownCell("10", units=(0, 2))),
        (ShownCell("Lowdean"), ShownCell("")),
    )
    assert table_view(replace(sample, units=sample.units[1:])) is None


def test_of_a_large_table_the_part_around_highlighted_cells_is_shown() -> None:
    cells = [[f"{row} {at}" for at in range(100)] for row in range(100)]
    rows = shown(cell_runs.of_cells(cells, [[50, 60], [99, 0]]))
    assert [row if isinstance(row, int) else row[0].text for row in rows] == [
        *(48, "48 0", "49 0", "50 0", "51 0", "52 0", 44, "97 0", "98 0", "99 0"),
    ]
    assert isinstance(rows[3], tuple)
    assert len(rows[3]) == 100
    everywhere = shown(cell_runs.of_cells(cells, [[row, 3] for row in range(100)]))
    assert len(everywhere) == MOST_ROWS + 1
    assert everywhere[-1] == 100 - MOST_ROWS
    (row,) = shown(cell_runs.of_cells([[["x" * 9_999, False, 10**12, 10**12]]], [[0, 0]]))
    assert isinstance(row, tuple)
    assert [(len(cell.text), cell.columns, cell.rows) for cell in row] == [(501, 1000, 1)]


def test_cells_are_located_missing_or_in_doubt() -> None:
    cells = ["Anna Bo", "14", "–", "5", ""]
    sample = cell_runs.of_cells([cells], [[0, at] for at in range(5)])
    for output, missing, in_doubt, faults in (
        ("Anna Bo was 14 and had 5.", (), set(), ()),
        ("Anna came 14th, with 5.", (), {0, 1}, (Fault.DOUBT,)),
        ("Nobody was 15, or 6.", (0, 1, 3), set(), (Fault.UNIT,)),
    ):
        found = mark(sample, output, output)
        labels = [label for each in found.marks for label in each.labels]
        doubtful = {label.number for label in labels if label.kind == "doubtful unit"}
        assert (found.units, doubtful, found.faults) == (missing, in_doubt, faults)


Spanned = tuple[str, int, int]
Sizes = list[list[tuple[int, int]]]


def columns_of(rows: list[list[Spanned]]) -> dict[str, int]:
    """Return the column of each cell by its text, as HTML fills slots; no cells overlap."""
    taken: set[tuple[int, int]] = set()
    found: dict[str, int] = {}
    for number, row in enumerate(rows):
        column = 0
        for text, columns, height in row:
            while (number, column) in taken:
                column += 1
            found[text] = column
            for at in range(column, column + columns):
                if (number, at) in taken:
                    break
                taken |= {(number + below, at) for below in range(height)}
            column += columns
    return found


spans = st.tuples(st.integers(1, 3), st.integers(1, 4))
tables = st.lists(st.lists(spans, max_size=30), min_size=1, max_size=60).filter(any)


@st.composite
def highlighted(draw: st.DrawFn) -> tuple[Sizes, list[tuple[int, int]]]:
    sizes = draw(tables)
    places = [(number, at) for number, row in enumerate(sizes) for at in range(len(row))]
    return sizes, draw(st.lists(st.sampled_from(places), min_size=1, max_size=6))


COVERED_FROM_ABOVE: Sizes = [
    [*[(1, 1)] * 3, (1, 2)],
    [(1, 1), (1, 1), (1, 2), (1, 2), *[(1, 1)] * 21],
    [(2, 1), (1, 1)],
]
REACHING_PAST_HIDDEN_ROWS: Sizes = [*[[]] * 37, [(1, 4)], *[[]] * 2, [(1, 1)]]
BESIDE_A_SHORT_ROW: Sizes = [*[[]] * 37, [*[(1, 1)] * 5, (1, 2)], *[[]] * 2, [(1, 1)]]


@given(highlighted())
@example((COVERED_FROM_ABOVE, [(0, 0)]))
@example((BESIDE_A_SHORT_ROW, [(40, 0)]))
@example((REACHING_PAST_HIDDEN_ROWS, [(40, 0)]))
def test_a_cell_stands_in_its_column_whatever_is_left_out(
    table: tuple[Sizes, list[tuple[int, int]]],
) -> None:
    sizes, chosen = table
    rows = [
        [(f"{number} {at}", *size) for at, size in enumerate(row)]
        for number, row in enumerate(sizes)
    ]
    cells = [[[text, False, columns, height] for text, columns, height in row] for row in rows]
    found = shown(cell_runs.of_cells(cells, chosen))
    counts = [row if isinstance(row, int) else 1 for row in found]
    assert sum(counts) == len(rows)
    starts = accumulate(counts, initial=0)
    expected = columns_of(rows)
    units: set[tuple[int, int]] = set()
    block: list[list[Spanned]] = []
    for row, start in zip([*found, 0], starts, strict=True):
        if isinstance(row, int):
            placed = {text: at for text, at in columns_of(block).items() if text[0] != "h"}
            assert {text: expected[text] for text in placed} == placed
            block = []
            continue
        names = ((cell.text or f"h{start} {at}", cell) for at, cell in enumerate(row))
        block.append([(name, cell.columns, cell.rows) for name, cell in names])
        for cell in row:
            units |= {chosen[unit] for unit in cell.units}
            assert all(f"{chosen[unit][0]} {chosen[unit][1]}" == cell.text for unit in cell.units)
    assert units == set(chosen)
