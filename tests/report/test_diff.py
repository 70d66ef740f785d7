"""The samples that changed between two runs."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from spor_tasks import report
from spor_tasks.core.errors import ResultError
from spor_tasks.core.sample import Triple
from spor_tasks.report.diff import Change, Scores
from spor_tasks.report.document import plain_text
from spor_tasks.report.grid import p_text
from tests.support.result_files import SAMPLE, edited, rows_of, write_result, write_rows

TASK = "spor_systematicity_mini"
BEFORE = {"a": ("same", 50.0), "b": ("was", 10.0), "c": ("worse", 80.0), "d": ("", 0.0)}
AFTER = {"c": ("now", 20.0), "b": ("is", 30.0), "a": ("same", 50.0), "e": ("new", 9.0)}


def a_run(folder, outputs, prompt_end="", *, distinct=False, **settings):
    """Write a run of samples with these outputs and values of PARENT."""
    samples = [replace(SAMPLE, id=name) for name in outputs]
    if distinct:
        samples = [replace(each, units=(Triple(each.id, "is", "it"),)) for each in samples]
    texts = ([output] for output, _ in outputs.values())
    rows = rows_of(samples, texts, ({"parent": value} for _, value in outputs.values()))
    for row in rows:
        row["arguments"]["gen_args_0"]["arg_0"] += prompt_end
    return write_rows(folder / "results_1.json", rows, task=TASK, **settings)


@pytest.mark.parametrize(
    ("p", "text"),
    [(1.0, "1.0000"), (1e-4, "0.0001"), (9e-5, "<0.0001"), (1e-30, "<0.0001"), (math.nan, "")],
)
def test_a_small_p_is_never_printed_as_zero(p, text):
    assert p_text(p) == text


@pytest.fixture
def runs(tmp_path):
    return a_run(tmp_path / "one", BEFORE), a_run(tmp_path / "two", AFTER)


def test_the_largest_change_comes_first(runs, tmp_path):
    found = report.diff(*runs)
    (task,) = found.tasks
    assert (task.task, task.samples, task.lost, task.gained) == (TASK, 3, ("d",), ("e",))
    assert task.changes == (
        Change("c", ("worse",), ("now",), {"parent": Scores(80.0, 20.0)}, prompted_alike=True),
        Change("b", ("was",), ("is",), {"parent": Scores(10.0, 30.0)}, prompted_alike=True),
    )
    (row,) = task.rows
    assert [cell.mean for cell in row.arms] == pytest.approx([100 / 3, 140 / 3])
    # however +20 and -60 are exchanged, their sum is at least as far from 0 as it is
    assert (*task.moved(row), row.difference.p) == (1, 1, 1.0)
    assert row.size[:2] == (3, 4)
    assert not found.problems
    (task,) = report.diff(runs[0], a_run(tmp_path / "three", AFTER, " Please.")).tasks
    assert not any(change.prompted_alike for change in task.changes)
    (task,) = report.diff(runs[0], runs[0]).tasks
    assert (task.changes, task.lost, task.gained) == ((), (), ())
    assert task.rows[0].difference.p == 1.0


def test_outputs_may_change_alone_and_verdicts_may_go(tmp_path):
    one, two, unscored = (
        a_run(tmp_path / name, {"a": output})
        for name, output in (("1", ("x", 50.0)), ("2", ("y", 50.0)), ("3", ("x", None)))
    )
    assert report.diff(one, two).tasks[0].changes[0].scores["parent"].change == 0.0
    assert "the same scores" in plain_text(report.write_diff(one, two))
    (task,) = report.diff(one, unscored).tasks
    assert task.changes[0].scores["parent"] == Scores(50.0, None)
    (row,) = task.rows
    assert (row.size.n, row.difference, task.moved(row)) == (0, None, (0, 0))
    assert {cell.reason for cell in row.arms} == {"no sample has a verdict in every run"}


def test_a_diff_says_what_a_report_of_two_arms_says(tmp_path):
    """Each score is of the samples that are scored in both runs, whatever the runs are."""
    rng = np.random.default_rng(0)
    values = {str(number): rng.uniform(20, 80) for number in range(40)}
    before = {name: ("was", value) for name, value in values.items()} | {"3": ("was", None)}
    after = {name: ("is", value + rng.normal(5, 9)) for name, value in values.items()}
    after["7"] = ("is", None)
    one, two = (
        a_run(tmp_path / folder, outputs, distinct=True, arm=arm)
        for folder, outputs, arm in (("1", before, "combination"), ("2", after, "atom"))
    )
    (row,) = (row for row in report.collect([one, two]).rows if row.metric == "parent")
    (task,) = report.diff(one, two).tasks
    (found,) = task.rows
    assert found.difference == row.difference
    assert found.difference.mark
    assert found.size[0:3:2] == (38, 38)
    both = [name for name in values if name not in {"3", "7"}]
    means = [np.mean([side[name][1] for name in both]) for side in (after, before)]
    assert [cell.mean for cell in found.arms] == pytest.approx(means)
    assert found.difference.value == pytest.approx(means[0] - means[1])
    other = a_run(tmp_path / "3", after, " Please.", distinct=True, arm=None, model="other")
    (task,) = report.diff(one, other).tasks
    assert task.rows[0].difference.p == row.difference.p
    printed = plain_text(report.write_diff(one, other))
    assert f"{found.difference.value:+.2f}{found.difference.mark}" in printed


def test_outputs_without_a_score_are_compared_too(tmp_path):
    one, two = (
        write_rows(tmp_path / f"results_{text}.json", rows_of([SAMPLE], [[text]], [{}]), task=TASK)
        for text in ("was", "is")
    )
    (found,) = report.diff(one, two).tasks
    assert (found.rows, len(found.changes)) == ((), 1)
    assert "+ is" in plain_text(report.write_diff(one, two))


def test_sixteen_samples_have_no_mark_and_a_part_of_a_test_is_a_trial(tmp_path, spor):
    runs = [
        a_run(tmp_path / side, {str(n): (side, more + n) for n in range(16)}, distinct=True)
        for side, more in (("before", 40.0), ("after", 50.0))
    ]
    printed = spor(f"report --diff {runs[0]} {runs[1]} --out {tmp_path / 'out'}")
    assert "no mark: fewer than 30 different inputs" in printed
    assert "+10.00 [" in printed
    assert "trial" not in printed
    for run in runs:
        with edited(run) as content:
            content["n-samples"][TASK]["original"] = 200
    printed = spor(f"report --diff {runs[0]} {runs[1]} --out {tmp_path / 'out'}")
    assert "16 of 200: a trial" in printed
    written = json.loads((tmp_path / "out" / "diff.json").read_text())
    assert [problem["kind"] for problem in written["problems"]] == ["trial"]
    (task,) = written["tasks"]
    score = task["scores"]["parent"]
    assert (score["n"], score["clusters"], score["documents"], score["mark"]) == (16, 16, 200, "")
    assert score["p"] < 0.001 < score["low"] < 10 == score["value"] < score["high"] <= 100
    assert score["after"] - score["before"] == 10


def test_some_changes_are_printed_and_all_written(runs, tmp_path, spor):
    command = f"report --diff --most 1 --out {tmp_path} {runs[0]}"
    assert "1 of 2, the largest changes first" in spor(f"{command} {runs[1]}")
    (task,) = json.loads((tmp_path / "diff.json").read_text())["tasks"]
    assert "| c | PARENT 80.00 → 20.00 |\n|  | - worse |" in (tmp_path / "diff.md").read_text()
    assert task["lost"] == ["d"]
    assert [change["sample"] for change in task["changes"]] == ["c", "b"]
    assert task["changes"][0]["scores"] == {"parent": {"before": 80.0, "after": 20.0}}
    assert task["changes"][0]["after"] == ["now"]
    assert "Write `spor report BEFORE --diff AFTER`." in spor(command, ends=2)
    forms = (f"--diff {runs[0]} {runs[1]}", f"{runs[0]} --diff {runs[1]}")
    assert {spor(f"report {form}") for form in forms} == {
        spor(f"report {runs[0]} {runs[1]} --diff")
    }
    assert "no results are named" in spor("report", ends=2)


def test_tasks_that_cannot_be_compared_are_named(runs, tmp_path):
    for name in ("one", "two"):
        write_result(tmp_path / name / "results_2.json", task="spor_systematicity_other")
    found = report.diff(tmp_path / "one", tmp_path / "two")
    assert [task.task for task in found.tasks] == [TASK]
    (problem,) = found.problems
    assert problem.lost
    assert "spor_systematicity_other" in problem.what
    write_result(tmp_path / "one" / "results_3.json", model="baseline:copy-input", arm=None)
    assert [task.task for task in report.diff(tmp_path / "one", runs[1]).tasks] == [TASK]
    write_result(tmp_path / "one" / "results_4.json", seed=1)
    with pytest.raises(ResultError, match=r"several runs of .*; give one file"):
        report.diff(tmp_path / "one", runs[1])
    other = a_run(tmp_path / "four", AFTER, version=2.0)
    with pytest.raises(ResultError, match="has a different version"):
        report.diff(runs[1], other)
    runs[1].write_text(runs[1].read_text().replace("b" * 64, "c" * 64))
    with pytest.raises(ResultError, match="has a different test set"):
        report.diff(*runs)
