"""Resampling and variances: known answers, seeds, agreement with scipy and with slow oracles."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from docs.benchmarks import intervals
from spor_tasks.core.sample import AttributeValue, Names, Sample
from spor_tasks.metrics.tally import Column
from spor_tasks.metrics.totals import GROUP_MEANS, RELATIVE_GAP, Ratio
from spor_tasks.results import stats as sig
from spor_tasks.results.stats import clusters_of, detectable, differences, freedom_of
from spor_tasks.results.student import Variances, reach
from spor_tasks.results.student import p_of as p_of_student
from tests.support.damage import SOAK
from tests.support.scores import interval

VALUES = np.random.default_rng(11).random(300)
APART = np.arange(300)
"""Samples that are clusters of one."""


def column(values, groups=()):
    if len(groups):
        return Column.of(list(zip(groups, values, strict=True)), GROUP_MEANS)
    return Column.of(list(values))


def p_of(one, other, clusters, seed=0):
    (p,) = sig.randomization_p_values([(one, other)], clusters, seed=seed)
    return p


def test_copies_of_every_sample_tell_nothing_new():
    """Each sample three times, in one cluster: interval and p are those of the samples once."""
    one, other = column(VALUES), column(VALUES + np.random.default_rng(5).normal(0.02, 0.2, 300))
    thrice = np.repeat(APART, 3)
    copies = [column(np.repeat(each.each, 3)) for each in (one, other)]
    assert interval(copies[0], thrice) == pytest.approx(interval(one, APART))
    assert p_of(copies[0], copies[1], thrice) == p_of(one, other, APART)
    assert sig.over_runs([[copies[0]]], thrice) == pytest.approx(sig.over_runs([[one]], APART))


@pytest.mark.parametrize("middle", [0.8, 0.95])
def test_students_quantile_is_scipys(middle):
    freedom = np.array([[*np.linspace(1, 4, 61)], [*np.geomspace(4, 1e14, 60), math.inf]])
    theirs = stats.t.ppf((1 + middle) / 2, freedom)
    assert reach(freedom, middle) == pytest.approx(theirs, rel=1e-12)
    assert math.isnan(reach(0.0))


def test_an_interval_is_scipys_percentile_bootstrap_of_what_has_a_verdict():
    expected = stats.bootstrap(
        (VALUES,), np.mean, n_resamples=5_000, method="percentile", rng=np.random.default_rng(5)
    ).confidence_interval
    found = interval(column(VALUES), APART)
    assert found == pytest.approx((expected.low, expected.high), abs=0.003)
    gaps = column([*VALUES, *[math.nan] * 50])
    assert interval(gaps, np.arange(350)) == pytest.approx(found)
    assert interval(column([math.nan] * 50), np.arange(50)) is None
    with pytest.raises(ValueError, match="no samples"):
        sig.resampled_scores([column([])], np.array([], np.int64))


def a_column(seed, groups=1, unscored=0.0, more=0.0):
    rng = np.random.default_rng(seed)
    numbers = rng.random(120)
    numbers[rng.random(120) < unscored] = np.nan
    numbers += more * np.random.default_rng(9).random(120)
    return column(numbers, np.arange(120) % groups if groups > 1 else ())


def columns(more=0.0):
    rows = ((1, 1, 0.0), (2, 6, 0.0), (3, 6, 0.4))
    return [a_column(*row, more) for row in rows]


COLUMNS = columns()
CLUSTERS = np.arange(120) // 2 % 50


class Perplexity(Ratio):
    """A score that is no mean of outputs: a value is a text's loss and its number of tokens."""

    def score(self, totals):
        return np.exp(super().score(totals))


class Pooled(Ratio):
    resampled = False


def texts(seed, loss=2.0):
    rng = np.random.default_rng(seed)
    drawn = [(rng.normal(loss, 0.3), int(rng.integers(5, 40))) for _ in range(120)]
    return [None if rng.random() < 0.1 else (mean * n, n) for mean, n in drawn]


def perplexity(seed, loss=2.0):
    return Column.of(texts(seed, loss), Perplexity())


def slow_perplexity(of):
    told = [text for text in of if text]
    return math.exp(sum(loss for loss, _ in told) / sum(tokens for _, tokens in told))


def test_resampled_scores_are_those_of_the_samples_drawn():
    """The slow way: write down the samples of each cluster that is drawn, and score these."""
    of, nothing = texts(1), column([math.nan] * 120)
    means = [*COLUMNS, COLUMNS[0].less(COLUMNS[2])]
    columns = [*means, perplexity(1), nothing]
    scores = sig.resampled_scores(columns, CLUSTERS, seed=4, resamples=20)
    draws = np.random.default_rng(4).integers(0, 50, (20, 50))
    for drawn, found in zip(draws, scores, strict=True):
        samples = np.concatenate([np.flatnonzero(cluster == CLUSTERS) for cluster in drawn])
        expected = [each.take(samples).value for each in means]
        perplex = slow_perplexity([of[i] for i in samples])
        assert found == pytest.approx([*expected, perplex, math.nan], nan_ok=True)


def test_exchanges_of_totals_are_those_of_the_texts():
    """The slow way: write down both systems after each exchange, and score these."""
    both = list(zip(texts(1), texts(2, loss=2.02), strict=True))
    one, other = ([pair[i] if all(pair) else None for pair in both] for i in (0, 1))
    observed = abs(slow_perplexity(one) - slow_perplexity(other))
    extreme = 0
    for signs in np.concatenate([*sig._exchanges(50, 3, 200)]):
        kept = [signs[cluster] > 0 for cluster in CLUSTERS]
        first = [a if keep else b for a, b, keep in zip(one, other, kept, strict=True)]
        second = [b if keep else a for a, b, keep in zip(one, other, kept, strict=True)]
        extreme += abs(slow_perplexity(first) - slow_perplexity(second)) >= observed - 1e-9
    pair = perplexity(1), perplexity(2, loss=2.02)
    (found,) = sig.randomization_p_values([pair], CLUSTERS, seed=3, resamples=200)
    assert found == pytest.approx((extreme + 1) / 201, abs=0.02)  # its effects are derivatives
    assert 1 / 201 < found < 1


def test_a_cluster_pulls_as_the_score_changes_where_it_counts_more():
    of, nudge = texts(1), 1e-6
    column = perplexity(1)
    parts = sig._by_cluster(column.statistics, CLUSTERS, 50)
    pulls = column.totals.pulls(parts.sum(axis=0), parts)
    for cluster in (0, 17, 49):
        weighed = [(text, 1 + nudge * (c == cluster)) for text, c in zip(of, CLUSTERS, strict=True)]
        loss, tokens = (sum(text[i] * w for text, w in weighed if text) for i in (0, 1))
        expected = (math.exp(loss / tokens) - slow_perplexity(of)) / nudge
        assert pulls[cluster] == pytest.approx(expected, rel=1e-3)
    assert pulls.sum() == pytest.approx(0, abs=1e-9)


def test_what_cannot_be_resampled_has_a_score_and_no_more():
    pooled = Column.of([(2.0, 3.0), (1.0, 2.0), (1.0, 1.0)], Pooled())
    assert pooled.value == pytest.approx(4 / 6)
    clusters = np.arange(3)
    assert interval(pooled, clusters) is None
    assert sig.difference(pooled, pooled, clusters) is None
    assert sig.over_runs([[pooled]], clusters) is None
    mixed = [column([1.0, 2.0, 3.0]), pooled]
    scores = sig.resampled_scores(mixed, clusters, seed=0, resamples=9)
    assert np.isnan(scores).all(axis=0).tolist() == [False, True]
    p = sig.randomization_p_values([(each, each) for each in mixed], clusters)
    assert np.isnan(p).tolist() == [False, True]


# --- Two systems, one run each --------------------------------------------------------------------


def test_equal_systems_do_not_differ_and_a_small_p_is_no_less_than_that_of_all_exchanges():
    one, better = column(VALUES), column(VALUES + 0.2)
    assert p_of(one, one, APART) == 1.0
    assert p_of(one, better, APART) == p_of(better, one, APART) < 1e-60
    ones, zeros = column(np.ones(20)), column(np.zeros(20))  # two of 2^20 are as extreme
    assert 2 / 2**20 <= p_of(ones, zeros, np.arange(20)) < 1 / 10_001


def test_randomization_exchanges_whole_clusters():
    """Of ten clusters all 1,024 exchanges are enumerated."""
    rng = np.random.default_rng(6)
    clusters = np.repeat(np.arange(10), 4)
    one, other = rng.normal(size=40), rng.normal(0.3, 1, 40)
    sums = np.bincount(clusters, one - other)
    flips = np.array(list(itertools.product((-1, 1), repeat=10)))
    expected = (np.abs(flips @ sums) >= abs(sums.sum()) - 1e-9).mean()
    assert p_of(column(one), column(other), clusters) == pytest.approx(expected, abs=0.015)


def test_samples_share_the_name_that_most_of_them_have():
    unit = AttributeValue("area", "sea")
    bell, gull = (
        Sample(name, "e2e", (unit, AttributeValue("near", "Ash")), (), {"name": name})
        for name in ("Bell", "Gull")
    )
    twin = Sample("", "e2e", (unit, AttributeValue("near", "Bix")), (), {"name": "Dorm"})
    keys = [replace(each, twin=twin).cluster for each in (bell, bell, gull)]
    assert keys == [Names({"Bell", "Ash"})] * 2 + [Names({"Gull", "Ash"})]
    assert clusters_of([*keys, Names({"Gull"}), gull.cluster]).tolist() == [0, 0, 0, 1, 2]


def test_few_unequal_clusters_widen_an_interval():
    """Names like those of E2E: some are on a hundred samples, most on a few."""
    assert freedom_of(np.arange(30)) == pytest.approx(29)
    assert freedom_of(np.zeros(5, int)) == 1
    rng, sizes = np.random.default_rng(0), [150, 90, 60, *[6] * 6]
    clusters, outside = np.repeat(np.arange(9), sizes), 0
    for _ in range(200):
        values = rng.normal(0, 10, 9)[clusters] + rng.normal(0, 20, len(clusters))
        found = sig.estimate([[column(values)]], clusters).interval
        outside += not found.low <= 0 <= found.high
    assert outside <= 10  # 5 %; by percentiles alone 29


def test_an_interval_and_the_p_beside_it_agree_and_stay_in_the_scale():
    rng, seen = np.random.default_rng(0), []
    for number in range(300):
        count = int(rng.integers(2, 40))
        clusters = np.concatenate([np.arange(count), rng.integers(0, count, number % 60)])
        one = rng.integers(0, 5, len(clusters)) * 25.0
        moved = rng.integers(-1, 3, len(clusters)) * (rng.random(len(clusters)) < 0.4)
        other = np.clip(one + 25 * moved, 0, 100)
        one[rng.random(len(clusters)) < 0.1 * (number % 3)] = np.nan
        if (found := sig.difference(column(one), column(other), clusters, (0, 100))) is None:
            continue
        seen.append(found)
        if (interval := found.interval) is None:
            assert found.p > 0.05
            assert found.notes
            continue
        assert -100 <= interval.low <= found.value <= interval.high <= 100
        assert interval.low < interval.high
        assert (interval.low <= 0 <= interval.high) == (found.p >= 0.05)
    assert sum(found.interval is not None for found in seen) > 200
    assert sum(0.01 < found.p < 0.1 for found in seen) > 40


def test_an_interval_has_the_differences_that_no_test_rejects():
    """Of nine unequal clusters all exchanges are written down, of what is left of each effect."""
    rng = np.random.default_rng(2)
    sizes = np.array([1, 1, 2, 2, 3, 3, 4, 4, 5])
    clusters = np.repeat(np.arange(9), sizes)
    one, other = rng.normal(3, 2, len(clusters)), rng.normal(0, 2, len(clusters))
    low, high = sig.randomization_interval([column(one), column(other)], clusters)
    signs = np.array(list(itertools.product((-1, 1), repeat=9)))
    effects = np.bincount(clusters, one - other)

    def p(true):
        left = effects - true * sizes
        return (np.abs(signs @ left) >= abs(left.sum()) - 1e-9).mean()

    width = 0.05 * (high - low)
    assert p(low + width) > 0.05 > p(low - width)
    assert p(high - width) > 0.05 > p(high + width)


@pytest.mark.parametrize("count", [2, 3, 5, 6, 40, 2000])
def test_clusters_that_all_agree_have_no_interval_of_width_zero(count):
    one, other, clusters = column([100.0] * count), column([90.0] * count), np.arange(count)
    found = sig.difference(one, other, clusters, (0, 100))
    assert (found.interval is None) == (count < 6) == (found.p > 0.05)
    why = "fewer than six clusters" if count < 6 else "all clusters say the same"
    assert sig.difference(one, one, clusters).notes == (f"no interval of the difference: {why}",)
    if found.interval:
        assert 0 < found.interval.low < 10 < found.interval.high
    assert sig.difference(one, one, clusters, (0, 100)).interval is None
    alone = sig.estimate([[one]], clusters, (0, 100)).interval
    exact = stats.binomtest(count, count).proportion_ci(method="exact")
    assert (alone.low, alone.high) == pytest.approx((100 * exact.low, 100), abs=1e-5)
    assert sig.estimate([[one]], clusters).interval is None
    runs = sig.estimate([[one] * 2, [other] * 3], clusters, (0, 100))
    assert (runs.interval is None) == (count < 6)


def test_the_interval_of_a_large_difference_of_bleu_holds_it():
    """BLEU is no sum: its linear part misses the difference of a good system and a bad one."""
    rng = np.random.default_rng(0)
    lengths = intervals.drawn(rng, intervals.SETTINGS[0])
    good, bad = (
        intervals.bleu_column(rng, each, 0.35, lengths) for each in (lengths, lengths * 0.3)
    )
    found = sig.difference(good, bad, np.arange(200), (0, 100))
    assert found.value > 60
    assert found.interval.low < found.value < found.interval.high
    (low, high), value = sig.randomization_interval((bad, good), np.arange(200)), -found.value
    assert low < value < high < 0


@pytest.mark.parametrize("ratios", [(1.05, 0.92), (1.3, 0.7)])
def test_equal_bleu_of_long_and_short_outputs_is_no_difference(ratios):
    """The brevity penalty bends BLEU: at the mean of both systems its slope is that of neither."""
    drawn, rng, clusters = intervals.bleus(*ratios), np.random.default_rng(1), np.arange(40)
    seen = [sig.difference(*drawn(rng, 40)[:2], clusters, (0, 100)) for _ in range(80)]
    assert sum(found.p < 0.05 for found in seen) <= 10
    assert sum(found.p < 0.5 for found in seen) >= 25
    for found in seen:
        low, high = found.interval.low, found.interval.high
        assert low < found.value < high
        assert (low <= 0 <= high) == (found.p >= 0.05)


@pytest.mark.parametrize("outputs", [1, 3, 5, 6, 100])
def test_a_gap_to_a_few_clusters_is_found_by_chance_alone(outputs):
    """An exchange of all outputs of a kind says nothing of other outputs of that kind."""
    rng, clusters = np.random.default_rng(outputs), np.arange(200)
    few, seen = clusters < outputs, []
    for _ in range(60):
        values = rng.normal(60, 15, 200) + rng.normal(0, 12, (2, 200))
        rows = [np.stack([each * ~few, ~few, each * few, few], axis=1) for each in values]
        pair = [Column(each.astype(float), RELATIVE_GAP) for each in rows]
        seen.append(sig.difference(*pair, clusters))
    assert sum(found.p < 0.05 for found in seen) <= (0 if outputs < 6 else 8)
    assert all((found.interval is None) == (outputs < 6) for found in seen)


@pytest.mark.parametrize(("quality", "words"), [(-0.5, 12), (-0.45, 12), (0.0, 3)])
def test_equal_bleu_of_few_matches_is_no_difference(quality, words):
    """Without a match of some order BLEU jumps, which is no evidence of any cluster."""
    rng, clusters = np.random.default_rng(words), np.arange(40)
    seen = []
    for _ in range(60):
        lengths = rng.integers(words - 2, words + 3, 40).astype(float)
        pair = [intervals.bleu_column(rng, lengths, quality) for _ in range(2)]
        seen.append(sig.difference(*pair, clusters, (0, 100)))
    assert sum(found.p < 0.05 for found in seen) <= 8
    for found in seen:
        if found.interval:
            assert found.interval.low <= found.value <= found.interval.high
            assert (found.interval.low <= 0 <= found.interval.high) == (found.p >= 0.05)


def test_a_few_outputs_with_most_of_the_words_widen_the_interval_of_bleu():
    """`docs/validity.md` has the share of intervals that miss, by samples and by words."""
    how = intervals.SETTINGS[2]
    outputs = intervals.bleu_column(rng := np.random.default_rng(0), intervals.drawn(rng, how))
    clusters = np.arange(how.outputs)
    freedom = freedom_of(clusters, outputs.shares)
    assert 2 < freedom < 4  # of 60 outputs three have 84 % of the words
    low, high = interval(outputs, clusters)
    found = sig.estimate([[outputs]], clusters).interval
    wider = stats.t.ppf(0.975, freedom) / stats.norm.ppf(0.975)
    assert found.high - found.low == pytest.approx(wider * (high - low), rel=1e-4)
    both = outputs.less(outputs)
    assert freedom_of(clusters, both.shares) == pytest.approx(freedom)
    grouped = column([1.0] * 10, [2] * 9 + [3])
    assert freedom_of(np.arange(10), grouped.shares) == pytest.approx(1 / (0.25 + 0.25 / 9) - 1)
    assert intervals.missed(how, trials=60)[1] <= 0.1


def test_columns_are_compared_on_what_both_have_a_verdict_on_and_groups_weigh_alike():
    one, other = column([1.0, 2.0, math.nan, 4.0]), column([0.0, math.nan, 3.0, 2.0])
    compared = sig.difference(one, other, np.arange(4))
    assert (compared.value, compared.n, compared.clusters) == (1.5, 2, 2)
    assert sig.difference(column([math.nan]), column([1.0]), np.arange(1)) is None
    one, other = column([1, 1, 1, 0], [2, 2, 2, 7]), column([0, 0, 0, 1], [2, 2, 2, 7])
    compared = sig.difference(one, other, np.arange(4))
    assert (compared.value, compared.p) == (pytest.approx(0), 1)
    assert sig.over_runs([[column([1.0, 3.0, 10.0], [2, 2, 7])]], np.arange(3)).value == 6.0


def test_pairs_tested_together_have_the_p_that_each_has_alone():
    nothing = column([math.nan] * 120)
    all_ = [*COLUMNS, *columns(more=0.02), perplexity(1), perplexity(2), nothing]
    numbers = [(0, 3), (1, 4), (2, 5), (0, 4), (2, 0), (6, 7), (0, 0), (0, 8)]
    pairs = [(all_[i], all_[j]) for i, j in numbers]
    together = sig.randomization_p_values(pairs, CLUSTERS, seed=5)
    alone = [p_of(*pair, CLUSTERS, seed=5) for pair in pairs]
    assert together == pytest.approx(alone, abs=1e-12, nan_ok=True)
    assert together[6] == 1.0
    assert math.isnan(together[7])
    assert sig.randomization_p_values([], CLUSTERS) == []


# --- Several runs ---------------------------------------------------------------------------------


def test_systems_are_compared_sample_by_sample():
    """Samples that are hard for both do not widen their difference, nor do runs that take turns."""
    alone = sig.over_runs([[column(VALUES)]], APART)
    assert alone == pytest.approx((VALUES.mean(), stats.sem(VALUES), 299))
    noise = np.random.default_rng(2).normal(0, 0.01, 300)
    better, swinging = VALUES + noise, np.where(APART % 2, 0.1, -0.1)
    paired = sig.over_runs([[column(VALUES)], [column(better)]], APART)
    assert paired.error == pytest.approx(stats.sem(noise))
    turns = sig.over_runs([[column(VALUES + swinging), column(VALUES - swinging)]], APART)
    assert turns.error == pytest.approx(stats.sem(VALUES))


def test_runs_that_all_samples_share_have_the_variance_of_the_runs():
    """Runs differ by a constant: Welch's test of the runs, and the samples add nothing."""
    one, other = [50.0, 51.0, 53.0], [45.0, 49.0]
    systems = [[column([score] * 40) for score in scores] for scores in (one, other)]
    expected = stats.ttest_ind(one, other, equal_var=False)
    for found in (sig.over_runs(systems, np.arange(40)), sig.over_seeds(one, other)):
        assert found.p == pytest.approx(expected.pvalue)
        assert found.interval() == pytest.approx(tuple(expected.confidence_interval(0.95)))
    alone = stats.ttest_1samp(one, 0).confidence_interval(0.95)
    assert sig.over_seeds(one).interval() == pytest.approx(tuple(alone))
    assert sig.over_seeds(one, [1.0]) is None
    assert sig.over_seeds([3.0, 3.0]).interval() == (3.0, 3.0)


def test_a_tie_is_no_difference_and_agreement_of_all_clusters_is_as_rare_as_they_are_many():
    assert sig.over_runs([[column(VALUES)] * 2] * 2, APART).p == 1.0
    systems = [[column(np.full(9, score))] * 3 for score in (4.0, 3.0)]
    found = sig.over_runs(systems, np.arange(9))
    assert (found.value, found.error, found.p) == (1.0, 0.0, 2.0**-8)


def test_a_single_cluster_tells_nothing_about_others():
    one, other, clusters = column([50.0] * 9), column([60.0] * 9), np.zeros(9, np.int64)
    assert interval(one, clusters) is None
    compared = sig.difference(one, other, clusters)
    assert (compared.interval, compared.p) == (None, 1)
    assert sig.over_runs([[one]], clusters) is None
    assert sig.over_runs([[column([math.nan] * 3)]], np.arange(3)) is None


def runs(rng, number, samples, spread):
    """Runs without any ability of their own: samples differ, runs differ by ``spread``."""
    items = rng.normal(0, 10, samples)
    return [
        column(50 + rng.normal(0, spread) + items + rng.normal(0, 10, samples))
        for _ in range(number)
    ]


@pytest.mark.parametrize("seeds", [2, 3, 5])
def test_equal_systems_are_called_different_as_seldom_as_p_says(seeds):
    """Runs differ by a point. A test of the means over seeds that only exchanges samples says far
    more often that equal systems differ.
    """
    rng = np.random.default_rng(seeds)
    clusters, trials = np.arange(1000), 1000 if SOAK > 1 else 300
    alarms = naive = 0
    for _ in range(trials):
        systems = [runs(rng, seeds, 1000, 1.0) for _ in range(2)]
        alarms += sig.over_runs(systems, clusters).p < 0.05
        means = [column(np.mean([run.each for run in each], axis=0)) for each in systems]
        pair = means[0], means[1]
        (p,) = sig.randomization_p_values([pair], clusters, resamples=200)
        naive += p < 0.05
    assert alarms <= 0.07 * trials  # where 5 % are nominal
    assert naive > 0.14 * trials


UNEQUAL = np.repeat(np.arange(30), [17, 17, 16, *[2] * 23, *[1] * 4])
"""Three of thirty clusters have half of the samples."""


@pytest.mark.parametrize("seeds", [3, 5])
def test_equal_systems_are_alike_on_unequal_clusters(seeds):
    """Half of what a system or a run has on a sample is its cluster's."""
    rng, trials = np.random.default_rng(seeds), 4000 if SOAK > 1 else 500

    def noise():
        return rng.normal(0, 10, 30)[UNEQUAL] + rng.normal(0, 10, len(UNEQUAL))

    def system(number):
        own = noise()
        return [column(own + noise()) for _ in range(number)]

    different = sum(
        sig.over_runs([system(seeds), system(5)], UNEQUAL).p < 0.05 for _ in range(trials)
    )
    assert different <= (0.07 if SOAK > 1 else 0.08) * trials  # few trials vary by a point


@pytest.mark.parametrize(("many", "part"), [(False, 0.5), (True, 1)])
def test_a_cluster_is_compared_with_the_samples_that_are_not_its_own(many, part):
    """For single tests the bias of equal clusters is gone; for many, each is left out in turn."""
    values = np.random.default_rng(8).normal(0, 10, 100)
    sums = np.bincount(UNEQUAL, values - values.mean()) / len(values)
    others = 1 - np.bincount(UNEQUAL) / len(values)
    error = math.sqrt(((sums / others**part) ** 2).sum() * (29 / 30 if many else 1))
    _, variances = differences([[column(values)]], UNEQUAL, many=many)
    assert variances.errors()[0] == pytest.approx(error)
    if many:
        left = np.array([values[cluster != UNEQUAL].mean() for cluster in range(30)])
        assert error == pytest.approx(math.sqrt(29 / 30 * ((left - values.mean()) ** 2).sum()))


@pytest.mark.parametrize("runs", [(2, 2), (2, 5), (3, 5), (1, 3)])
def test_a_small_p_of_many_tests_is_as_rare_as_it_says(runs):
    """Runs differ by a constant, those of the first system by five times as much."""
    rng, trials = np.random.default_rng(sum(runs)), 40_000
    means, between = np.zeros((2, trials)), np.zeros((trials, 2))
    further = np.tile(np.array(runs) - 1.0, (trials, 1))
    for place, (k, spread) in enumerate(zip(runs, (5.0 * (runs[0] > 1), 1.0), strict=True)):
        scores = rng.normal(0, spread, (trials, k))
        means[place] = scores.mean(axis=1)
        between[:, place] = scores.var(axis=1, ddof=1) / k if k > 1 else 0
    variances = Variances(np.zeros(trials), between, 0 * between, further, 99.0)
    p = variances.p(means[0] - means[1], many=True)
    for level in (0.05, 0.001):
        assert (p < level).mean() <= 1.3 * level + 3 * math.sqrt(level / trials)


@pytest.mark.parametrize(("seeds", "models"), [(2, 6), (3, 3), (5, 2)])
@pytest.mark.parametrize("spread", [0.0, 2.0])
def test_the_difference_that_is_named_is_found_in_four_of_five(seeds, models, spread):
    """Each number is from so many models, the fewest that have one; 60 to 76 % found it before."""
    rng, clusters = np.random.default_rng(seeds), np.arange(60)
    found = [
        sig.estimate([runs(rng, seeds, 60, spread) for _ in range(2)], clusters) for _ in range(240)
    ]
    variances = [each.variances for each in found]
    assert detectable(variances[: models - 1]) is None
    stated = [detectable(variances[n : n + models]) for n in range(0, 180, models)]
    values = np.array([each.value for each in found])
    error, freedom = np.array([each.errors() for each in variances])[..., 0].T
    power = [(p_of_student(values + shift, error, freedom) < 0.05).mean() for shift in stated]
    assert 0.74 <= np.mean(power) <= 0.86


@pytest.mark.parametrize("seeds", [1, 6])
def test_no_difference_is_named_where_nothing_varies(seeds):
    """All outputs of both systems are equal; any difference at all was said to be found."""
    same = [column(np.arange(60.0))] * seeds
    equal = sig.estimate([same, same], np.arange(60))
    assert equal.variances
    assert detectable([equal.variances] * 2) is None
