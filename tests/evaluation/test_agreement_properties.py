"""What agreement with people does not depend on, whatever the numbers."""

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.evaluation import agreement
from spor_tasks.evaluation.agreement import Agreement
from spor_tasks.evaluation.judged import Judged, read_judged

NUMBERS = st.floats(-100, 100).map(lambda number: round(number, 3))


@st.composite
def tables(draw: st.DrawFn) -> Judged:
    """Two metrics and a judgement of the outputs of some systems for some inputs."""
    count = draw(st.integers(3, 20))
    columns = [np.array(draw(st.lists(NUMBERS, min_size=count, max_size=count))) for _ in range(3)]
    codes = np.arange(count)
    scores = dict(zip("xy", columns, strict=False))
    return Judged(Path("judged"), codes % 4, codes // 4, scores, {"good": columns[2]})


def agree(table: Judged) -> Agreement:
    (found,) = agreement.agreements([table], resamples=20)
    return found


def numbers(found: Agreement) -> list[float]:
    return [
        number
        for row in found.correlations
        for estimate in (row.pearson, row.spearman, row.kendall)
        for number in estimate
    ]


@given(tables())
def test_every_number_is_a_correlation_in_an_interval_in_order(table: Judged) -> None:
    found = agree(table)
    for row in found.correlations:
        for value, low, high in row[2:]:
            assert np.isnan(value) or -1 <= value <= 1
            assert np.isnan(low) or -1 <= low <= high <= 1
    for test in found.differences:
        assert np.isnan(test.p) or 0 <= test.p <= 1


@given(st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, random: Random
) -> None:
    rows = [
        {
            "input": number % 5,
            "system": f"system {number % 3}",
            "data": [["The Gull", "food", "Basque"]],
            "output": "",
            "scores": {"theirs": number * 7 % 11},
            "judgements": {"good": number * 5 % 13},
        }
        for number in range(15)
    ]
    shuffled = list(rows)
    random.shuffle(shuffled)
    folder = tmp_path_factory.mktemp("judged")
    found: list[Judged] = []
    for name, some in (("rows", rows), ("shuffled", shuffled)):
        path = folder / name
        path.write_text("".join(json.dumps(row) + "\n" for row in some))
        found += read_judged([path], metrics=["theirs"])
    one, other = map(agree, found)
    assert numbers(other) == pytest.approx(numbers(one))
