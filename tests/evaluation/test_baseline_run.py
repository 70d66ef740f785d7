"""`spor baseline`: systems without a model are scored, shown and reported as models are."""

import json
from pathlib import Path

import pytest

from spor_tasks import cli
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import read_rows
from spor_tasks.evaluation import baseline_run, baselines
from spor_tasks.evaluation.run import Evaluator
from spor_tasks.harness import task_files
from spor_tasks.report import collect
from spor_tasks.results import runs

TASK = "spor_systematicity_mini"
ATOM, COMBINATION = f"{TASK}_icl_atom", f"{TASK}_icl_combination"


def suited(name: str) -> set[str]:
    baseline = baselines.find(name)
    return {
        file.name
        for file in task_files.expand(["spor_*mini*"])
        if baseline_run.suits(baseline, file)
    }


def test_each_baseline_is_evaluated_on_the_tasks_that_show_what_it_looks_at() -> None:
    assert {ATOM, TASK} < suited("copy-input")
    assert ATOM in suited("copy-demonstrations")
    assert TASK not in suited("nearest-demonstration")
    for name in ("units-joined", "nearest-training-text", "reference"):
        assert TASK in suited(name)
        assert ATOM not in suited(name)
    without = suited("nearest-training-text") - suited("reference")
    assert "spor_rule_learnability_mini" in without


def test_the_copier_of_demonstrations_scores_what_the_matching_says(tmp_path: Path) -> None:
    found = baseline_run.run("copy-demonstrations", [ATOM, COMBINATION], folder=tmp_path)
    for result in found:
        content = json.loads(result.file.read_text())
        matching = content["configs"][result.task]["metadata"]["spor"]["matching"]
        (own,) = (shown for arm, shown in matching.items() if result.task.endswith(arm))
        assert result.scores["parent"] == pytest.approx(own["copied"])


def test_the_ceiling_is_scored_on_the_references_that_are_left(tmp_path: Path) -> None:
    out = tmp_path / "reference.jsonl"
    (result,) = baseline_run.run("reference", [TASK], outputs=out)
    assert result.signature["held_out_reference"] == "True"
    rows = [row for _, row in read_rows(out)]
    assert len(rows) == result.n
    assert all(row["texts"] and row["output"] not in row["texts"] for row in rows)


def test_outputs_are_rows_that_spor_score_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "copied.jsonl"
    (result,) = baseline_run.run("copy-input", [TASK], outputs=out, limit=5)
    capsys.readouterr()
    cli.main(["score", str(out), "--metric", "parent", "--corpus", "webnlg", "--json"])
    scores = json.loads(capsys.readouterr().out)["scores"]
    (parent,) = (score for score in scores if score["name"] == "parent")
    assert parent["value"] == pytest.approx(result.scores["parent"])


def test_an_order_task_is_answered_in_both_orders(tmp_path: Path) -> None:
    out = tmp_path / "copied.jsonl"
    baseline_run.run("copy-input", ["spor_order_invariance_mini_main"], outputs=out, limit=5)
    for _, row in read_rows(out):
        first, second = row["input_order_1"], row["input_order_2"]
        assert (row["output_1"] == row["output_2"]) == (first == second)


def test_a_baseline_of_a_training_set_is_a_row_with_both_arms(tmp_path: Path) -> None:
    found = baseline_run.run("nearest-training-text", [TASK], folder=tmp_path, limit=20)
    assert [(result.arm, result.n) for result in found] == [("atom", 20), ("combination", 20)]
    again = baseline_run.run("nearest-training-text", [TASK], limit=20)
    assert [result.scores for result in again] == [result.scores for result in found]
    (table,) = collect([tmp_path]).tables
    row = next(row for row in table.rows if row.metric == "parent")
    assert row.model == "baseline:nearest-training-text"
    values = tuple(result.scores["parent"] for result in found)
    assert tuple(cell.values for cell in row.arms) == tuple((value,) for value in values)


def test_a_training_set_that_is_not_an_arm_is_refused() -> None:
    arguments = {"model": "baseline:units-joined", "baseline_arm": "atoms"}
    with pytest.raises(ConfigError, match="baseline_arm=atoms is not an arm of the task"):
        Evaluator("spor-baseline").evaluate([arguments], [TASK], Path("unused"), limit=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["copy-input", "spor_x"], "'spor_x' is not a task"),
        (["copy-demonstrations", TASK], f"copy-demonstrations does not suit {TASK}"),
        (["copy-input", "spor_mini", "--out", "x.jsonl"], "takes the outputs of one task"),
    ],
)
def test_what_cannot_be_is_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["baseline", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_the_command_prints_the_scores_and_the_names(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        cli.main(["baseline", "copy", TASK])
    error = capsys.readouterr().err
    assert all(name in error for name in baselines.BASELINES)
    assert not cli.main(["baseline", "copy-input", TASK, "--limit", "3"])
    assert f"{TASK}  n 3  parent " in capsys.readouterr().out


def test_a_held_out_reference_is_told_by_the_signature(tmp_path: Path) -> None:
    """A ceiling has fewer references, so it is no row beside systems scored on all of them."""
    baseline_run.run("reference", [TASK], folder=tmp_path / "a", limit=5)
    baseline_run.run("copy-input", [TASK], folder=tmp_path / "b", limit=5)
    kinds = {result.signature["held_out_reference"] for result in runs.collect([tmp_path]).runs}
    assert kinds == {"True", "False"}
