"""Results that cannot be compared, and files that are damaged or double: named, and left out."""

import tempfile
from collections import Counter, defaultdict
from copy import deepcopy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks import report
from spor_tasks.aspects.arms import ARMS
from tests.support.result_files import (
    distinct,
    edited,
    rows_of,
    write_result,
    write_run,
    write_samples,
)

TASK = "spor_systematicity_mini"
FIRST, SECOND = ARMS["systematicity"]


def lost(found):
    """The only problem that loses a result."""
    (problem,) = (problem for problem in found.problems if problem.lost)
    return problem


@pytest.mark.parametrize(("setting", "value"), [("version", 3.0), ("n", 50)])
def test_other_signatures_have_rows_of_their_own(tmp_path, setting, value):
    write_result(tmp_path / "results_1.json", arm=FIRST)
    write_result(tmp_path / "results_2.json", arm=SECOND, **{setting: value})
    found = report.collect([tmp_path])
    one, other = (row for row in found.measured if row.metric == "parent")
    assert not one.arms[1].values
    assert not other.arms[0].values
    assert other.apart == f"{setting} {value}"
    problem = lost(found)
    assert problem.kind == "incomparable"
    assert "results_2.json" in problem.where
    assert "results_1.json" in problem.what
    assert f"{setting}: " in problem.what


def test_files_of_one_cell_that_differ_are_not_used_and_a_copy_once(tmp_path):
    runs = [(FIRST, 0, 40.0), (FIRST, 0, 41.0), (FIRST, 1, 45.0), *[(SECOND, 0, 40.0)] * 2]
    for number, (arm, seed, parent) in enumerate(runs):
        write_result(tmp_path / f"results_{number}.json", arm=arm, seed=seed, parent=parent)
    found = report.collect([tmp_path])
    row = found.tables[0].rows[0]
    assert [(cell.values, cell.seeds) for cell in row.arms] == [((45.0,), [1]), ((40.0,), [0])]
    assert row.arms[0].reason == "files differ on seed 0"
    differing, copy = (each for each in found.problems if each.kind == "duplicate")
    assert (differing, copy.lost) == (lost(found), False)
    assert "results_1.json" in differing.where
    assert "results_0.json" in differing.what


def test_bad_files_and_bad_tasks_do_not_keep_the_others_from_being_reported(tmp_path):
    good = write_result(tmp_path / "results_1.json", arm=FIRST)
    with edited(good) as content:  # and a task that is not known
        for part in ("results", "configs", "n-samples"):
            content[part]["spor_new"] = deepcopy(content[part][TASK])
        content["configs"]["spor_new"]["metadata"]["spor"] = None
    (tmp_path / "results_2.json").write_bytes(good.read_bytes()[:500])
    (tmp_path / "results_3.json").write_text('{"results": {"hellaswag": {}}}')
    with edited(write_result(tmp_path / "results_4.json", arm=FIRST)) as content:
        content["configs"] = {"hellaswag": {}}
    write_result(tmp_path / "results_5.json", arm=SECOND, parent=100.5)
    write_result(tmp_path / "results_6.json", arm=SECOND, parent=-3.0)
    with edited(write_result(tmp_path / "results_7.json", arm=SECOND)) as content:
        content["configs"][TASK]["metadata"]["spor"]["adapter"]["seed"] = None
    (tmp_path / f"samples_{TASK}_8.jsonl").touch()
    found = report.collect([tmp_path])
    assert len(found.tables[0].rows) == 1
    assert not found.tables[0].rows[0].arms[1].values
    problems = [(Path(each.where).name, each.kind, each.lost) for each in found.problems]
    assert problems == [
        ("results_1.json", "schema", True),
        ("results_2.json", "unreadable", True),
        ("results_3.json", "unreadable", True),
        ("results_4.json", "foreign", False),
        ("results_7.json", "schema", True),
        (f"results_5.json: {TASK}", "schema", True),
        (f"results_6.json: {TASK}", "schema", True),
        ("results_1.json", "scores-only", False),
        ("results_5.json", "scores-only", False),
        ("results_6.json", "scores-only", False),
        (f"samples_{TASK}_8.jsonl", "samples-only", True),
    ]
    assert "configs.spor_new.metadata" in found.problems[0].what
    assert "an adapter without a seed" in found.problems[4].what


def test_prompts_that_were_cut_are_named(tmp_path):
    for number, cut in enumerate([0, 3]):
        with edited(write_run(tmp_path, str(number), [1.0, 2.0], seed=number)) as content:
            content["config"]["prompts_cut"] = {TASK: cut}
    (problem,) = report.collect([tmp_path]).problems
    assert (problem.kind, problem.lost) == ("cut", False)
    assert problem.where.endswith("results_1.json")
    assert problem.what.startswith(f"3 prompts of {TASK} ")


@pytest.mark.parametrize("rows", [0, 2])
def test_samples_without_any_score_are_no_fault(tmp_path, rows):
    logged = rows_of(map(distinct, range(rows)), [["x"]] * rows, [{"bypass": 999}] * rows)
    file = write_result(tmp_path / "results_1.json", n=rows, scores={"bypass": 999.0})
    write_samples(file, TASK, logged)
    found = report.collect([tmp_path])
    assert found.problems == ()
    assert found.tables[0].rows[0].arms[0].reason == "no parent in results_1.json"


@pytest.mark.parametrize("damage", ["half", "one less", "twice", "others"])
def test_samples_of_another_result_are_not_used(tmp_path, damage):
    write_run(tmp_path, "a", [10.0, 20.0, 30.0])
    (file,) = tmp_path.glob("samples_*")
    first, *lines = file.read_text().splitlines(keepends=True)
    rest = "".join(lines)
    damaged = {
        "half": first + rest[:-30],
        "one less": rest,
        "twice": rest + lines[0],
        "others": (first + rest).replace('"parent": 10.0', '"parent": 11.0'),
    }
    file.write_text(damaged[damage])
    found = report.collect([tmp_path])
    cell = found.tables[0].rows[0].arms[0]
    assert (cell.values, cell.interval.source) == ((20.0,), "stderr")
    (problem,) = found.problems
    assert problem.kind == "samples"
    assert str(file) in problem.where


def test_runs_on_other_samples_are_not_tested_against_each_other(tmp_path):
    write_run(tmp_path, "a", [*range(10, 70, 10)])
    write_run(tmp_path, "c", [*range(20, 80, 10)], arm=SECOND)
    (file,) = tmp_path.glob("samples_*_c.jsonl")
    file.write_bytes(file.read_bytes().replace(b'"id": "5"', b'"id": "6"'))
    row = report.collect([tmp_path]).tables[0].rows[0]
    assert (row.difference.interval, row.difference.p) == (None, None)
    assert all(cell.interval for cell in row.arms)


RUNS = st.fixed_dictionaries(
    {
        "model": st.sampled_from(["a", "b"]),
        "arm": st.sampled_from(["atom", "combination", None, "molecule"]),
        "seed": st.integers(0, 1),
        "n": st.sampled_from([10, 10, 10, 20]),
        "parent": st.sampled_from([1.0, 2.0, 3.0]),
    }
)
MANY = st.lists(RUNS, min_size=1, max_size=8).filter(
    lambda runs: any(run["arm"] != "molecule" for run in runs)
)


def reported(runs):
    """Report the runs; return kinds of problems, values of PARENT, and means of cells."""
    with tempfile.TemporaryDirectory() as name:
        for number, run in enumerate(runs):
            write_result(Path(name) / f"results_{number}.json", **run)
        found = report.collect([Path(name)])
    rows = [row for table in found.tables for row in table.rows]
    cells = [cell for row in rows if row.metric == "parent" for cell in (*row.arms, row.as_is)]
    return (
        Counter(problem.kind for problem in found.problems),
        Counter(value for cell in cells for value in cell.values),
        {(row.model, row.apart, cell.mean) for row in rows for cell in row.arms},
    )


@given(MANY, st.randoms(use_true_random=False))
def test_no_result_is_lost_whatever_its_name(runs, rng):
    kinds, values, means = reported(runs)
    places = defaultdict(list)
    for run in runs:
        if run["arm"] != "molecule":
            seed = run["seed"] if run["arm"] else None
            places[run["model"], run["arm"], seed, run["n"]].append(run["parent"])
    assert values == Counter(scores[0] for scores in places.values() if len({*scores}) == 1)
    assert kinds["duplicate"] == sum(len(scores) - 1 for scores in places.values())
    assert kinds["unknown"] == sum(run["arm"] == "molecule" for run in runs)
    assert reported(rng.sample(runs, len(runs)))[1:] == (values, means)
