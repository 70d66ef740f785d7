"""The gap between halves that ask for the same: the scores of simulated systems."""

import math
import random
from collections.abc import Callable, Iterable
from operator import eq

import numpy as np
import pytest

from spor_tasks.benchmarks.compmctg import splits
from spor_tasks.core.sample import Sample
from spor_tasks.corpora.compmctg.reader import units_of
from spor_tasks.corpora.compmctg.spaces import Combination
from spor_tasks.corpora.embedded.attributes import SPACE
from spor_tasks.metrics.base import Column
from spor_tasks.metrics.compmctg import accuracy_values
from spor_tasks.metrics.groups import in_groups
from spor_tasks.metrics.totals import GAP_OF_SAME, Value
from spor_tasks.results.statistics import clusters_of
from tests.support.intervals import interval

SPLIT = splits.shipped(SPACE, "acd")[0]
SEEN = SPLIT.seen
KNOWN = {values[0] for values in SPACE.aspects.values()}
REPEATS = 30
System = Callable[[Combination], Iterable[Combination]]


def values_of(system: System, score: str = "mini_gap_real") -> list[Value]:
    """Return what the texts of a system add; it answers a request with combinations of values."""
    return [
        added[score]
        for unseen, combinations in enumerate(SPLIT)
        for each in combinations
        for sample in [Sample("", SPACE.name, units_of(SPACE, each), (), {"unseen": bool(unseen)})]
        for written in system(each)
        for values in [accuracy_values("mini", SPACE.aspects, sample, SPACE.as_row(written))]
        for added in [{**values, **in_groups(sample, values, ("mini_acc_id", "mini_acc_comp"))}]
        if score in added
    ]


def of_known_values(asked: Combination) -> list[Combination]:
    """Write the values that the system knows, and the others as in any training text."""
    return [
        tuple(own if own in KNOWN else any_ for own, any_ in zip(asked, other, strict=True))
        for other in SEEN
    ]


@pytest.mark.parametrize(
    ("system", "gap"),
    [
        (lambda _: SEEN[:1], 0),
        (lambda _: SEEN, 0),
        (lambda _: SPACE.combinations, 0),
        (lambda asked: [asked], 0),
        (of_known_values, 0),
        (lambda asked: [max(SEEN, key=lambda each: sum(map(eq, asked, each)))], 100 / 3),
        (lambda asked: [asked] * len(SEEN) if asked in SEEN else SEEN, 100 * 35 / 54),
    ],
)
def test_equal_knowledge_of_both_halves_is_no_gap(system: System, gap: float) -> None:
    assert GAP_OF_SAME.value(values_of(system)) == pytest.approx(gap)


def test_the_score_without_codes_is_that_of_copying() -> None:
    of_halves = [values_of(lambda _: SEEN, f"mini_acc_{half}") for half in ("id", "comp")]
    means = [np.mean(np.array(values, float)) for values in of_halves]
    assert means == pytest.approx(splits.without_codes(SPLIT))


def test_intervals_of_a_system_that_reads_no_code_hold_zero_as_often_as_they_say() -> None:
    clusters = clusters_of([each for each in sum(SPLIT, ()) for _ in range(REPEATS)])
    rng, misses = random.Random(0), 0
    for _ in range(40):
        drawn = values_of(lambda _: rng.choices(SEEN, k=REPEATS))
        limits = interval(Column.of(drawn, GAP_OF_SAME), clusters, seed=1)
        misses += bool(limits) and not limits[0] <= 0 <= limits[1]
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
