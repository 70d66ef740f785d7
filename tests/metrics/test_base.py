"""What values come to: means, means of groups, and counts of what has no verdict."""

import math

import numpy as np

from spor_tasks.metrics.base import Score, Tally, reduce_values


def test_a_score_is_the_mean_of_its_values_and_counts_what_had_no_verdict() -> None:
    values: list[dict[str, float | None]] = [{"m": 50.0}, {"m": None}, {"m": 100.0}]
    assert reduce_values(["m"], values, "s") == (Score("m", 75.0, 2, 1, "s"),)


def test_values_in_groups_are_averaged_within_each_and_then_over_groups() -> None:
    values = [{"m": (2, 1.0)}, {"m": (2, 0.0)}, {"m": (5, 0.0)}]
    (score,) = reduce_values(["m"], values, "s")
    assert (score.value, score.n) == (0.25, 3)


def test_nothing_to_score_is_nan_and_never_zero() -> None:
    (nothing,) = reduce_values(["m"], [], "s")
    assert math.isnan(nothing.value)
    assert (nothing.n, nothing.unscored) == (0, 0)
    (undecided,) = reduce_values(["m"], [{"m": None}], "s")
    assert math.isnan(undecided.value)
    assert (undecided.n, undecided.unscored) == (0, 1)


def test_scores_that_only_some_outputs_add_to_come_last_by_their_names() -> None:
    values = [{"m_3": 1.0, "m": 1.0}, {"m_2": 0.0, "m": 0.0}]
    scores = reduce_values(["m", "k"], values, "s")
    assert [(score.name, score.n) for score in scores] == [
        ("m", 2),
        ("k", 0),
        ("m_2", 1),
        ("m_3", 1),
    ]


def test_a_mean_is_the_same_to_the_last_bit_in_any_order() -> None:
    numbers = [0.1, 1e16, 0.3, -1e16, 0.7] * 3
    straight, backward = (
        reduce_values(["m"], [{"m": number} for number in order], "s")
        for order in (numbers, numbers[::-1])
    )
    assert straight == backward
    assert straight[0].value == math.fsum(numbers) / 15


def test_a_column_keeps_the_order_of_the_outputs() -> None:
    tally = Tally(["m"])
    for value in (1.0, None, (4, 2.0)):
        tally.add({"m": value})
    numbers, groups = tally.column("m")
    np.testing.assert_array_equal(numbers, [1.0, math.nan, 2.0])
    assert groups.tolist() == [0, 0, 4]
