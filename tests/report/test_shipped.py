"""A number is of the test set that its task names, or it is nowhere."""

from pathlib import Path

import pytest

from spor_tasks import cli, report
from spor_tasks.core.errors import ResultError
from spor_tasks.harness import task_files
from spor_tasks.report.shipped import shipped_task
from spor_tasks.results import runs
from spor_tasks.results.benchmarks import benchmark
from tests.support.result_files import edited, write_result
from tests.support.whole_runs import write_whole

TASK = "spor_productivity_mini_n4"


def models(folder: Path) -> set[str]:
    """The models of tables, which must be those of the boards."""
    found = {row.model for table in report.collect([folder]).tables for row in table.rows}
    boards = report.rank(report.collect([folder])).boards
    assert {entry.model for board in boards for entry in board.entries} == found
    return found


@pytest.mark.parametrize(
    "claimed",
    [
        {"test_sha256": "b" * 64},
        {"corpus": "webnlg", "protocol": "published"},
        {"protocol": "published"},
        {"part": "n3"},
        {"aspect": "order_invariance", "part": "main"},
    ],
)
def test_a_result_that_claims_another_test_is_left_out(
    tmp_path: Path, claimed: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    write_whole(tmp_path, "1", model="honest")
    wrong = write_whole(tmp_path, "2", model="wrong", metadata=claimed)
    assert models(tmp_path) == {"honest"}
    (problem,) = report.collect([tmp_path]).problems
    assert (problem.kind, problem.lost) == ("test", True)
    assert problem.where == f"{wrong}: {TASK}"
    assert TASK in problem.what
    for more in ([], ["--leaderboard"]):
        assert cli.main(["report", str(tmp_path), *more]) == 1
        assert str(problem) in capsys.readouterr().out


def test_the_digests_are_told(tmp_path: Path) -> None:
    write_whole(tmp_path, "1", model="honest")
    write_whole(tmp_path, "2", model="wrong", metadata={"test_sha256": "b" * 64})
    (problem,) = report.collect([tmp_path]).problems
    (honest, _) = runs.collect([tmp_path]).runs
    assert "bbbbbbbbbbbb" in problem.what
    assert honest.signature["test_sha256"][:12] in problem.what


def test_another_name_does_not_make_it_another_test(tmp_path: Path) -> None:
    """A task of the same fixed sets has their digest, however a user called it."""
    sets = {"corpus": "webnlg", "protocol": "published"}
    write_whole(tmp_path, "1", model="honest")
    write_result(
        tmp_path / "results_2.json", model="wrong", task="spor_mine", version=2.0, metadata=sets
    )
    assert models(tmp_path) == {"honest"}


def test_sets_of_ones_own_have_any_digest(tmp_path: Path) -> None:
    for number, own in enumerate(({"corpus": "towns"}, {"test_sha256": "c" * 64})):
        task = f"spor_mine_{number}"
        file = tmp_path / f"results_{number}.json"
        write_result(file, model=f"m{number}", task=task, version=2.0, metadata=own)
    assert models(tmp_path) == {"m0", "m1"}


def test_results_of_other_versions_are_shown(tmp_path: Path) -> None:
    for number, version in enumerate((1.0, 3.0)):
        file = tmp_path / f"results_{number}.json"
        write_result(file, model=f"m{number}", version=version)
    assert models(tmp_path) == {"m0", "m1"}


def test_nothing_but_wrong_results_is_nothing_to_report(tmp_path: Path) -> None:
    write_whole(tmp_path, "1", metadata={"test_sha256": "b" * 64})
    with pytest.raises(ResultError) as caught:
        report.collect([tmp_path])
    assert caught.value.where == str(tmp_path)
    assert caught.value.remedy
    assert len(caught.value.each) == 1


def test_every_shipped_task_knows_itself(tmp_path: Path) -> None:
    sets = benchmark("spor").sets()
    tasks = task_files.files()
    assert len(tasks) > 100
    file = write_whole(tmp_path, "1")
    (result,) = runs.read(file)
    ours = shipped_task(result)
    assert ours
    assert ours.test_sha256 == result.signature["test_sha256"]
    assert {spec.task for spec in sets} <= {file.name for file in tasks}


def test_a_version_is_compared_before_the_point(tmp_path: Path) -> None:
    file = write_whole(tmp_path, "1", metadata={"test_sha256": "b" * 64})
    with edited(file) as content:
        content["configs"][TASK]["metadata"]["version"] = 2.7
    with pytest.raises(ResultError):
        report.collect([tmp_path])
