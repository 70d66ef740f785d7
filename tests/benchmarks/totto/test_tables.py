"""ToTTo's tables: ours beside what was published, each half, and the gap between them."""

import csv
import io
from pathlib import Path

import pytest

from spor_tasks import report
from spor_tasks.core.contracts import Gap
from spor_tasks.corpora.embedded import TOTTO_MINI
from spor_tasks.report import tables
from spor_tasks.report.collect import Report
from spor_tasks.report.document import Document, csv_text, plain_text
from tests.support import cell_runs, golden, table_runs

SAMPLES = TOTTO_MINI.part("test")[:12]
OUTPUTS = [sample.references[-1] for sample in SAMPLES]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("totto")
    for part in (None, "subtable", "fulltable_metadata", "fulltable"):
        task = "_".join(filter(None, ["totto", part]))
        cell_runs.write_run(folder, SAMPLES, OUTPUTS, task=task, part=part, corpus="totto")
    return report.collect([folder])


def test_tables_are_the_golden_ones(whole: Report, tmp_path: Path) -> None:
    assert not [problem for problem in whole.problems if problem.lost]
    for part in (None, "subtable"):  # a model without some scores
        task = "_".join(filter(None, ["totto", part]))
        metadata = {"benchmark": "totto", "corpus": "totto"}
        scores = {"totto_bleu": 40.0, "totto_bleu_overlap": 50.0}
        table_runs.write_scores(
            tmp_path / "few", task, part, scores, aspect="totto", metadata=metadata
        )
    few = report.collect([tmp_path / "few"])
    embedded = report.collect([cell_runs.write(tmp_path / "embedded")])
    found = (tables.document(each).grids for each in (whole, few, embedded))
    texts = (plain_text(Document("ToTTo", each)) for each in found)
    golden.same("totto.txt", "\n\n".join(texts) + "\n")


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
