"""No result is lost between the files and the tables without a word."""

import random
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from spor_tasks import report
from spor_tasks.report.collect import Report
from tests.support.result_files import write_result

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


def reported(runs: list[dict[str, object]]) -> Report:
    with tempfile.TemporaryDirectory() as name:
        for number, run in enumerate(runs):
            write_result(Path(name) / f"results_{number}.json", **run)
        return report.collect([Path(name)])


def values_of(found: Report) -> list[float]:
    return [
        value
        for table in found.tables
        for row in table.rows
        if row.metric == "parent"
        for cell in (*row.arms, row.as_is)
        for value in cell.values
    ]


def means_of(found: Report) -> set[object]:
    rows = [row for table in found.tables for row in table.rows]
    return {(row.model, row.apart, cell.mean) for row in rows for cell in row.arms}


@given(MANY)
def test_every_result_is_in_one_cell_or_among_the_problems(runs: list[dict[str, object]]) -> None:
    found = reported(runs)
    kinds = Counter(problem.kind for problem in found.problems)
    places: dict[object, list[object]] = defaultdict(list)
    for run in runs:
        if run["arm"] != "molecule":
            seed = run["seed"] if run["arm"] else None
            places[run["model"], run["arm"], seed, run["n"]].append(run["parent"])
    used = [scores[0] for scores in places.values() if len({*scores}) == 1]
    assert Counter(values_of(found)) == Counter(used)
    assert kinds["duplicate"] == sum(len(scores) - 1 for scores in places.values())
    assert kinds["unknown"] == sum(run["arm"] == "molecule" for run in runs)


@given(MANY, st.randoms(use_true_random=False))
def test_the_numbers_do_not_depend_on_the_names_of_files(
    runs: list[dict[str, object]], rng: random.Random
) -> None:
    shuffled = rng.sample(runs, len(runs))
    one, other = reported(runs), reported(shuffled)
    assert Counter(values_of(one)) == Counter(values_of(other))
    assert means_of(one) == means_of(other)
