"""Who is ahead."""

import random
from dataclasses import replace

import numpy as np
import pytest

from spor_tasks import report
from spor_tasks.metrics.base import Column
from spor_tasks.report import leaderboard
from spor_tasks.report.document import plain_text
from spor_tasks.report.leaderboard import Entry, _ranked
from spor_tasks.results.evidence import resampled
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


def test_systems_are_in_order_with_ranks(tmp_path):
    write_run(tmp_path, "1", near(1), model="steady")
    write_run(tmp_path, "2", near(2), model="likewise", version=1.1)  # the same N of N.X
    write_run(tmp_path, "3", near(3, shift=9), model="ahead")
    write_run(tmp_path, "4", near(4, shift=-9), model="ahead", arm=None)
    (board,) = boards(tmp_path)
    assert (*board.row.spec.name[:2], board.row.n) == ("systematicity", "mini", 40)
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
            content["configs"]["spor_systematicity_mini"]["metadata"]["spor"]["facts"] = judge
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
    better = [51.0] * 15 + [49.0] * 5  # of twenty fair coins, 15 heads or more have p = 0.04
    write_run(tmp_path, "1", better, model="better")
    write_run(tmp_path, "2", [50.0] * 20, model="even")
    assert [entry.rank for entry in boards(tmp_path)[0].entries] == [1, 2]
    write_run(tmp_path, "3", [51.0, 49.0] * 10, model="also even")
    assert [entry.rank for entry in boards(tmp_path)[0].entries] == [1, 1, 1]
    # by hand: 4 · 0.01, 3 · 0.02, 2 · 0.03 raised to 0.06, 1 · 0.9
    assert leaderboard.holm([0.03, 0.01, 0.9, 0.02]) == pytest.approx([0.06, 0.04, 0.9, 0.06])
    assert leaderboard.holm([0.6, 0.7]) == [1.0, 1.0]
    assert leaderboard.holm([]) == []


@pytest.mark.parametrize("systems", [33] if SOAK == 1 else [33, 100])
def test_many_systems_with_known_gaps_are_told_apart(systems, tmp_path):
    """Every third system is two points better than the one before, and shares its score with two.

    With 10,000 resamples alone all of 33 systems would be equal.
    """
    rng = np.random.default_rng(7)
    items = rng.normal(50, 15, 150)
    ids, clusters = tuple(map(str, range(150))), np.arange(150)
    write_run(tmp_path, "1", near(1))
    (run,) = collect_runs([tmp_path]).runs
    runs = []
    for number in range(systems):
        values = items - 2.0 * (number // 3) + rng.normal(0, 1.5, 150)
        column = Column.of(list(values))
        scores = {"parent": column.value}
        runs.append(replace(run, scores=scores, logged=Logged(ids, clusters, {"parent": column})))
    entries = [
        Entry(str(number), None, Cell((run.scores["parent"],), (run,)))
        for number, run in enumerate(resampled(runs))
    ]
    ranked = list(_ranked(entries, "parent"))
    assert [entry.rank for entry in ranked] == [1 + number // 3 * 3 for number in range(systems)]
