"""ToTTo's tables: ours beside what was published, each half, and the gap between them."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path

import pytest

from spor_tasks import report
from spor_tasks.core.contracts import Gap
from spor_tasks.corpora.embedded import TOTTO_MINI
from spor_tasks.report import tables
from spor_tasks.report.collect import Report
from spor_tasks.report.document import csv_text
from spor_tasks.results.benchmarks import grids
from spor_tasks.results.tables import Grid, Number
from tests.support import cell_runs, table_runs

SAMPLES = TOTTO_MINI.part("test")[:12]
OUTPUTS = [sample.references[-1] for sample in SAMPLES]
TITLE = "ToTTo, published sets"


def printed(found: Report) -> Mapping[str, Grid]:
    return {grid.title: grid for table in found.tables for grid in grids(table)}


def values(grid: Grid, name: str) -> list[str]:
    line = next(line for line in (*grid.runs, *grid.paper) if line[0] == name)
    return [cell.value for cell in line if isinstance(cell, Number)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("totto")
    for part in (None, "subtable", "fulltable_metadata", "fulltable"):
        task = "_".join(filter(None, ["totto", part]))
        cell_runs.write_run(folder, SAMPLES, OUTPUTS, task=task, part=part, corpus="totto")
    return report.collect([folder])


def test_each_score_stands_beside_its_halves_and_their_gap(whole: Report) -> None:
    assert not [problem for problem in whole.problems if problem.lost]
    found = printed(whole)
    main, real = found[TITLE], found[f"{TITLE}, real references"]
    columns = tuple(
        f"{score}{of}"
        for score in ("BLEU", "PARENT")
        for of in ("", ", overlap", ", non-overlap", ", gap")
    )
    assert main.header[2:-1] == real.header[2:-1] == columns
    assert "padded" in main.caption
    assert "development set" in main.caption
    assert real.paper == ()
    for grid in (main, real):
        ours = [float(value) for value in values(grid, "base")]
        assert ours[3] == pytest.approx(ours[2] - ours[1], abs=0.011)
        assert ours[7] == pytest.approx(ours[6] - ours[5], abs=0.011)


def test_what_was_published_stands_beside_ours_with_its_gap(whole: Report) -> None:
    found = printed(whole)
    main, others = found[TITLE], found[f"{TITLE}, other scores"]
    assert len(main.paper) == len(others.paper) == 14
    assert values(main, "BERT-to-BERT (Books+Wiki)") == [
        *("44.00", "52.70", "35.10", "-17.60", "52.60", "58.40", "46.80", "-11.60"),
    ]
    assert values(others, "LATTICE (Wang et al., 2022)")[4:] == ["+0.22", "+0.34", "+0.10", "-0.25"]
    line = next(line for line in others.runs if line[0] == "base")
    note = line[others.header.index("BLEURT")]
    assert isinstance(note, Number)
    assert [others.notes[number - 1] for number in note.notes] == ["not measured"]


def test_the_inputs_stand_beside_each_other(whole: Report) -> None:
    grid = printed(whole)[f"{TITLE}, by input"]
    inputs = ("subtable", "subtable without titles", "full table", "full table without titles")
    assert {name.partition(", ")[2] for name in grid.header[2:-1]} == set(inputs)
    published = dict(zip(grid.header[2:-1], values(grid, str(grid.paper[0][0])), strict=True))
    assert [published[f"BLEU, {name}"] for name in inputs] == ["43.90", "36.90", "26.80", "20.90"]
    assert [published[f"PARENT, {name}"] for name in inputs] == ["52.60", "42.60", "30.70", "22.20"]


def test_results_without_some_scores_have_the_other_tables(tmp_path: Path) -> None:
    for part in (None, "subtable"):
        task = "_".join(filter(None, ["totto", part]))
        told = {"benchmark": "totto", "corpus": "totto"}
        scores = {"totto_bleu": 40.0, "totto_bleu_overlap": 50.0}
        table_runs.write_scores(tmp_path, task, part, scores, aspect="totto", metadata=told)
    found = printed(report.collect([tmp_path]))
    assert {f"{TITLE}, by input", TITLE} < found.keys()
    assert values(found[TITLE], "base") == ["40.00", "50.00", *[""] * 6]


def test_a_gap_is_in_the_files_but_on_no_board(whole: Report, tmp_path: Path) -> None:
    gap = Gap("totto_parent_nonoverlap", "totto_parent_overlap").name
    rows = list(csv.DictReader(io.StringIO(csv_text(tables.document(whole)))))
    (row,) = (
        row
        for row in rows
        if (row["metric"], row["task"], row["arm"], row["source"]) == (gap, "totto", "as is", "run")
    )
    assert float(row["low"]) <= float(row["value"]) <= float(row["high"])
    assert row["interval_over"] == "samples"
    boards = report.rank(report.collect([cell_runs.write(tmp_path)])).boards
    assert boards
    assert not [board for board in boards if Gap.parse(board.row.metric)]


def test_the_embedded_corpus_has_no_published_rows(tmp_path: Path) -> None:
    grid = printed(report.collect([cell_runs.write(tmp_path)]))["totto_mini, published sets"]
    assert grid.paper == ()
    assert "hidden test set" not in grid.caption
