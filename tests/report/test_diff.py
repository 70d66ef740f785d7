"""Which samples changed between two runs."""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spor_tasks import cli, report
from spor_tasks.core.errors import ResultError
from spor_tasks.report.diff import Change, Scores
from spor_tasks.report.diff import document as diff_document
from spor_tasks.report.document import plain_text
from tests.support.result_files import SAMPLE, sample_row, write_result, write_samples

TASK = "spor_systematicity_mini"


def a_run(
    folder: Path, told: Mapping[str, tuple[str, float]], change: Callable[[Any], None] | None = None
) -> Path:
    """Write a run of samples with these outputs and values of PARENT."""
    values = [value for _, value in told.values()]
    file = folder / "results_1.json"
    write_result(file, n=len(told), parent=sum(values) / len(values))
    rows = [
        sample_row(replace(SAMPLE, id=name), [output], {"parent": value})
        for name, (output, value) in told.items()
    ]
    for row in rows:
        if change:
            change(row)
    write_samples(file, TASK, rows)
    return file


BEFORE = {"a": ("same", 50.0), "b": ("was", 10.0), "c": ("worse", 80.0), "d": ("here", 0.0)}
AFTER = {"c": ("now", 20.0), "b": ("is", 30.0), "a": ("same", 50.0), "e": ("there", 9.0)}


@pytest.fixture
def runs(tmp_path: Path) -> Sequence[Path]:
    return a_run(tmp_path / "one", BEFORE), a_run(tmp_path / "two", AFTER)


def test_changed_samples_come_with_the_largest_change_first(runs: Sequence[Path]) -> None:
    found = report.diff(*runs)
    (task,) = found.tasks
    assert (task.task, task.samples, task.lost, task.gained) == (TASK, 3, ("d",), ("e",))
    assert task.changes == (
        Change("c", ("worse",), ("now",), {"parent": Scores(80.0, 20.0)}, prompted_alike=True),
        Change("b", ("was",), ("is",), {"parent": Scores(10.0, 30.0)}, prompted_alike=True),
    )
    summary = task.scores["parent"]
    assert (summary.before, summary.after) == pytest.approx((140 / 3, 100 / 3))
    # however +20 and -60 are exchanged, their sum is at least as far from 0 as it is
    assert (summary.up, summary.down, summary.p) == (1, 1, 1.0)
    assert not found.problems


def test_a_run_does_not_differ_from_itself(runs: Sequence[Path]) -> None:
    (task,) = report.diff(runs[0], runs[0]).tasks
    assert (task.changes, task.lost, task.gained) == ((), (), ())
    assert task.scores["parent"].p == 1.0


def test_outputs_may_change_and_scores_stay(tmp_path: Path) -> None:
    runs = [a_run(tmp_path / text, {"a": (text, 50.0)}) for text in "xy"]
    found = report.diff(*runs)
    assert [change.scores["parent"].change for change in found.tasks[0].changes] == [0.0]
    assert "the same scores" in plain_text(diff_document(found, most=1))


def test_a_verdict_that_comes_or_goes_is_a_change(tmp_path: Path) -> None:
    def unscored(row: dict[str, Any]) -> None:
        row["parent"] = None

    one = a_run(tmp_path / "one", {"a": ("x", 50.0)})
    two = a_run(tmp_path / "two", {"a": ("x", 50.0)}, unscored)
    (task,) = report.diff(one, two).tasks
    (change,) = task.changes
    assert change.scores["parent"] == Scores(50.0, None)
    summary = task.scores["parent"]
    assert (summary.before, summary.up, summary.down) == (50.0, 0, 0)
    assert math.isnan(summary.after)
    assert math.isnan(summary.p)


def test_another_prompt_is_told(tmp_path: Path) -> None:
    def reworded(row: dict[str, Any]) -> None:
        row["arguments"]["gen_args_0"]["arg_0"] += " Please."

    one = a_run(tmp_path / "one", BEFORE)
    two = a_run(tmp_path / "two", AFTER, reworded)
    (task,) = report.diff(one, two).tasks
    assert not any(change.prompted_alike for change in task.changes)


def test_the_terminal_shows_the_changes_and_no_control_characters(tmp_path: Path) -> None:
    one = a_run(tmp_path / "one", {"a": ("plain", 10.0), "b": ("x", 1.0)})
    two = a_run(tmp_path / "two", {"a": ("\x1b[2Jevil\u202e\nmore", 90.0), "b": ("y", 2.0)})
    text = plain_text(diff_document(report.diff(one, two), most=1))
    assert re.search(r"^PARENT +5\.50 +46\.00 +\+40\.50 +2 +0 +\d", text, re.MULTILINE)
    assert "a       PARENT 10.00 → 90.00\n        - plain\n        + \\u001b[2Jevil" in text
    assert "evil\\u202e\\u000amore" in text
    assert "(1 of 2, the largest changes first)" in text


def test_all_changes_are_in_the_json(runs: Sequence[Path], tmp_path: Path) -> None:
    before, after = runs
    report.write_diff(before, after, tmp_path)
    (task,) = json.loads((tmp_path / "diff.json").read_text())["tasks"]
    assert "| c | PARENT 80.00 → 20.00 |\n|  | - worse |" in (tmp_path / "diff.md").read_text()
    assert task["lost"] == ["d"]
    assert [change["sample"] for change in task["changes"]] == ["c", "b"]
    assert task["changes"][0]["scores"] == {"parent": {"before": 80.0, "after": 20.0}}
    assert task["changes"][0]["after"] == ["now"]


def test_tasks_that_cannot_be_compared_are_named(tmp_path: Path, runs: Sequence[Path]) -> None:
    for name in ("one", "two"):
        write_result(tmp_path / name / "results_2.json", task="spor_systematicity_other")
    found = report.diff(tmp_path / "one", tmp_path / "two")
    assert [task.task for task in found.tasks] == [TASK]
    (problem,) = found.problems
    assert problem.lost
    assert "spor_systematicity_other" in problem.what
    assert len(runs) == 2


def test_several_runs_of_a_task_on_one_side_are_an_error(
    tmp_path: Path, runs: Sequence[Path]
) -> None:
    write_result(tmp_path / "one" / "results_2.json", seed=1)
    with pytest.raises(ResultError, match=r"several runs of .*; give one file"):
        report.diff(tmp_path / "one", runs[1])


def test_another_test_set_is_an_error(runs: Sequence[Path]) -> None:
    runs[1].write_text(runs[1].read_text().replace("b" * 64, "c" * 64))
    with pytest.raises(ResultError, match="has a different test set"):
        report.diff(*runs)


def test_the_command_takes_two_runs(
    runs: Sequence[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["report", "--diff", *map(str, runs), "--most", "1"]) == 0
    assert "1 of 2, the largest changes first" in capsys.readouterr().out
    assert cli.main(["report", "--diff", str(runs[0])]) == 2
    assert "needs two runs, not 1" in capsys.readouterr().err
