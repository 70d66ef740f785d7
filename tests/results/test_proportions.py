"""Wilson's interval, McNemar's exact test, and the interval of a paired difference."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from scipy.optimize import minimize_scalar
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

from spor_tasks.metrics.tally import Column
from spor_tasks.results.proportions import difference_interval, paired, share_of, wilson

COUNTS = st.tuples(*[st.integers(0, 60)] * 4).filter(any)


def sides(both, gained, lost, none, most=1.0):
    """Columns of two systems with these numbers of documents right."""
    first = [1] * both + [0] * gained + [1] * lost + [0] * none
    second = [1] * both + [1] * gained + [0] * lost + [0] * none
    return [Column.of([most * right for right in each]) for each in (first, second)]


@given(COUNTS)
def test_wilson_and_mcnemar_are_statsmodels(counts):
    both, gained, lost, none = counts
    first, second = sides(*counts)
    found = paired(first, second, 1.0)
    table = [[both, lost], [gained, none]]
    assert found.p == pytest.approx(float(mcnemar(table, exact=True).pvalue))
    if gained + lost:
        assert found.p == pytest.approx(scipy_stats.binomtest(gained, gained + lost).pvalue)
    expected = proportion_confint(both + lost, sum(counts), method="wilson")
    interval = wilson(first, 1.0)
    assert (interval.low, interval.high) == pytest.approx(expected, abs=1e-6)
    assert found.value == pytest.approx(second.value - first.value)
    assert found.n == sum(counts)


@given(COUNTS)
def test_the_interval_of_a_difference_never_contradicts_its_test(counts):
    first, second = sides(*counts, most=100.0)
    found = paired(first, second, 100.0)
    low, high = found.interval.low, found.interval.high
    assert -100 <= low <= found.value <= high <= 100
    assert (found.p < 0.05) == (low > 0 or high < 0)
    mirrored = paired(second, first, 100.0).interval
    assert (-mirrored.high, -mirrored.low) == pytest.approx((low, high), abs=1e-5)


def test_it_is_tangos_where_that_is_the_wider():
    """Fagerland, Lydersen and Laake (2014) print these ends for two clinical studies."""
    low, high = difference_interval(1, 7, 21)
    assert low == pytest.approx(-0.517, abs=5e-4)
    assert high > 0  # exact p is 0.07, though their interval ends at -0.026
    assert difference_interval(6, 16, 161)[0] == pytest.approx(-0.124, abs=5e-4)


@pytest.mark.parametrize(("gained", "lost", "n"), [(12, 5, 80), (30, 40, 200), (3, 0, 50)])
def test_tangos_ends_are_where_a_fitted_table_is_just_rejected(gained, lost, n):
    """An obvious version: the likeliest table with a difference, found by search."""

    def z(difference):
        def unlikely(losses):
            gains = losses + difference
            same = 1 - gains - losses
            parts = ((gained, gains), (lost, losses), (n - gained - lost, same))
            if any(share < 0 or (count and share <= 0) for count, share in parts):
                return math.inf
            return -sum(count * math.log(share) for count, share in parts if count)

        least, most = max(0.0, -difference), (1 - difference) / 2
        losses = minimize_scalar(
            unlikely, bounds=(least, most), method="bounded", options={"xatol": 1e-12}
        ).x
        variance = 2 * losses + difference - difference**2
        return (gained - lost - n * difference) / math.sqrt(n * variance)

    exact = scipy_stats.binomtest(gained, gained + lost).proportion_ci(method="exact")
    exact = [(2 * share - 1) * (gained + lost) / n for share in exact]
    for end, of_test in zip(difference_interval(gained, lost, n), exact, strict=True):
        if end == pytest.approx(of_test):
            assert abs(z(end)) >= 1.9599
        else:
            assert abs(z(end)) == pytest.approx(1.959964, abs=1e-3)


def test_other_values_are_no_shares():
    ones, zeros = Column.of([1.0, 0.0]), Column.of([0.0, 0.0])
    assert share_of([ones, ones]) == share_of([zeros]) == 1
    assert share_of([Column.of([100.0, 0.0]), zeros]) == 100
    assert share_of([zeros], (0, 100)) == 100, "all wrong, of a known scale"
    assert share_of([ones, ones], (0, 100)) is None, "1 of 100 is no right answer"
    assert share_of([ones, Column.of([1.0, 0.5])]) is None
    assert share_of([ones, Column.of([2.0, 0.0])]) is None


def test_intervals_cover_and_equal_systems_seldom_differ():
    """95 % of intervals contain the true difference, for shares near and far from each other."""
    rng, n = np.random.default_rng(0), 60
    for gains, losses in product((0.02, 0.1, 0.3), repeat=2):
        counts = rng.multinomial(n, [gains, losses, 1 - gains - losses], 400)
        covered = rejected = 0
        for gained, lost, _ in counts:
            low, high = difference_interval(int(gained), int(lost), n)
            covered += low <= gains - losses <= high
            rejected += low > 0 or high < 0
        assert covered / len(counts) > 0.93
        if gains == losses:
            assert rejected / len(counts) < 0.06
