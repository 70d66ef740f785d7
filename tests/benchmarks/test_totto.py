"""ToTTo's task files, and its tables: each half, and the gap between them."""

import csv
import io
import json
import shutil

import pytest
import yaml

from spor_tasks import report
from spor_tasks.core import files, named
from spor_tasks.core.digests import digest
from spor_tasks.corpora.embedded import TOTTO_MINI
from spor_tasks.evaluation.run import Evaluator
from spor_tasks.harness import host, task_files
from spor_tasks.report import tables
from spor_tasks.report.document import Document, csv_text, plain_text
from tests.support import cell_runs, golden, table_runs
from tests.support.pages import python_example
from tests.support.scripted import simple


def test_beams_differ_from_greedy_decoding_in_their_number_and_their_stops_alone():
    greedy, beams = (
        yaml.load((task_files.FOLDER / "totto" / name).read_bytes(), task_files._TaskLoader)  # noqa: S506
        for name in ("_base", "_beam4")
    )
    expected = greedy["generation_kwargs"] | {"num_beams": 4, "until": []}
    assert beams["generation_kwargs"] == expected


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TOTTO_DATA_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def real(totto_dir, folder):
    """The 30 real examples of the development set, and the test set without their references."""
    names = ("dev_25.jsonl", "dev_sample.jsonl")
    examples = "".join((totto_dir / name).read_text("utf-8") for name in names)
    (folder / "totto_dev_data.jsonl").write_text(examples, "utf-8")
    rows = map(json.loads, examples.splitlines())
    hidden = [{k: v for k, v in row.items() if k != "sentence_annotations"} for row in rows]
    files.write_rows(folder / "unlabeled_totto_test_data.jsonl", hidden)
    return folder


@pytest.mark.usefixtures("real")
def test_the_result_has_the_digest_of_the_test_set_that_no_file_names():
    result = simple("dummy", "totto")
    metadata, scores = result["configs"]["totto"]["metadata"], result["results"]["totto"]
    test = named.load("totto", "totto", "published").test
    assert metadata["test_sha256"] == digest(test)
    assert metadata["spor"]["arms"] == {}
    for name in ("totto_bleu", "totto_parent", "totto_parent_real", "totto_chrf"):
        for half in ("", "_overlap", "_nonoverlap"):
            assert scores[f"{name}{half},none"] >= 0
            assert scores[f"{name}{half}_stderr,none"] >= 0


@pytest.mark.skipif(host.IS_NEW, reason="the page reads files of lm-eval 0.4")
def test_samples_of_the_test_set_become_a_submission(real):
    Evaluator("dummy").evaluate([{}], ["totto_test"], real / "results")
    exec(python_example("tasks.md", "totto_test"), {})  # noqa: S102
    lines = (real / "totto_test.txt").read_text("utf-8").split("\n")
    assert len(lines) == 31
    assert lines.pop() == ""
    assert all(lines)


def test_demonstrations_are_of_the_training_set(real, totto_dir):
    shutil.copy(totto_dir / "train_sample.jsonl", real / "totto_train_data.jsonl")
    result = simple("dummy", "totto_icl_train", num_fewshot=2, log_samples=True)
    prompt = result["samples"]["totto_icl_train"][0]["arguments"][0][0]
    assert prompt.count("<table>") == 3


# --- Tables ---------------------------------------------------------------------------------------

SAMPLES = TOTTO_MINI.part("test")[:24]
OUTPUTS = [sample.references[-1] for sample in SAMPLES]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("totto")
    for part in (None, "subtable", "fulltable_metadata", "fulltable"):
        task = "_".join(filter(None, ["totto", part]))
        cell_runs.write_run(folder, SAMPLES, OUTPUTS, task=task, part=part, corpus="totto")
    return report.collect([folder])


def test_tables_are_the_golden_ones(whole, tmp_path):
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


def test_a_gap_is_in_the_files_but_on_no_board(whole, tmp_path):
    gap = "totto_parent_nonoverlap - totto_parent_overlap"
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
    assert not [board for board in boards if " - " in board.row.metric]
