"""Who is ahead."""

import csv
import random
from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from spor_tasks import report
from spor_tasks.metrics.tally import Column
from spor_tasks.report import leaderboard
from spor_tasks.report.document import plain_text
from spor_tasks.report.leaderboard import RankedSystem, _ranked
from spor_tasks.results.compare import holm
from spor_tasks.results.logged import Logged
from spor_tasks.results.rows import Cell
from spor_tasks.results.runs import collect as collect_runs
from tests.support.damage import SOAK
from tests.support.result_files import edited, write_result, write_run

VALUES = [random.Random(number).uniform(0, 100) for number in range(40)]


def boards(folder):
    """The boards of PARENT."""
    found = report.rank(report.collect([folder])).boards
    return tuple(board for board in found if board.row.metric == "parent")


def near(seed, shift=0):
    """Values that on the whole differ from others by the shift alone."""
    rng = random.Random(seed)
    return [value + shift + rng.uniform(-2, 2) for value in VALUES]


def run_of(folder):
    """Any run, to be given other values."""
    write_run(folder, "1", near(1))
    (run,) = collect_runs([folder]).runs
    return run


def systems_of(run, systems, clusters=None):
    """Systems on a board, best first; each has the values of the samples of each of its runs."""
    columns = [[Column.of([*values]) for values in of_system] for of_system in systems]
    clusters = np.arange(len(systems[0][0])) if clusters is None else clusters
    ids, runs, logged = tuple(map(str, range(len(clusters)))), [], {}
    for of_system in columns:
        for seed, column in enumerate(of_system):
            adapter = structs.replace(run.adapter, seed=seed)
            scores = {"parent": column.value}
            runs.append(replace(run, key=str(len(runs)), scores=scores, adapter=adapter))
            logged[runs[-1].id] = Logged(ids, clusters, {"parent": column})
    each = iter(runs)
    cells = [tuple(next(each) for _ in of_system) for of_system in columns]
    entries = [
        RankedSystem(str(number), "atom", Cell(tuple(run.scores["parent"] for run in runs), runs))
        for number, runs in enumerate(cells)
    ]
    return sorted(entries, key=lambda entry: -entry.cell.mean), logged


def ranks(entries, logged):
    """The rank of each system, or why it has none, by its name."""
    return {each.model: each.rank or each.reason for each in _ranked(entries, "parent", logged)}


def test_systems_are_in_order_with_ranks(tmp_path):
    write_run(tmp_path, "1", near(1), model="steady")
    write_run(tmp_path, "2", near(2), model="likewise", version=1.1)  # the same N of N.X
    write_run(tmp_path, "3", near(3, shift=9), model="ahead")
    write_run(tmp_path, "4", near(4, shift=-9), model="ahead", arm=None)
    (board,) = boards(tmp_path)
    assert (str(board.row.spec.sets), board.row.size.n) == ("systematicity mini strict", 40)
    found = [(entry.model, entry.arm, entry.rank) for entry in board.entries]
    assert found[0] == ("ahead", "atom", 1)
    assert sorted(found[1:3]) == [("likewise", "atom", 2), ("steady", "atom", 2)]
    assert found[3] == ("ahead", None, 4)
    assert {entry.cell.interval.source for entry in board.entries} == {"samples"}


def test_a_system_without_samples_is_listed_and_not_ranked(tmp_path):
    write_run(tmp_path, "1", near(1), model="ours")
    write_result(tmp_path / "results_2.json", model="theirs", n=40, parent=99.0)
    (board,) = boards(tmp_path)
    first, second = board.entries
    assert (first.model, first.rank) == ("theirs", None)
    assert first.reason
    assert (second.model, second.rank) == ("ours", 1)
    document = leaderboard.document(report.rank(report.collect([tmp_path])))
    assert f"[a] {first.reason}" in plain_text(document)


@pytest.mark.parametrize(("setting", "one", "other"), [("n", 40, 39), ("version", 1.2, 3.0)])
def test_each_test_has_its_board(tmp_path, setting, one, other):
    write_result(tmp_path / "results_1.json", model="ours", **{setting: one})
    write_result(tmp_path / "results_2.json", model="theirs", **{setting: other})
    found = report.rank(report.collect([tmp_path]))
    assert [len(board.entries) for board in boards(tmp_path)] == [1, 1]
    assert all(board.apart for board in found.boards)
    (problem,) = {problem for problem in found.problems if problem.lost}
    assert problem.kind == "incomparable"
    assert f"{setting}: " in problem.what


def test_facts_by_different_classifiers_are_on_boards_of_their_own(tmp_path):
    for model, judge in (("ours", "one"), ("theirs", "another"), ("third", "one")):
        scores = {"parent": 40.0, "facts": 80.0}
        file = write_result(tmp_path / f"results_{model}.json", model=model, scores=scores)
        with edited(file) as content:
            facts = content["configs"]["spor_systematicity_mini"]["metadata"]["spor"]
            facts["judges"]["facts"] = judge
            facts["declared"]["scores"]["facts"]["judge"] = "facts"
    found = {
        (board.row.metric, board.apart): {entry.model for entry in board.entries}
        for board in report.rank(report.collect([tmp_path])).boards
    }
    assert found == {
        ("parent", None): {"ours", "theirs", "third"},
        ("facts", "facts one"): {"ours", "third"},
        ("facts", "facts another"): {"theirs"},
    }


def test_what_one_test_would_tell_apart_many_may_not(tmp_path):
    better = [51.0] * 27 + [49.0] * 13  # of forty fair coins, 27 heads or more have p = 0.04
    write_run(tmp_path, "1", better, model="better")
    write_run(tmp_path, "2", [50.0] * 40, model="even")
    assert [entry.rank for entry in boards(tmp_path)[0].entries] == [1, 2]
    write_run(tmp_path, "3", [51.0, 49.0] * 20, model="also even")
    assert [entry.rank for entry in boards(tmp_path)[0].entries] == [1, 1, 1]
    # by hand: 4 · 0.01, 3 · 0.02, 2 · 0.03 raised to 0.06, 1 · 0.9
    assert holm([0.03, 0.01, 0.9, 0.02]) == pytest.approx([0.06, 0.04, 0.9, 0.06])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


@pytest.mark.parametrize("systems", [33] if SOAK == 1 else [33, 100])
def test_many_systems_with_known_gaps_are_told_apart(systems, tmp_path):
    """Every third system is two points better than the one before, and shares its score with two.

    With 10,000 resamples alone all of 33 systems would be equal.
    """
    rng = np.random.default_rng(7)
    items = rng.normal(50, 15, 150)
    values = (items - 2.0 * (number // 3) + rng.normal(0, 1.5, 150) for number in range(systems))
    board = systems_of(run_of(tmp_path), [[of_system] for of_system in values])
    ranked = list(_ranked(board[0], "parent", board[1]))
    assert [entry.rank for entry in ranked] == [1 + number // 3 * 3 for number in range(systems)]


@pytest.mark.parametrize(("systems", "seeds"), [(5, [2]), (10, [2]), (10, [3]), (6, [2, 5])])
def test_equal_systems_have_equal_ranks(systems, seeds, tmp_path):
    """Runs differ by a point. Without a floor 19 to 47 of 100 such boards rank systems apart."""
    rng, run, false = np.random.default_rng(systems + sum(seeds)), run_of(tmp_path), 0
    numbers = (seeds * systems)[:systems]
    boards_ = 500 if SOAK > 1 else 60
    for _ in range(boards_):
        items = rng.normal(50, 20, 500)
        drawn = [
            [items + rng.normal(0, 1) + rng.normal(0, 10, 500) for _ in range(number)]
            for number in numbers
        ]
        false += set(ranks(*systems_of(run, drawn)).values()) != {1}
    assert false <= 0.06 * boards_ + 2


def test_a_better_system_of_several_seeds_is_found_on_a_board(tmp_path):
    rng = np.random.default_rng(1)
    items = rng.normal(50, 20, 500)
    drawn = [
        [items - 12 * place + rng.normal(0, 1) + rng.normal(0, 10, 500) for _ in range(5)]
        for place in (0, 1, 1, 2)
    ]
    assert ranks(*systems_of(run_of(tmp_path), drawn)) == {"0": 1, "1": 2, "2": 2, "3": 4}


def test_one_training_seed_has_no_rank_among_several(tmp_path):
    """Neither the best nor the worst; a model as it is was not trained, and is tested."""
    for seed in range(4):
        write_run(tmp_path, f"a{seed}", near(seed, shift=30), model="ahead", seed=seed)
        write_run(tmp_path, f"b{seed}", near(9 + seed, shift=10), model="behind", seed=seed)
    write_run(tmp_path, "lucky", near(20, shift=40), model="lucky")
    write_run(tmp_path, "hapless", near(21, shift=-20), model="hapless")
    write_run(tmp_path, "base", near(22), model="ahead", arm=None)
    (board,) = boards(tmp_path)
    found = [(each.model, each.arm or "as is", each.rank) for each in board.entries]
    assert found == [
        ("lucky", "atom", None),
        ("ahead", "atom", 1),
        ("behind", "atom", 2),
        ("ahead", "as is", 3),
        ("hapless", "atom", None),
    ]
    assert {each.reason is None for each in board.entries if each.rank} == {True}
    said = "not ranked: one training seed says nothing about others"
    for name, text in written(tmp_path).items():
        assert said in text, name
        assert "checkpoints are ranked" not in text


def written(folder):
    """Every format in which a board is written, and the terminal's."""
    out = folder / "out"
    document = report.write_leaderboard([folder], out)
    report.write([folder], out)
    files = (
        "leaderboard.md",
        "leaderboard.tex",
        "leaderboard.csv",
        "leaderboard.json",
        "page.html",
    )
    return {"terminal": plain_text(document)} | {name: (out / name).read_text() for name in files}


def test_a_board_of_single_seeds_says_that_it_ranks_checkpoints(tmp_path):
    write_run(tmp_path, "1", near(1), model="steady")
    write_run(tmp_path, "2", near(2, shift=9), model="ahead")
    assert [entry.rank for entry in boards(tmp_path)[0].entries] == [1, 2]
    for name, text in written(tmp_path).items():
        data = name.endswith(("csv", "json"))
        assert ("checkpoint" if data else "checkpoints are ranked: no system has several") in text
    with (tmp_path / "out" / "leaderboard.csv").open() as file:
        assert {row["rank_of"] for row in csv.DictReader(file)} == {"checkpoint"}


@pytest.mark.parametrize("seeds", [1, 3])
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("other samples", "the samples of both are needed, and must be the same"),
        ("no samples", "there are no samples to test with"),
        ("no common verdict", "no sample has a verdict in every run"),
        ("few verdicts", "fewer than 30 different inputs"),
        ("few clusters", "fewer than 30 clusters of inputs"),
        ("one cluster", "all samples are about the same, which says nothing about others"),
    ],
)
def test_a_system_that_is_not_tested_has_no_rank(change, reason, seeds, tmp_path):
    """Three equal systems, and one that is far better, but cannot be tested."""
    rng = np.random.default_rng(5)
    values = rng.normal(50, 10, 60) + rng.normal(0, 3, (4, seeds, 60))
    values[0] += 30
    if change == "no common verdict":
        values[0, :, 30:], values[1:, :, :30] = np.nan, np.nan
    if change == "few verdicts":
        values[0, :, 29:] = np.nan
    clusters = {"few clusters": np.arange(60) % 29, "one cluster": np.zeros(60, np.int64)}
    (first, *others), logged = systems_of(run_of(tmp_path), values, clusters.get(change))
    ids = tuple(f"other {number}" for number in range(60))
    if change.endswith(" samples"):
        for run in first.cell.runs:
            of_run = logged.pop(run.id)
            logged |= {run.id: replace(of_run, ids=ids)} if change[0] == "o" else {}
    of_all = change.endswith((" cluster", " clusters"))
    rest = dict.fromkeys("123", f"not ranked: {reason}" if of_all else 1)
    assert ranks([first, *others], logged) == {"0": f"not ranked: {reason}", **rest}


def test_several_runs_of_one_seed_are_not_several_seeds(tmp_path):
    """They were merged, say over the type of the weights, and differ by next to nothing."""
    rng = np.random.default_rng(2)
    (merged, *single), logged = systems_of(run_of(tmp_path), rng.normal(50, 1, (3, 2, 60)))
    runs = tuple(
        replace(run, adapter=structs.replace(run.adapter, seed=0)) for run in merged.cell.runs
    )
    board = [replace(merged, cell=replace(merged.cell, runs=runs)), *single]
    reason = "one training seed says nothing about others, and other systems have several"
    expected = {merged.model: f"not ranked: {reason}"} | {e.model: 1 for e in single}
    assert ranks(board, logged) == expected


def test_a_checkpoint_that_is_evaluated_twice_is_not_two_runs(tmp_path):
    """Runs in float32 and bfloat16 of two seeds are merged: four runs of two checkpoints."""
    rng = np.random.default_rng(2)
    (first, *others), logged = systems_of(run_of(tmp_path), rng.normal(50, 1, (3, 4, 60)))
    runs = tuple(
        replace(run, adapter=structs.replace(run.adapter, seed=number // 2))
        for number, run in enumerate(first.cell.runs)
    )
    board = [replace(first, cell=replace(first.cell, runs=runs)), *others]
    reason = "a checkpoint has several results, which are not of several runs of training"
    expected = {first.model: f"not ranked: {reason}"} | {e.model: 1 for e in others}
    assert ranks(board, logged) == expected


def test_a_score_that_cannot_be_resampled_ranks_no_system(tmp_path):
    """Dist-3 counts different words of all outputs together."""
    board = systems_of(run_of(tmp_path), [[near(seed, shift=9 * seed)] for seed in range(2)])
    found = [*_ranked(board[0], "dist_3", board[1])]
    assert [each.rank for each in found] == [None, None]
    assert {each.reason for each in found} == {
        "not ranked: this score is of all outputs together, and cannot be resampled"
    }


def test_the_better_of_two_is_so_on_the_samples_of_both(tmp_path):
    """One is scored on easy samples only, where the other is still better."""
    rng = np.random.default_rng(3)
    easy = np.where(np.arange(200) < 100, 80, 20)
    some = easy + rng.normal(0, 3, 200)
    some[100:] = np.nan
    values = [[some], [easy + 10 + rng.normal(0, 3, 200)]]
    entries, logged = systems_of(run_of(tmp_path), values)
    assert entries[0].model == "0"
    assert ranks(entries, logged) == {"0": 2, "1": 1}
