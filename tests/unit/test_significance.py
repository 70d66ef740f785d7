"""Resampling: known answers, seeds, and agreement with scipy."""

import numpy as np
import pytest
from scipy import stats

from spor_tasks.metrics import significance as sig
from spor_tasks.metrics.base import Column

VALUES = np.random.default_rng(11).random(300)


def test_an_interval_agrees_with_scipys_percentile_bootstrap() -> None:
    expected = stats.bootstrap(
        (VALUES,), np.mean, n_resamples=5_000, method="percentile", rng=np.random.default_rng(5)
    ).confidence_interval
    low, high = sig.bootstrap_interval(sig.mean_of(VALUES), len(VALUES), seed=1)
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=0.003)
    assert low < VALUES.mean() < high


def test_more_confidence_is_a_wider_interval() -> None:
    narrow = sig.bootstrap_interval(sig.mean_of(VALUES), 300, seed=1, confidence=0.5)
    wide = sig.bootstrap_interval(sig.mean_of(VALUES), 300, seed=1, confidence=0.99)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_a_seed_fixes_every_digit() -> None:
    def draw(seed: int) -> tuple[float, float]:
        return sig.bootstrap_interval(sig.mean_of(VALUES), 300, seed=seed)

    assert draw(1) == draw(1) != draw(2)


def test_the_macro_mean_of_the_sample_itself_is_that_of_its_groups() -> None:
    values = np.array([1.0, 3.0, 10.0])
    statistic = sig.macro_mean_of(values, np.array([2, 2, 7]))
    everything, one_group = np.array([[0, 1, 2], [0, 0, 1]])
    assert statistic(np.array([everything]))[0] == (2.0 + 10.0) / 2
    assert statistic(np.array([one_group]))[0] == pytest.approx(5 / 3)


def test_equal_systems_do_not_differ_and_distant_ones_do() -> None:
    better = VALUES + 0.2
    for test in (sig.paired_bootstrap, sig.approximate_randomization):
        assert test(VALUES, VALUES, seed=1) == 1.0
        assert test(VALUES, better, seed=1) == pytest.approx(1 / 10_001)
        assert test(VALUES, better, seed=1) == test(better, VALUES, seed=1)


def test_approximate_randomization_agrees_with_scipys_permutation_test() -> None:
    other = VALUES + np.random.default_rng(12).normal(0.01, 0.1, 300)
    expected = stats.permutation_test(
        (VALUES, other),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        n_resamples=5_000,
        rng=np.random.default_rng(3),
    ).pvalue
    assert sig.approximate_randomization(VALUES, other, seed=2) == pytest.approx(expected, abs=0.02)


def test_false_alarms_come_as_often_as_p_says() -> None:
    rng = np.random.default_rng(13)
    alarms = sum(
        sig.approximate_randomization(*rng.normal(size=(2, 40)), seed=seed, resamples=400) < 0.1
        for seed in range(300)
    )
    assert 15 <= alarms <= 48  # 30 expected; outside by chance once in a thousand runs


def test_arms_are_compared_by_their_means_over_seeds() -> None:
    one = np.stack([VALUES, VALUES + 0.1])
    other = np.stack([VALUES + 0.1, VALUES])
    assert sig.arms_over_seeds(one, other, seed=1) == 1.0


def test_what_cannot_be_compared_is_an_error() -> None:
    with pytest.raises(ValueError, match="not of the same samples"):
        sig.paired_bootstrap(VALUES, VALUES[:-1], seed=1)
    with pytest.raises(ValueError, match="no samples"):
        sig.bootstrap_interval(sig.mean_of(VALUES), 0, seed=1)
    with pytest.raises(ValueError, match="no samples"):
        sig.approximate_randomization(VALUES[:0], VALUES[:0], seed=1)


def test_a_columns_interval_is_that_of_what_has_a_verdict() -> None:
    scored = sig.bootstrap_interval(sig.mean_of(VALUES), 300, seed=1)
    gaps = np.concatenate([VALUES, [np.nan] * 50])
    found = sig.interval(Column(gaps, np.zeros(350, np.int64)), seed=1)
    assert found == pytest.approx(scored)
    assert sig.interval(Column(gaps[300:], np.zeros(50, np.int64)), seed=1) is None


def test_columns_are_compared_on_what_both_have_a_verdict_of() -> None:
    one, other = np.array([1.0, 2.0, np.nan, 4.0]), np.array([0.0, np.nan, 3.0, 2.0])
    groups = np.zeros(4, np.int64)
    compared = sig.compare(Column(one, groups), Column(other, groups), seed=1)
    assert compared
    assert (compared.difference, compared.n) == (1.5, 2)
    assert sig.compare(Column(one[1:3], groups[:2]), Column(other[1:3], groups[:2]), seed=1) is None


def test_a_compared_group_weighs_as_much_as_any_other() -> None:
    groups = np.array([2, 2, 2, 7])
    one, other = np.array([1.0, 1.0, 1.0, 0.0]), np.array([0.0, 0.0, 0.0, 1.0])
    compared = sig.compare(Column(one, groups), Column(other, groups), seed=1)
    assert compared
    assert compared.difference == pytest.approx(0)
    assert compared.p_randomization == 1


def a_column(seed: int, groups: int = 1, unscored: float = 0.0) -> Column:
    rng = np.random.default_rng(seed)
    numbers = rng.random(120)
    numbers[rng.random(120) < unscored] = np.nan
    return Column(numbers, np.arange(120) % groups)


COLUMNS = [a_column(1), a_column(2, groups=6), a_column(3, groups=6, unscored=0.4)]


def test_columns_resampled_together_have_the_intervals_that_each_has_alone() -> None:
    whole = COLUMNS[:2]  # of a column with unscored samples only the scored ones are drawn alone
    scores = sig.resampled_scores(whole, seed=4)
    assert scores.shape == (sig.RESAMPLES, 2)
    for column, found in zip(whole, scores.T, strict=True):
        assert sig.percentile_interval(found) == pytest.approx(sig.interval(column, seed=4))


def test_unscored_samples_are_drawn_and_do_not_count() -> None:
    (scores,) = sig.resampled_scores([COLUMNS[2]], seed=4).T
    assert scores.mean() == pytest.approx(COLUMNS[2].score("", "").value, abs=0.005)
    assert sig.percentile_interval(scores) == pytest.approx(
        sig.interval(COLUMNS[2], seed=4), abs=0.02
    )


def test_a_column_without_a_verdict_has_no_resampled_score() -> None:
    nothing = Column(np.full(120, np.nan), np.zeros(120, int))
    scores = sig.resampled_scores([COLUMNS[0], nothing], seed=4)
    assert np.isnan(scores[:, 1]).all()
    assert not np.isnan(scores[:, 0]).any()


def test_pairs_tested_together_have_the_p_that_each_has_alone() -> None:
    other = [
        Column(column.numbers + 0.02 * a_column(9).numbers, column.groups) for column in COLUMNS
    ]
    pairs = list(zip(COLUMNS, other, strict=True))
    together = sig.randomization_p_values(pairs, seed=5)
    alone = [sig.compare(*pair, seed=5) for pair in pairs]
    assert together[:2] == pytest.approx([found.p_randomization for found in alone[:2] if found])
    assert alone[2]
    assert together[2] == pytest.approx(alone[2].p_randomization, abs=0.02)


def test_a_pair_without_a_common_verdict_has_no_p() -> None:
    nothing = Column(np.full(120, np.nan), np.zeros(120, int))
    first, second = sig.randomization_p_values(
        [(COLUMNS[0], COLUMNS[0]), (COLUMNS[0], nothing)], seed=5
    )
    assert first == 1.0
    assert np.isnan(second)


def test_holm_multiplies_by_what_is_left_and_never_falls() -> None:
    # by hand: 4 · 0.01, 3 · 0.02, 2 · 0.03 raised to 0.06, 1 · 0.9
    assert sig.holm([0.03, 0.01, 0.9, 0.02]) == pytest.approx([0.06, 0.04, 0.9, 0.06])
    assert sig.holm([0.6, 0.7]) == [1.0, 1.0]
    assert sig.holm([]) == []
