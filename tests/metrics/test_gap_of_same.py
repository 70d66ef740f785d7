"""The gap between halves that ask for the same: the scores of simulated systems."""

import math

import numpy as np
import pytest

from spor_tasks.benchmarks.compmctg import splits
from spor_tasks.corpora.embedded.attributes import SPACE
from spor_tasks.metrics.base import Column
from spor_tasks.metrics.totals import GAP_OF_SAME, Value
from spor_tasks.results.statistics import clusters_of
from tests.support.coded_systems import systems, values_of
from tests.support.intervals import interval

SPLIT = splits.shipped(SPACE, "acd")[0]
SYSTEMS = systems(SPACE, SPLIT)
COPIES = "any training text"
REPEATS = 30


def values(name: str, seed: int) -> list[Value]:
    drawn = values_of(SPACE, SPLIT, SYSTEMS[name], repeats=REPEATS, seed=seed)
    return [each["mini_gap_real"] for each in drawn]


@pytest.mark.parametrize("name", [COPIES, "any values", "each value with a probability of its own"])
def test_equal_knowledge_of_both_halves_is_no_gap(name: str) -> None:
    gaps = [GAP_OF_SAME.value(values(name, seed)) for seed in range(20)]
    assert abs(np.mean(gaps)) < 4 * np.std(gaps) / math.sqrt(20)


def test_a_system_without_chance_has_an_exact_gap() -> None:
    for name in ("nothing", "one text for all", "the requested values"):
        assert GAP_OF_SAME.value(values(name, 0)) == pytest.approx(0)
    nearest = values("the nearest seen combination", 0)
    assert GAP_OF_SAME.value(nearest) == pytest.approx(100 / 3)
    assert GAP_OF_SAME.value(values("seen combinations by heart", 0)) > 60


def test_intervals_of_a_system_that_reads_no_code_hold_zero_as_often_as_they_say() -> None:
    clusters = clusters_of([each for each in sum(SPLIT, ()) for _ in range(REPEATS)])
    intervals = (
        interval(Column.of(values(COPIES, seed), GAP_OF_SAME), clusters, seed=1)
        for seed in range(40)
    )
    misses = sum(not low <= 0 <= high for low, high in filter(None, intervals))
    assert misses <= 7  # 2 are expected; more have a probability of 0.1 %


def test_a_half_of_one_combination_has_no_interval() -> None:
    drawn = [(float(n == 0), 1.0, 10.0 * n) for n in range(12) for _ in range(3)]
    clusters = np.repeat(np.arange(12), 3)
    assert interval(Column.of(drawn, GAP_OF_SAME), clusters, seed=0) is None


SHARED = [(0.0, 7.0, 100.0), (0.0, 7.0, 50.0), (1.0, 7.0, 25.0)]


@pytest.mark.parametrize(
    ("drawn", "gap"),
    [
        (SHARED, 50),
        ([*SHARED, None, (1.0, 8.0, 0.0), (0.0, 9.0, 0.0)], 50),
        ([], math.nan),
        ([None], math.nan),
        (SHARED[:2], math.nan),
        ([(0.0, 1.0, 5.0), (1.0, 2.0, 5.0)], math.nan),
    ],
)
def test_values_that_only_one_half_asks_for_are_left_out(drawn: list[Value], gap: float) -> None:
    assert GAP_OF_SAME.value(drawn) == pytest.approx(gap, nan_ok=True)


@pytest.mark.parametrize("value", [(2.0, 1.0, 5.0), (0.0, 1.0), (0.0, 1.0, 5.0, 2.0, 5.0), 0.5])
def test_damaged_values_are_refused(value: Value) -> None:
    with pytest.raises((TypeError, ValueError)):
        GAP_OF_SAME.statistics([(0.0, 1.0, 100.0), value])
    with pytest.raises(ValueError, match="two numbers for each question"):
        GAP_OF_SAME.statistics([(0.0, 1.0)])


def test_the_score_without_codes_is_that_of_copying() -> None:
    drawn = values_of(SPACE, SPLIT, SYSTEMS[COPIES], repeats=400, seed=0)
    for half, expected in zip(("id", "comp"), splits.without_codes(SPLIT), strict=True):
        of_half = [each[f"mini_acc_{half}"] for each in drawn if f"mini_acc_{half}" in each]
        assert np.mean(np.array(of_half, float)) == pytest.approx(expected, abs=2)
