"""Systems beside each other, as `spor compare` prints and writes them."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spor_tasks import report
from spor_tasks.core.errors import ConfigError, ResultError
from spor_tasks.core.sample import Triple
from spor_tasks.report.document import plain_text
from spor_tasks.results.pairs import Change, Sides, pair
from tests.support import commands, foreign_tasks
from tests.support.foreign_tasks import TEXTS, edited_rows
from tests.support.result_files import SAMPLE, edited, rows_of, write_result, write_rows

RUNS = Path(__file__).parents[1] / "data" / "runs"
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


@pytest.fixture
def runs(tmp_path):
    return a_run(tmp_path / "one", BEFORE), a_run(tmp_path / "two", AFTER)


def test_the_largest_change_comes_first(runs, tmp_path):
    (task,) = pair(runs).tasks
    assert (task.task, task.ids) == (TASK, ("a", "b", "c"))
    assert task.changes(1) == [
        Change("c", 2, ("worse",), ("now",), {"parent": Sides(80.0, 20.0)}, prompted_alike=True),
        Change("b", 1, ("was",), ("is",), {"parent": Sides(10.0, 30.0)}, prompted_alike=True),
    ]
    (row,) = task.rows
    assert row.values == pytest.approx([140 / 3, 100 / 3])
    # however +20 and -60 are exchanged, their sum is at least as far from 0 as it is
    assert (row.moved, row.p) == ((1, 1), 1.0)
    (task,) = pair([runs[0], a_run(tmp_path / "three", AFTER, " Please.")]).tasks
    assert not any(change.prompted_alike for change in task.changes(1))
    (task,) = pair([runs[0], runs[0]]).tasks
    assert (task.changes(1), task.rows[0].p) == ([], 1.0)


def test_outputs_may_change_alone_and_verdicts_may_go(tmp_path):
    one, two, unscored = (
        a_run(tmp_path / name, {"a": output})
        for name, output in (("1", ("x", 50.0)), ("2", ("y", 50.0)), ("3", ("x", None)))
    )
    assert pair([one, two]).tasks[0].changes(1)[0].scores["parent"].change == 0.0
    assert "the same scores" in plain_text(report.write_compare([one, two], most=1))
    with pytest.raises(ResultError, match="no score can be compared") as refused:
        pair([one, unscored])
    assert "parent is left out: not every system has it" in str(refused.value)


def test_a_comparison_says_what_a_report_of_two_arms_says(tmp_path):
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
    (found,) = pair([one, two]).rows
    same = ("value", "interval", "n", "clusters", "mark", "reason")
    assert row.difference.mark
    for name in same:
        assert getattr(found.difference, name) == getattr(row.difference, name), name
    assert found.p == found.difference.p == pytest.approx(row.difference.p)
    both = [name for name in values if name not in {"3", "7"}]
    means = [np.mean([side[name][1] for name in both]) for side in (before, after)]
    assert found.values == pytest.approx(means)
    printed = plain_text(report.write_compare([one, two]))
    assert f"{found.difference.value:+.2f}{found.difference.mark}" in printed


def test_several_seeds_are_one_system(tmp_path):
    """What is said of them is what a report says of two arms with several seeds."""
    rng = np.random.default_rng(0)
    values = rng.uniform(20, 80, 40)
    for arm, more in (("combination", 0), ("atom", 8)):
        for seed in range(3):
            outputs = {str(n): (arm, value + rng.normal(more, 4)) for n, value in enumerate(values)}
            a_run(tmp_path / arm / str(seed), outputs, distinct=True, arm=arm, seed=seed)
    folders = [tmp_path / "combination", tmp_path / "atom"]
    (row,) = (row for row in report.collect(folders).rows if row.metric == "parent")
    (found,) = pair(folders).rows
    for name in ("value", "interval", "p", "n", "clusters", "mark", "reason"):
        assert getattr(found.difference, name) == getattr(row.difference, name), name
    assert found.difference.mark
    assert found.intervals == tuple(cell.interval for cell in row.arms[::-1])
    assert (found.runs, found.as_row()["runs"]) == ((3, 3), "3 and 3")
    (single,) = pair([folders[0], folders[1] / "0"]).rows
    assert "one training seed cannot be compared" in single.difference.reason
    assert single.p is None
    assert "t test" in plain_text(report.write_compare(folders))


def test_other_prompts_arms_and_settings_are_told_everywhere(runs, tmp_path, spor):
    other = a_run(tmp_path / "three", BEFORE, " Please.", arm="combination")
    with edited(other) as content:
        content["configs"][TASK]["metadata"]["spor"]["prompt"]["style"] = "instruction"
    out = tmp_path / "out"
    printed = spor(f"compare {runs[0]} {other} --most 0 --out {out}")
    texts = [printed, *((out / f"{name}").read_text() for name in ("compare.json", "page.html"))]
    for said in (
        "has other prompts than the first system on 4 of 4 documents",
        "has the arm combination, and the first system has atom",
        "has other settings than the first system: prompt_style instruction, not causal",
    ):
        assert all(said in text for text in texts), said
    assert "the first system" not in spor(f"compare {runs[0]} {runs[1]} --most 0")


def test_tasks_that_cannot_be_compared_are_named(runs, tmp_path):
    for name in ("one", "two"):
        write_result(tmp_path / name / "results_2.json", task="spor_systematicity_other")
    found = pair([tmp_path / "one", tmp_path / "two"])
    assert [task.task for task in found.tasks] == [TASK]
    (problem,) = (each for each in found.problems if each.lost)
    assert "spor_systematicity_other" in problem.what
    write_result(tmp_path / "one" / "results_3.json", model="baseline:copy-input", arm=None)
    assert [task.task for task in pair([tmp_path / "one", runs[1]]).tasks] == [TASK]
    write_result(tmp_path / "one" / "results_4.json", seed=0)
    with pytest.raises(ResultError) as refused:
        pair([tmp_path / "one", runs[1]])
    assert "there are several runs of" in str(refused.value)
    other = a_run(tmp_path / "four", AFTER, version=2.0)
    with pytest.raises(ResultError) as refused:
        pair([runs[1], other])
    assert "has another version in" in str(refused.value)
    runs[1].write_text(runs[1].read_text().replace("b" * 64, "c" * 64))
    with pytest.raises(ResultError) as refused:
        pair(runs)
    assert "test set cccc" in str(refused.value)


def test_sixteen_samples_have_no_mark_and_a_part_of_a_test_is_a_trial(tmp_path, spor):
    runs = [
        a_run(tmp_path / side, {str(n): (side, more + n) for n in range(16)}, distinct=True)
        for side, more in (("before", 40.0), ("after", 50.0))
    ]
    printed = spor(f"compare {runs[0]} {runs[1]} --cluster name --out {tmp_path / 'out'}")
    assert "no mark: fewer than 30 different inputs" in printed
    assert "--cluster is not used, for this task has clusters of its own" in printed
    assert "+10.00 [" in printed
    assert "trial" not in printed
    for run in runs:
        with edited(run) as content:
            content["n-samples"][TASK]["original"] = 200
    printed = spor(f"compare {runs[0]} {runs[1]} --out {tmp_path / 'out'}")
    assert "a trial on 16 of 200 documents" in printed
    written = json.loads((tmp_path / "out" / "compare.json").read_text())
    (row,) = written["rows"]
    assert (row["n"], row["clusters"], row["mark"]) == (16, 16, "")
    assert row["p"] < 0.001 < row["low"] < 10 == row["difference"] < row["high"] <= 100
    assert row["b"] - row["a"] == 10


def test_some_changes_are_printed_and_all_written(runs, tmp_path, spor, capsys):
    out = tmp_path / "out"
    command = f"--most 1 --out {out}"
    printed = spor(f"compare {runs[0]} {runs[1]} {command}")
    assert "1 of 2, the largest changes first" in printed
    assert "PARENT 80.00 → 20.00" in printed
    (task,) = json.loads((out / "compare.json").read_text())["changes"]
    assert [change["id"] for change in task["changes"]] == ["c", "b"]
    assert task["changes"][0]["scores"] == {"parent": {"before": 80.0, "after": 20.0}}
    assert task["changes"][0]["after"] == ["now"]
    assert {path.suffix for path in out.iterdir()} >= {".md", ".tex", ".csv", ".json"}
    rows = [*csv.DictReader((out / "compare.csv").read_text().splitlines())]
    assert [row["score"] for row in rows] == ["parent"]
    for form in (f"--diff {runs[0]} {runs[1]}", f"{runs[0]} --diff {runs[1]}"):
        assert spor(f"report {form} {command}") == printed
    assert commands.run(["report", "--diff", *map(str, runs)]) == 0
    assert "`spor report --diff` is now `spor compare`." in capsys.readouterr().err
    assert "Name a folder for each system." in spor(f"compare {runs[0]}", ends=2)
    assert "no results are named" in spor("report", ends=2)


def test_texts_of_others_do_nothing_in_any_format(tmp_path, spor):
    tasks = foreign_tasks.write_tasks(tmp_path / "tasks", foreign_tasks.documents(12))
    first, second = (
        foreign_tasks.evaluate(tasks, tmp_path / name, TEXTS, right=5, seed=name)
        for name in ("=HYPERLINK(1)", "b")
    )
    with edited_rows(second, TEXTS) as rows:
        for row in rows:
            row["resps"] = [["\x1b[31m<script>\u202e |\nnext " + "x" * 400]]
    out = tmp_path / "out"
    printed = spor(f"compare {first} {second} --out {out}")
    assert "\\u001b[31m<script>\\u202e | ⏎ next" in printed
    assert "x" * 301 not in printed
    rows = [*csv.reader((out / "compare.csv").read_text().splitlines())]
    assert not any(cell.startswith(("=", "+", "@")) for row in rows for cell in row)
    assert "\x1b" not in (out / "compare.json").read_text()


def test_a_file_in_place_of_a_folder_is_refused_in_plain_words(tmp_path):
    (tmp_path / "out").touch()
    runs = [RUNS / name for name in ("atom", "combination")]
    with pytest.raises(ConfigError, match="is a file") as refused:
        report.write_compare(runs, tmp_path / "out")
    assert refused.value.remedy == "Name a folder."


def test_no_changed_document_is_shown_if_none_is_asked_for(spor):
    assert "-1 is less than 0" in spor("compare a b --most -1", ends=2)
    assert "Changed in" not in spor(f"compare {RUNS / 'atom'} {RUNS / 'combination'} --most 0")
