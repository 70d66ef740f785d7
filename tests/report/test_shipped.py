"""A number is of the test set that its task names, or it is nowhere."""

from pathlib import Path

import pytest

from spor_tasks import cli, report
from spor_tasks.core.errors import ResultError
from spor_tasks.harness import task_files
from spor_tasks.report.shipped import shipped_task
from spor_tasks.results import runs
from spor_tasks.results.benchmarks import benchmark
from tests.support.result_files import write_result
from tests.support.whole_runs import write_whole

TASK = "spor_productivity_mini_n4"


def models(folder: Path) -> set[str]:
    """The models of tables, which must be those of the boards."""
    collected = report.collect([folder])
    found = {row.model for table in collected.tables for row in table.rows}
    boards = report.rank(collected).boards
    assert {entry.model for board in boards for entry in board.entries} == found
    return found


@pytest.mark.parametrize(
    "claimed",
    [
        {"test_sha256": "b" * 64},
        {"test_sha256": "b" * 64, "version": 2.7},  # of the same N
        {"corpus": "webnlg", "protocol": "published"},
        {"protocol": "published"},
        {"part": "n3"},
        {"aspect": "order_invariance", "part": "main"},
    ],
)
def test_a_result_that_claims_another_test_is_left_out(
    tmp_path: Path, claimed: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    honest = write_whole(tmp_path, "1", model="honest")
    wrong = write_whole(tmp_path, "2", model="wrong", metadata=claimed)
    assert models(tmp_path) == {"honest"}
    (problem,) = report.collect([tmp_path]).problems
    assert (problem.kind, problem.lost) == ("test", True)
    assert problem.where == f"{wrong}: {TASK}"
    assert TASK in problem.what
    if "test_sha256" in claimed:
        (run,) = runs.read(honest)
        assert "bbbbbbbbbbbb" in problem.what
        assert run.signature["test_sha256"][:12] in problem.what
    for more in ([], ["--leaderboard"]):
        assert cli.main(["report", str(tmp_path), *more]) == 1
        assert str(problem) in capsys.readouterr().out
    honest.unlink()
    with pytest.raises(ResultError) as caught:  # nothing is left to report
        report.collect([tmp_path])
    assert (caught.value.where, len(caught.value.each)) == (str(tmp_path), 1)
    assert caught.value.remedy


def test_another_name_does_not_make_it_another_test(tmp_path: Path) -> None:
    """A task of the same fixed sets has their digest, however a user called it."""
    sets = {"corpus": "webnlg", "protocol": "published"}
    write_whole(tmp_path, "1", model="honest")
    file = tmp_path / "results_2.json"
    write_result(file, model="wrong", task="spor_mine", version=2.0, metadata=sets)
    assert models(tmp_path) == {"honest"}


@pytest.mark.parametrize(
    "stated",
    [
        {"task": "spor_mine", "version": 2.0, "metadata": {"corpus": "towns"}},
        {"task": "spor_mine", "version": 2.0, "metadata": {"test_sha256": "c" * 64}},
        {"version": 1.0},
        {"version": 3.0},
    ],
)
def test_sets_of_ones_own_and_other_versions_have_any_digest(
    tmp_path: Path, stated: dict[str, object]
) -> None:
    write_result(tmp_path / "results_1.json", model="any", **stated)
    assert models(tmp_path) == {"any"}


def test_every_shipped_task_knows_itself(tmp_path: Path) -> None:
    tasks = task_files.files()
    assert len(tasks) > 100
    (result,) = runs.read(write_whole(tmp_path, "1"))
    assert (
        shipped_task(result).content["metadata"]["test_sha256"] == result.signature["test_sha256"]
    )
    assert {spec.task for spec in benchmark("spor").sets()} <= {file.name for file in tasks}
