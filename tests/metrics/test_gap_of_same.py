"""The gap between halves that ask for the same: what simulated systems score."""

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
REPEATS = 30


def values(name: str, seed: int) -> list[Value]:
    found = values_of(SPACE, SPLIT, SYSTEMS[name], repeats=REPEATS, seed=seed)
    return [each["mini_gap_real"] for each in found]


@pytest.mark.parametrize("name", [*[*SYSTEMS][2:4], *[*SYSTEMS][5:8]])
def test_what_is_known_equally_well_in_both_halves_is_no_gap(name: str) -> None:
    found = [GAP_OF_SAME.value(values(name, seed)) for seed in range(20)]
    assert abs(np.mean(found)) < 4 * np.std(found) / math.sqrt(20)


@pytest.mark.parametrize(
    ("place", "gap"), [(0, 0), (1, 0), (4, 0), (8, 100 / 3)], ids=[*[*SYSTEMS][:2], "right", "near"]
)
def test_what_does_not_depend_on_chance_is_exact(place: int, gap: float) -> None:
    assert GAP_OF_SAME.value(values([*SYSTEMS][place], 0)) == pytest.approx(gap)


def test_what_is_known_by_heart_is_a_gap() -> None:
    assert GAP_OF_SAME.value(values([*SYSTEMS][9], 0)) > 60


def test_intervals_of_a_system_that_reads_no_code_hold_zero_as_often_as_they_say() -> None:
    clusters = clusters_of([each for each in sum(SPLIT, ()) for _ in range(REPEATS)])
    found = [
        interval(Column.of(values("copies any training text", seed), GAP_OF_SAME), clusters, seed=1)
        for seed in range(60)
    ]
    left_out = sum(not low <= 0 <= high for low, high in filter(None, found))
    assert left_out <= 9  # 3 are expected; more have a probability of 0.1 %


def test_a_half_of_one_combination_has_no_interval() -> None:
    found = [(float(n == 0), 1.0, 10.0 * n) for n in range(12) for _ in range(3)]
    clusters = np.repeat(np.arange(12), 3)
    assert interval(Column.of(found, GAP_OF_SAME), clusters, seed=0) is None


def test_its_weights_are_those_of_the_score() -> None:
    totals = GAP_OF_SAME.statistics(values([*SYSTEMS][6], 1)).sum(axis=0)
    weighed = totals @ GAP_OF_SAME.weights(totals)
    assert weighed == pytest.approx(float(GAP_OF_SAME.score(totals)))


def test_what_only_one_half_asks_for_is_left_out() -> None:
    both = [(0.0, 7.0, 100.0), (0.0, 7.0, 50.0), (1.0, 7.0, 25.0)]
    assert GAP_OF_SAME.value(both) == 50
    assert GAP_OF_SAME.value([*both, None, (1.0, 8.0, 0.0), (0.0, 9.0, 0.0)]) == 50
    nothing: list[list[Value]] = [[], [None], [*both[:2]], [(0.0, 1.0, 5.0), (1.0, 2.0, 5.0)]]
    for none in nothing:
        assert math.isnan(GAP_OF_SAME.value(none))


@pytest.mark.parametrize("value", [(2.0, 1.0, 5.0), (0.0, 1.0), (0.0, 1.0, 5.0, 2.0, 5.0), 0.5])
def test_damaged_values_are_refused(value: Value) -> None:
    with pytest.raises((TypeError, ValueError)):
        GAP_OF_SAME.statistics([(0.0, 1.0, 100.0), value])


def test_what_is_scored_without_codes_is_what_copying_scores() -> None:
    name = "copies any training text"
    found = [values_of(SPACE, SPLIT, SYSTEMS[name], repeats=400, seed=0)][0]
    for half, told in zip(("id", "comp"), splits.without_codes(SPLIT), strict=True):
        of_half = [each[f"mini_acc_{half}"] for each in found if f"mini_acc_{half}" in each]
        assert np.mean(np.array(of_half, float)) == pytest.approx(told, abs=2)
