"""No result is lost between the files and the tables without a word."""

import random
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from spor_tasks import report
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


def reported(runs: list[dict[str, object]]) -> tuple[Counter[str], Counter[float], set[object]]:
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
def test_no_result_is_lost_whatever_its_name(
    runs: list[dict[str, object]], rng: random.Random
) -> None:
    kinds, values, means = reported(runs)
    places: dict[object, list[object]] = defaultdict(list)
    for run in runs:
        if run["arm"] != "molecule":
            seed = run["seed"] if run["arm"] else None
            places[run["model"], run["arm"], seed, run["n"]].append(run["parent"])
    assert values == Counter(scores[0] for scores in places.values() if len({*scores}) == 1)
    assert kinds["duplicate"] == sum(len(scores) - 1 for scores in places.values())
    assert kinds["unknown"] == sum(run["arm"] == "molecule" for run in runs)
    assert reported(rng.sample(runs, len(runs)))[1:] == (values, means)
