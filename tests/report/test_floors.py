"""Floors beside the models of a report: the scores that an evaluation of the baseline gives."""

import importlib
import json
import shutil
from unittest.mock import Mock

import msgspec
import pytest

from spor_tasks import report
from spor_tasks.core import named
from spor_tasks.harness import task_files
from spor_tasks.report import floors
from spor_tasks.report.document import plain_text
from tests.conftest import REPOSITORY
from tests.support.invented_runs import town
from tests.support.result_files import rows_of, write_rows
from tests.support.whole_runs import write_whole

RUNS = REPOSITORY / "tests" / "data" / "runs"
COPIED = [path for path in sorted(RUNS.glob("copy-input-*")) if "compmctg" not in path.name]


def with_floors(folder):
    return floors.with_floors(report.collect([folder]))


@pytest.mark.parametrize("run", COPIED, ids=lambda path: path.name)
def test_copied_inputs_score_as_their_evaluation_did(run, tmp_path):
    for path in run.iterdir():
        text = path.read_text("utf-8").replace("baseline:copy-input", "a model that copies")
        (tmp_path / path.name).write_text(text, "utf-8")
    found = with_floors(tmp_path)
    own = {row.metric: row.as_is.mean for row in found.rows if row.as_is.values}
    copied = {row.metric: row.as_is.mean for row in found.floors if row.model == "copy-input"}
    assert copied == pytest.approx(own)
    few = ("no interval of a score: fewer than six clusters",)
    tested = [row.as_is for row in found.floors if row.is_tested]
    assert all(cell.interval or cell.notes == few for cell in tested)
    assert "copy-input" not in {row.model for row in with_floors(run).floors}


def test_those_of_shipped_tests_are_what_is_computed(monkeypatch):
    """Each is of the test of its task's file; those of the embedded corpus are scored again."""
    digests = {file.name: file.sets.test_sha256 for file in task_files.files()}
    known = floors.shipped()
    assert all(digests[task] in {None, each.test_sha256} for task, each in known.items())
    monkeypatch.syspath_prepend(REPOSITORY / "docs" / "generators")
    floors_of = importlib.import_module("floors").floors_of
    ours = [spec for spec in named.available() if "mini" in spec.task and spec.task in known]
    assert len(ours) > 5
    for spec in ours:
        assert msgspec.convert(floors_of(spec), floors.TestFloors) == known[spec.task]


def test_a_whole_shipped_test_is_not_scored_again(tmp_path, monkeypatch):
    """Its report is the one that scoring makes."""
    write_whole(tmp_path, "1")
    with monkeypatch.context() as patched:
        patched.setattr(floors, "scored", Mock(side_effect=AssertionError))
        read = plain_text(report.write([tmp_path]))
    monkeypatch.setattr(floors, "shipped", dict)
    assert read == plain_text(report.write([tmp_path]))
    assert "copy-input" in read


def test_a_reference_is_judged_by_the_others_on_samples_of_its_own(tmp_path):
    """Samples with one reference have none to hold out; a damaged file has no floors."""
    (run,) = (path for path in RUNS.glob("atom"))
    shutil.copytree(run, tmp_path, dirs_exist_ok=True)
    (file,) = tmp_path.glob("samples_*")
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    for row in rows[:5]:
        row["doc"]["references"] = row["doc"]["references"][:1]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    found = with_floors(tmp_path)
    assert {row.model: row.size.n for row in found.floors} == {
        "copy-input": 12,
        "copy-input, held out": 7,
        "reference, held out": 7,
    }
    file.write_text("{", "utf-8")
    assert with_floors(tmp_path).floors == ()


def test_floors_are_of_a_bounded_number_of_samples_and_of_no_model(tmp_path, monkeypatch):
    monkeypatch.setattr(floors, "MOST", 10)
    samples = [town(number) for number in range(24)]
    rows = rows_of(samples, [["Greyport."]] * 24, [{"parent": 40.0}] * 24)
    write_rows(tmp_path / "results_1.json", rows, task="spor_systematicity_mini", arm=None)
    document = report.write([tmp_path], tmp_path / "out")
    of_floors = [row for row in document.rows if row["source"] == "floor"]
    assert {row["n"] for row in of_floors if row["value"]} == {10}
    assert "strict sets, floors\n" in plain_text(document)
    page = (tmp_path / "out" / report.PAGE).read_text("utf-8")
    assert ", 1 model" in page
    assert 'id="leaderboard"' not in page
