"""Reports of runs about tables of cells: what is shown of a table, and told of each cell."""

import base64
import gzip
import json
import re
from collections import Counter
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spor_tasks import report
from spor_tasks.core.sample import Sample
from spor_tasks.corpora.embedded import TOTTO_MINI
from spor_tasks.corpora.totto import reader
from spor_tasks.report import browser, page
from spor_tasks.report.exhibit import exhibit
from spor_tasks.report.exhibit_text import terminal
from spor_tasks.report.marking import Fault, mark
from spor_tasks.report.sample_table import MOST_ROWS, ShownCell, ShownRow, table_view
from tests.conftest import REPOSITORY
from tests.support import cell_runs
from tests.support.html import tags_of

DOC = " ".join((REPOSITORY / "docs" / "totto.md").read_text("utf-8").split())
SMALL = cell_runs.of_cells(
    [
        [["Port", True, 1, 1], ["Boats", True, 2, 1]],
        ["Harl", "3", "10 to 14"],
        ["Lowdean", "–", ""],
    ],
    [[1, 2], [0, 0], [1, 2]],
)


def shown(sample: Sample) -> tuple[ShownRow, ...]:
    view = table_view(sample)
    assert view is not None
    assert not view.linked
    return view.rows


def test_a_small_table_is_shown_whole_with_the_numbers_of_highlighted_cells() -> None:
    view = table_view(SMALL)
    assert view is not None
    assert view.title == "Ports · Boats"
    head, first, last = view.rows
    assert head == (
        ShownCell("Port", header=True, units=(1,)),
        ShownCell("Boats", header=True, columns=2),
    )
    assert isinstance(first, tuple)
    assert first[-1] == ShownCell("10 to 14", units=(0, 2))
    assert last == tuple(map(ShownCell, ["Lowdean", "–", ""]))


def test_a_table_whose_highlighted_cells_are_not_the_units_is_not_shown() -> None:
    assert table_view(replace(SMALL, units=SMALL.units[1:])) is None


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


def test_long_texts_and_wide_spans_are_cut() -> None:
    (row,) = shown(cell_runs.of_cells([[["x" * 9_999, False, 10**12, 10**12]]], [[0, 0]]))
    assert isinstance(row, tuple)
    (cell,) = row
    assert (cell.columns, cell.rows) == (1000, 1)
    assert len(cell.text) == 501


# --- Cells keep their columns, whatever is left out -----------------------------------------------

Spanned = tuple[str, int, int]


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
def highlighted(draw: st.DrawFn) -> tuple[list[list[tuple[int, int]]], list[tuple[int, int]]]:
    sizes = draw(tables)
    places = [(number, at) for number, row in enumerate(sizes) for at in range(len(row))]
    return sizes, draw(st.lists(st.sampled_from(places), min_size=1, max_size=6))


COVERED_FROM_ABOVE = [
    [*[(1, 1)] * 3, (1, 2)],
    [(1, 1), (1, 1), (1, 2), (1, 2), *[(1, 1)] * 21],
    [(2, 1), (1, 1)],
]
BESIDE_A_SHORT_ROW: list[list[tuple[int, int]]] = [
    *[[]] * 37,
    [*[(1, 1)] * 5, (1, 2)],
    *[[]] * 2,
    [(1, 1)],
]


@given(highlighted())
@example((COVERED_FROM_ABOVE, [(0, 0)]))
@example((BESIDE_A_SHORT_ROW, [(40, 0)]))
def test_a_cell_stands_in_its_column_whatever_is_left_out(
    table: tuple[list[list[tuple[int, int]]], list[tuple[int, int]]],
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


# --- What an output tells of each cell ------------------------------------------------------------


def told(output: str) -> tuple[tuple[int, ...], set[int], tuple[Fault, ...]]:
    """Return the cells that an output leaves out, those in doubt, and its faults."""
    cells = ["Anna Bo", "14", "–", "5", ""]
    marked = mark(cell_runs.of_cells([cells], [[0, at] for at in range(5)]), output, output)
    labels = [label for each in marked.marks for label in each.labels]
    doubtful = {label.number for label in labels if label.kind == "doubtful unit"}
    return marked.units, doubtful, marked.faults


def test_cells_are_located_missing_or_in_doubt() -> None:
    assert told("Anna Bo was 14 and had 5.") == ((), set(), ())
    assert told("Anna came 14th, with 5.") == ((), {0, 1}, (Fault.DOUBT,))
    assert told("Nobody was 15, or 6.") == ((0, 1, 3), set(), (Fault.UNIT,))


def test_references_tell_as_many_cells_as_the_page_says(totto_dir: Path) -> None:
    files = (totto_dir / f"{name}.jsonl" for name in ("dev_25", "dev_sample", "train_sample"))
    samples = [sample for file in files for sample in reader.read(file)]
    found: Counter[str] = Counter()
    for sample in samples:
        for text in sample.references:
            marked = mark(sample, text, text)
            labels = {label for each in marked.marks for label in each.labels}
            doubtful = {label.number for label in labels if label.kind == "doubtful unit"}
            found["missing"] += len(marked.units)
            found["in doubt"] += len(doubtful)
            found["told"] += len(sample.units) - len(marked.units) - len(doubtful)
    shares = {kind: round(100 * number / found.total()) for kind, number in found.items()}
    assert f"tell {shares['told']} %, {shares['in doubt']} % are in doubt" in DOC
    assert f"and {shares['missing']} % missing" in DOC
    assert f"the {sum(len(sample.references) for sample in samples)} references" in DOC


def html_of(folder: Path) -> str:
    found = report.collect([folder])
    return page.page(found, browser.browse(found.samples), ())


def chunk(html: str, number: int) -> Any:  # noqa: ANN401 - whatever lies there
    (packed,) = re.findall(rf'id="chunk-{number}">([^<]*)</script>', html)
    return json.loads(gzip.decompress(base64.b64decode(packed)))


@pytest.fixture(scope="module")
def harmed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    samples = TOTTO_MINI.part("test")[:4]
    outputs = [sample.references[0] for sample in samples]
    folder = tmp_path_factory.mktemp("cells")
    return cell_runs.write_run(folder, samples, outputs, last=cell_runs.harmful())


def test_the_page_has_bounded_tables_and_nothing_of_them_is_markup(harmed: Path) -> None:
    html = html_of(harmed)
    assert "window.broken = true" not in html
    assert {"img", "b"}.isdisjoint(tag for tag, _ in tags_of(html))
    index = chunk(html, 0)
    assert set(index["tests"][0]["categories"]) <= {"overlap", "non-overlap"}
    *_, last = chunk(html, index["tests"][0]["chunk"])
    rows = last["table"]["rows"]
    assert "cells" not in last["context"]
    assert sum(row if isinstance(row, int) else 1 for row in rows) == cell_runs.ROWS
    assert sum(not isinstance(row, int) for row in rows) < 20


def test_the_terminal_shows_rows_around_highlighted_cells(harmed: Path) -> None:
    text = terminal(exhibit(harmed, "0", task=cell_runs.TASK))
    first = TOTTO_MINI.part("test")[0]
    for number, unit in enumerate(first.units):
        assert f"[{number}: {unit[1]}]" in text
    assert str(first.about("section_title")) in text
    last = terminal(exhibit(harmed, "3", task=cell_runs.TASK))
    assert "rows not shown)" in last
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e\u2066\ud800-\udfff]", last)
