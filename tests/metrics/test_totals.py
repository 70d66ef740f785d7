"""What values come to: means, means of groups, errors, and counts of what has no verdict."""

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from scipy import stats

from spor_tasks.core.errors import ResultError
from spor_tasks.metrics.base import Column, ScoreInfo, Tally
from spor_tasks.metrics.totals import GROUP_MEANS, MEAN, Totals, Value

TAUS = [(2, 0.1), (2, 0.7), (2, -0.4), (2, 0.2), (3, 1.0), (3, -1.0), (3, 1 / 3)]


def tally(*rows: Mapping[str, Value], of: Sequence[ScoreInfo]) -> Tally:
    found = Tally(of)
    for row in rows:
        found.add(row)
    return found


def test_a_score_is_the_mean_of_its_values_and_counts_what_had_no_verdict() -> None:
    found = Column.of([50.0, None, 100.0]).score("m", "s")
    assert (found.name, found.signature) == ("m", "s")
    assert (found.value, found.n, found.unscored) == (75.0, 2, 1)


def test_values_in_groups_are_averaged_within_each_and_then_over_groups() -> None:
    found = Column.of([(2, 1.0), (2, 0.0), None, (5, 0.0)], GROUP_MEANS)
    assert (found.value, found.score("", "").n) == (0.25, 3)
    np.testing.assert_array_equal(found.each, [1.0, 0.0, math.nan, 0.0])


@pytest.mark.parametrize("totals", [MEAN, GROUP_MEANS])
def test_nothing_to_score_is_nan_and_never_zero(totals: Totals) -> None:
    values: list[list[Value]] = [[], [None]]
    for undecided in values:
        found = Column.of(undecided, totals).score("", "")
        assert math.isnan(found.value)
        assert (found.n, found.unscored) == (0, len(undecided))
        assert math.isnan(totals.value(undecided))
        assert math.isnan(totals.stderr(undecided))


def test_scores_of_some_samples_are_given_where_there_are_such_samples() -> None:
    some = [ScoreInfo(f"m_{size}", "", of_some=True) for size in (2, 3, 4)]
    infos = (ScoreInfo("m", ""), ScoreInfo("k", ""), *some)
    found = tally({"m_3": 1.0, "m": 1.0, "k": None}, {"m_2": 0.0, "m": 0.0, "k": None}, of=infos)
    assert [(score.name, score.n) for score in found.scores("")] == [
        ("m", 2),
        ("k", 0),
        ("m_2", 1),
        ("m_3", 1),
    ]
    assert (found.outputs("m_2").tolist(), found.outputs("m").tolist()) == ([1], [0, 1])


def test_a_mean_is_the_same_to_the_last_bit_in_any_order() -> None:
    numbers = [0.1, 1e16, 0.3, -1e16, 0.7] * 3
    assert MEAN.value(numbers) == MEAN.value(numbers[::-1]) == math.fsum(numbers) / 15


def test_neither_a_mean_of_groups_nor_its_error_depends_on_the_order_of_outputs() -> None:
    rng = random.Random(0)
    taus = [(rng.randint(2, 7), rng.uniform(-1, 1)) for _ in range(100)]
    mixed = rng.sample(taus, len(taus))
    assert mixed != taus
    assert GROUP_MEANS.value(mixed) == GROUP_MEANS.value(taus)
    assert GROUP_MEANS.stderr(mixed) == GROUP_MEANS.stderr(taus)


def test_errors_are_those_of_a_mean_and_of_a_mean_of_independent_means() -> None:
    two, three = ([tau for size, tau in TAUS if size == of] for of in (2, 3))
    assert MEAN.stderr(two) == pytest.approx(stats.sem(two))
    assert GROUP_MEANS.stderr(TAUS[:4]) == pytest.approx(stats.sem(two))
    expected = math.hypot(stats.sem(two), stats.sem(three)) / 2
    assert GROUP_MEANS.stderr(TAUS) == pytest.approx(expected)


def test_a_group_with_one_output_has_no_error() -> None:
    assert math.isnan(GROUP_MEANS.stderr([(2, 0.5), (2, 0.6), (3, 0.1)]))
    assert math.isnan(MEAN.stderr([0.5]))


@pytest.mark.parametrize(
    ("totals", "values"), [(MEAN, [3.0, 5.0, 10.0]), (GROUP_MEANS, TAUS)], ids=["mean", "groups"]
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
