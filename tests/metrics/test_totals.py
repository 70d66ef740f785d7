"""Totals of values, and the gap between halves that ask for the same."""

import math
import random
from operator import eq

import numpy as np
import pytest
from scipy import stats

from spor_tasks.benchmarks.compmctg import splits
from spor_tasks.core.errors import ResultError
from spor_tasks.core.sample import Sample
from spor_tasks.corpora.compmctg.reader import units_of
from spor_tasks.corpora.embedded.attributes import SPACE
from spor_tasks.metrics.base import ScoreInfo
from spor_tasks.metrics.compmctg import accuracy_values
from spor_tasks.metrics.groups import in_groups
from spor_tasks.metrics.tally import Column, columns_of
from spor_tasks.metrics.totals import GAP_OF_SAME, GROUP_MEANS, MEAN, RATIO, Answers
from spor_tasks.results.stats import (
    _weights,
    clusters_of,
    difference,
    randomization_p_values,
)
from tests.support.scores import interval

TAUS = [(2, 0.1), (2, 0.7), (2, -0.4), (2, 0.2), (3, 1.0), (3, -1.0), (3, 1 / 3)]


def test_a_score_is_a_mean_and_counts_outputs_without_a_verdict():
    for totals, values, value, each in (
        (MEAN, [50.0, None, 100.0], 75.0, [50.0, math.nan, 100.0]),
        (GROUP_MEANS, [(2, 1.0), (2, 0.0), None, (5, 0.0)], 0.25, [1.0, 0.0, math.nan, 0.0]),
    ):
        column = Column.of(values, totals)
        score = column.score("m", "s")
        assert (score.name, score.signature, score.value) == ("m", "s", value)
        assert (score.n, score.unscored) == (len(values) - 1, 1)
        np.testing.assert_array_equal(column.each, each)
        for nothing in ([], [None]):
            score = Column.of(nothing, totals).score("", "")
            assert (score.n, score.unscored) == (0, len(nothing))
            for number in (score.value, totals.value(nothing), totals.stderr(nothing)):
                assert math.isnan(number)


def test_scores_of_some_samples_are_given_where_there_are_such_samples():
    some = [ScoreInfo(f"m_{size}", "", of_some=True) for size in (2, 3, 4)]
    infos = (ScoreInfo("m", ""), ScoreInfo("k", ""), *some)
    values = [{"m_3": 1.0, "m": 1.0, "k": None}, {"m_2": 0.0, "m": 0.0, "k": None}]
    found = {info.name: (column, named) for info, column, named in columns_of(infos, values)}
    counts = {name: column.score(name, "").n for name, (column, _) in found.items()}
    assert counts == {"m": 2, "k": 0, "m_2": 1, "m_3": 1}
    assert (found["m_2"][1].tolist(), found["m"][1].tolist()) == ([False, True], [True, True])


def test_a_mean_does_not_depend_on_the_order_of_outputs():
    numbers = [0.1, 1e16, 0.3, -1e16, 0.7] * 3
    assert MEAN.value(numbers) == MEAN.value(numbers[::-1]) == math.fsum(numbers) / 15
    taus = [(2 + n % 6, math.sin(n)) for n in range(100)]
    for of in (GROUP_MEANS.value, GROUP_MEANS.stderr):
        assert of(taus[1::2] + taus[::2]) == of(taus)


def test_errors_are_those_of_a_mean_and_of_a_mean_of_independent_means():
    two, three = ([tau for size, tau in TAUS if size == of] for of in (2, 3))
    assert MEAN.stderr(two) == pytest.approx(stats.sem(two))
    assert GROUP_MEANS.stderr(TAUS[:4]) == pytest.approx(stats.sem(two))
    expected = math.hypot(stats.sem(two), stats.sem(three)) / 2
    assert GROUP_MEANS.stderr(TAUS) == pytest.approx(expected)
    assert math.isnan(GROUP_MEANS.stderr([(2, 0.5), (2, 0.6), (3, 0.1)]))  # a group of one
    assert math.isnan(MEAN.stderr([0.5]))


HALVES = [(half, value, 10 * half + value) for half in (0.0, 1.0) for value in (7.0, 7.0, 8.0)]


def test_a_weighted_sum_of_what_differs_is_known_as_such():
    """Of any other score, such as a ratio, what a cluster adds depends on the whole."""
    rng = np.random.default_rng(0)
    for totals, values in (
        (MEAN, [3.0, 5.0, 10.0]),
        (GROUP_MEANS, TAUS),
        (GAP_OF_SAME, [*HALVES, (1.0, 7.0, 50.0)]),
    ):
        first = totals.statistics(values)
        is_sum = np.arange(first.shape[1]) % 2 == 0
        second = first + is_sum * (first != 0) * rng.random(first.shape)
        weights = _weights(totals, np.stack([first, second]))
        one, other = (float(totals.score(each.sum(axis=0))) for each in (first, second))
        assert (second - first).sum(axis=0) @ weights == pytest.approx(other - one)
    parts = 1 + rng.random((3, 20, 2))
    assert _weights(RATIO, parts) is None


def test_a_group_has_the_same_columns_whatever_others_there_are():
    few, many = (GROUP_MEANS.statistics([(n, 1.0) for n in of]) for of in ((2, 3), (3, 7)))
    assert few[1].tolist() == many[0, : few.shape[1]].tolist()
    one, other = (
        Column.of([None, (7, 1.0)], GROUP_MEANS),
        Column.of([(2, 0.0), (7, 1.0)], GROUP_MEANS),
    )
    assert difference(one, other, np.arange(2)).value == 0


def test_values_of_another_kind_are_an_error():
    others = [[(2, 1.0)], [0.5, (2, 1.0)], ["a"]]
    for totals, values in (
        *((MEAN, each) for each in others),
        *((GROUP_MEANS, each) for each in ([0.5, 1.0], [(0.5, 1.0)], [(-1, 1.0)], [(1e9, 1.0)])),
    ):
        with pytest.raises(ResultError):
            Column.of(values, totals)


SPLIT = splits.shipped(SPACE, "acd")[0]
SEEN = SPLIT.seen
KNOWN = {values[0] for values in SPACE.aspects.values()}
REPEATS = 30


def values_of(system, score="mini_gap_real"):
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


def of_known_values(asked):
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
def test_equal_knowledge_of_both_halves_is_no_gap(system, gap):
    assert GAP_OF_SAME.value(values_of(system)) == pytest.approx(gap)


def test_the_score_without_codes_is_that_of_copying():
    of_halves = [values_of(lambda _: SEEN, f"mini_acc_{half}") for half in ("id", "comp")]
    means = [np.mean(np.array(values, float)) for values in of_halves]
    assert means == pytest.approx(splits.without_codes(SPLIT))


def test_intervals_of_a_system_that_reads_no_code_hold_zero_as_often_as_they_say():
    clusters = clusters_of([each for each in sum(SPLIT, ()) for _ in range(REPEATS)])
    rng, misses = random.Random(0), 0
    for _ in range(40):
        drawn = values_of(lambda _: rng.choices(SEEN, k=REPEATS))
        limits = interval(Column.of(drawn, GAP_OF_SAME), clusters, seed=1)
        misses += bool(limits) and not limits[0] <= 0 <= limits[1]
    assert misses <= 7  # 2 are expected; more have a probability of 0.1 %


def answers(kind, **right):
    return Answers((kind,), right)


SHARED = [answers(0, a=100.0), answers(0, a=50.0), answers(1, a=25.0)]


@pytest.mark.parametrize(
    ("drawn", "gap"),
    [
        (SHARED, 50),
        ([*SHARED, None, answers(1, b=0.0), answers(0, c=0.0)], 50),
        ([], math.nan),
        ([None], math.nan),
        (SHARED[:2], math.nan),
        ([answers(0, a=5.0), answers(1, b=5.0)], math.nan),
    ],
)
def test_values_that_only_one_half_asks_for_are_left_out(drawn, gap):
    assert GAP_OF_SAME.value(drawn) == pytest.approx(gap, nan_ok=True)


def test_a_half_of_one_combination_has_no_interval_and_damaged_values_are_refused():
    drawn = [(float(n == 0), 1.0, 10.0 * n) for n in range(12) for _ in range(3)]
    clusters = np.repeat(np.arange(12), 3)
    assert interval(Column.of(drawn, GAP_OF_SAME), clusters, seed=0) is None
    before = [(0.0, 7.0, 100.0), (0.0, 7.0, 50.0), (1.0, 7.0, 25.0), None]  # in version 0.2
    assert GAP_OF_SAME.value(before) == GAP_OF_SAME.value(SHARED)
    of_two = [Answers((0, 1), {"a": 10.0}), Answers((1, 0), {"a": 40.0})]
    assert GAP_OF_SAME.value([(0b101, 7.0, 10.0), (0b110, 7.0, 40.0)]) == GAP_OF_SAME.value(of_two)
    damaged = (
        answers(2, a=5.0),
        Answers((), {"a": 5.0}),
        Answers((0, 1), {"a": 5.0}),
        (2.0, 1.0, 5.0),
        (0.0, 1.0),
        (0.0, 1.0, 5.0, 2.0, 5.0),
        0.5,
    )
    for value in damaged:
        with pytest.raises((TypeError, ValueError)):
            GAP_OF_SAME.statistics([answers(0, a=100.0), value])
    with pytest.raises(ValueError, match="two numbers for each question"):
        GAP_OF_SAME.statistics([(0.0, 1.0)])


def _p(first, second):
    (p,) = randomization_p_values([(first, second)], np.arange(len(first.statistics)), seed=1)
    return p


def test_systems_are_tested_on_the_same_things_asked():
    """One of two may lack all outputs that are asked for a thing, or have an older log."""
    rng = random.Random(0)
    asked = [(n % 2, "ab"[n % 4 > 1] if n > 9 else "0", "yz"[n % 3 > 1]) for n in range(60)]
    new, old = [], []
    for right in (0.8, 0.4):
        verdicts = [[100.0 * (rng.random() < right) for _ in "12"] for _ in asked]
        new.append(
            [
                Answers((kind,), {f"b {one}": of_one, f"a {two}": of_two})
                for (kind, one, two), (of_one, of_two) in zip(asked, verdicts, strict=True)
            ]
        )
        old.append(
            [
                (float(kind), 99.0 - ord(one), of_one, float(ord(two)), of_two)
                for (kind, one, two), (of_one, of_two) in zip(asked, verdicts, strict=True)
            ]
        )
    lacking = [None] * 10 + new[1][10:]
    columns = [Column.of(values, GAP_OF_SAME) for values in (*new, *old, lacking)]
    of_common = [Column.of([None] * 10 + values[10:], GAP_OF_SAME) for values in new]
    assert _p(columns[0], columns[4]) == pytest.approx(_p(*of_common))
    assert _p(columns[0], columns[3]) == pytest.approx(_p(columns[0], columns[1]))
    assert _p(columns[0], columns[2]) == 1


def _squares(values):
    return [(group, number**2) for group, number in values]


def test_the_halves_of_a_gap_are_exchanged_whatever_groups_a_system_has():
    rng = random.Random(0)
    few, many = ([(2 + n % sizes, rng.random()) for n in range(40)] for sizes in (3, 5))
    first, second = (
        Column.of(values, GROUP_MEANS).less(Column.of(_squares(values), GROUP_MEANS))
        for values in (few, many)
    )
    wider = Column.of([*few, (9, 1.0)], GROUP_MEANS).take(np.arange(40))
    same = wider.less(Column.of(_squares(few), GROUP_MEANS))
    assert _p(first, second) == pytest.approx(_p(same, second))
    assert _p(first, same) == 1
