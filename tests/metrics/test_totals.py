"""Totals of values: means, means of groups, errors, and counts of outputs without a verdict."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy import stats

from spor_tasks.core.errors import ResultError
from spor_tasks.metrics.base import Column, ScoreInfo, Tally
from spor_tasks.metrics.totals import GAP_OF_SAME, GROUP_MEANS, MEAN, Totals, Value

TAUS = [(2, 0.1), (2, 0.7), (2, -0.4), (2, 0.2), (3, 1.0), (3, -1.0), (3, 1 / 3)]


@pytest.mark.parametrize(
    ("totals", "values", "value", "each"),
    [
        (MEAN, [50.0, None, 100.0], 75.0, [50.0, math.nan, 100.0]),
        (GROUP_MEANS, [(2, 1.0), (2, 0.0), None, (5, 0.0)], 0.25, [1.0, 0.0, math.nan, 0.0]),
    ],
)
def test_a_score_is_a_mean_and_counts_outputs_without_a_verdict(
    totals: Totals, values: Sequence[Value], value: float, each: Sequence[float]
) -> None:
    column = Column.of(values, totals)
    score = column.score("m", "s")
    assert (score.name, score.signature, score.value) == ("m", "s", value)
    assert (score.n, score.unscored) == (len(values) - 1, 1)
    np.testing.assert_array_equal(column.each, each)


@pytest.mark.parametrize("totals", [MEAN, GROUP_MEANS])
@pytest.mark.parametrize("values", [[], [None]])
def test_nothing_to_score_is_nan_and_never_zero(totals: Totals, values: list[Value]) -> None:
    score = Column.of(values, totals).score("", "")
    assert (score.n, score.unscored) == (0, len(values))
    for number in (score.value, totals.value(values), totals.stderr(values)):
        assert math.isnan(number)


def test_scores_of_some_samples_are_given_where_there_are_such_samples() -> None:
    some = [ScoreInfo(f"m_{size}", "", of_some=True) for size in (2, 3, 4)]
    tally = Tally((ScoreInfo("m", ""), ScoreInfo("k", ""), *some))
    tally.add({"m_3": 1.0, "m": 1.0, "k": None})
    tally.add({"m_2": 0.0, "m": 0.0, "k": None})
    counts = {score.name: score.n for score in tally.scores("")}
    assert counts == {"m": 2, "k": 0, "m_2": 1, "m_3": 1}
    assert (tally.outputs("m_2").tolist(), tally.outputs("m").tolist()) == ([1], [0, 1])


def test_a_mean_does_not_depend_on_the_order_of_outputs() -> None:
    numbers = [0.1, 1e16, 0.3, -1e16, 0.7] * 3
    assert MEAN.value(numbers) == MEAN.value(numbers[::-1]) == math.fsum(numbers) / 15
    taus = [(2 + n % 6, math.sin(n)) for n in range(100)]
    for of in (GROUP_MEANS.value, GROUP_MEANS.stderr):
        assert of(taus[1::2] + taus[::2]) == of(taus)


def test_errors_are_those_of_a_mean_and_of_a_mean_of_independent_means() -> None:
    two, three = ([tau for size, tau in TAUS if size == of] for of in (2, 3))
    assert MEAN.stderr(two) == pytest.approx(stats.sem(two))
    assert GROUP_MEANS.stderr(TAUS[:4]) == pytest.approx(stats.sem(two))
    expected = math.hypot(stats.sem(two), stats.sem(three)) / 2
    assert GROUP_MEANS.stderr(TAUS) == pytest.approx(expected)
    assert math.isnan(GROUP_MEANS.stderr([(2, 0.5), (2, 0.6), (3, 0.1)]))  # a group of one
    assert math.isnan(MEAN.stderr([0.5]))


HALVES = [(half, value, 10 * half + value) for half in (0.0, 1.0) for value in (7.0, 7.0, 8.0)]


@pytest.mark.parametrize(
    ("totals", "values"),
    [(MEAN, [3.0, 5.0, 10.0]), (GROUP_MEANS, TAUS), (GAP_OF_SAME, [*HALVES, (1.0, 7.0, 50.0)])],
)
def test_weights_are_those_of_the_score(totals: Totals, values: Sequence[Value]) -> None:
    added = totals.statistics(values).sum(axis=0)
    weights = totals.weights(added)
    assert weights is not None
    assert weights @ added == pytest.approx(totals.score(added))


@pytest.mark.parametrize(
    ("totals", "values"),
    [(MEAN, [(2, 1.0)]), (MEAN, [0.5, (2, 1.0)]), (GROUP_MEANS, [0.5, 1.0]), (MEAN, ["a"])],
)
def test_values_of_another_kind_of_score_are_an_error(totals: Totals, values: Any) -> None:  # noqa: ANN401
    with pytest.raises(ResultError):
        Column.of(values, totals)
