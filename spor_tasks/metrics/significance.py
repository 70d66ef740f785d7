"""How sure a score is, and whether two systems differ: resampling and variances, seeded.

Samples that show the same units are not independent of each other, so *clusters* of samples are
what is drawn, exchanged and summed here. Where a system was trained several times, its runs are
drawn from all the runs that there could be, and count as such.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from statistics import fmean, variance
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import special

from spor_tasks.metrics.base import Column
from spor_tasks.metrics.totals import Numbers, added

Clusters = NDArray[np.int64]
"""The cluster of each sample, numbered from 0."""

RESAMPLES = 10_000
"""The number of resamples for one interval or one comparison."""

ROUNDING = 1e-9
"""Sums in another order differ in the last digits, and equal is equal."""

_TIE = 1e-6  # of a variance: steps of the jackknife and rounding make less of a difference

_CELLS_AT_ONCE = 2_000_000  # bounds the memory of a block of resamples to some tens of megabytes
_ONE_CLUSTER = 0.2  # resamples lack a cluster more often: of two 25 %, of many 37 %
_RESOLUTION = 20  # how many times finer the smallest p is than the level that it is held against


def clusters_of(keys: Iterable[Hashable]) -> Clusters:
    """Return the cluster of each sample; samples with equal keys share one."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def resamples_for(comparisons: int, level: float) -> int:
    """Return how many resamples tell p values apart that are adjusted for many comparisons.

    A p is at least one in so many. Holm multiplies the smallest by the number of comparisons, so
    without more resamples nothing could be significant any more: with 10,000 of them and a level of
    0.05, from 500 comparisons on.
    """
    return max(RESAMPLES, math.ceil(_RESOLUTION * comparisons / level))


# --- One run of each system: resampling -----------------------------------------------------------


def resampled_scores(
    columns: Sequence[Column], clusters: Clusters, *, seed: int, resamples: int = RESAMPLES
) -> Numbers:
    """Return the scores of resamples of the same samples, of shape (resamples, columns).

    Whole clusters are drawn with replacement, as many as there are (Davison and Hinkley, 1997,
    section 3.8). All columns are drawn alike, so that their differences are scores of resamples
    too. NaN is a resample without a verdict, or of a score that cannot be resampled, or of a single
    cluster, which tells nothing about others.

    Raises:
        ValueError: there are no samples.
    """
    count = count_of(clusters)
    drawn = [n for n, column in enumerate(columns) if column.totals.resampled and count > 1]
    sums = [_by_cluster(columns[number].statistics, clusters, count) for number in drawn]
    ends = np.cumsum([of_column.shape[1] for of_column in sums])
    stacked = np.concatenate([np.zeros((count, 0)), *sums], axis=1)
    rng = np.random.default_rng(seed)
    scores = np.full((resamples, len(columns)), np.nan)
    for block in blocks(resamples, count):
        rows = block.stop - block.start
        draws = rng.integers(0, count, (rows, count)) + count * np.arange(rows)[:, None]
        counts = np.bincount(draws.ravel(), minlength=rows * count).reshape(rows, count)
        totals = np.split(counts.astype(np.float64) @ stacked, ends[:-1], axis=1)
        for number, of_column in zip(drawn, totals, strict=False):
            scores[block, number] = columns[number].totals.score(of_column)
    return scores


def _by_cluster(statistics: Numbers, clusters: Clusters, count: int) -> Numbers:
    """Return the totals of each cluster, of shape (clusters, k)."""
    columns = np.nan_to_num(statistics).T
    return np.stack([np.bincount(clusters, column, count) for column in columns], axis=1)


def percentile_interval(scores: Numbers, confidence: float = 0.95) -> tuple[float, float] | None:
    """Return the middle ``confidence`` of resampled scores, of shape (resamples,) (Efron, 1979).

    None if one in five or more has no verdict: then a single cluster has all samples of some kind,
    and resamples say nothing about how much others of that kind would differ.
    """
    if np.isnan(scores).mean() >= _ONE_CLUSTER:
        return None
    tail = 50 * (1 - confidence)
    low, high = np.nanpercentile(scores, [tail, 100 - tail])
    return float(low), float(high)


def interval(
    column: Column, clusters: Clusters, *, seed: int, confidence: float = 0.95
) -> tuple[float, float] | None:
    """Return the bootstrap interval of a column's score.

    None where nothing has a verdict, or the score cannot be resampled, or a single cluster has all
    samples, or all of some kind.
    """
    (scored,), clusters = common([column], clusters)
    if not len(clusters) or not column.totals.resampled:
        return None
    (scores,) = resampled_scores([scored], clusters, seed=seed).T
    return percentile_interval(scores, confidence)


class Difference(NamedTuple):
    """The score of one system less that of another, on the ``n`` samples with a verdict of both.

    They form so many ``clusters``. The interval is that of :func:`percentile_interval`, None where
    there is none; ``p_randomization`` is that of :func:`randomization_p_values`.
    """

    difference: float
    interval: tuple[float, float] | None
    p_randomization: float
    n: int
    clusters: int


def difference(
    first: Column, second: Column, clusters: Clusters, *, seed: int
) -> Difference | None:
    """Compare the same score of two systems on the same samples.

    None where there are none, or the score cannot be resampled.
    """
    (first, second), clusters = common([first, second], clusters)
    if not len(clusters) or not first.totals.resampled:
        return None
    (p,) = randomization_p_values([first, second], [(0, 1)], clusters, seed=seed)
    drawn = resampled_scores([first, second], clusters, seed=seed)
    return Difference(
        difference=first.value - second.value,
        interval=percentile_interval(drawn[:, 0] - drawn[:, 1]),
        p_randomization=float(p),
        n=len(clusters),
        clusters=count_of(clusters),
    )


def common(columns: Sequence[Column], clusters: Clusters) -> tuple[tuple[Column, ...], Clusters]:
    """Return the columns of the samples that all of them have a verdict on, and their clusters."""
    scored = np.all([column.scored for column in columns], axis=0)
    common_columns = tuple(column.take(scored) for column in columns)
    return common_columns, np.unique(clusters[scored], return_inverse=True)[1]


def randomization_p_values(
    columns: Sequence[Column],
    pairs: Sequence[tuple[int, int]],
    clusters: Clusters,
    *,
    seed: int,
    resamples: int = RESAMPLES,
) -> Numbers:
    """Return the two-sided p that it does not matter which system of a pair gave which output.

    This is approximate randomization (Noreen, 1989): the two systems' values of a whole cluster are
    exchanged with probability one half. ``pairs`` are numbers of columns; all columns are of the
    same samples, and all pairs are tested on the same exchanges. Samples on which one of a pair has
    no verdict do not count; NaN is a pair that has no other. The result has the shape (pairs,).
    """
    if not pairs:
        return np.zeros(0)
    count = count_of(clusters)
    shares = [_shares(column) for column in columns]
    scored = [column.scored for column in columns]
    testable = [
        bool((scored[i] & scored[j]).any()) and columns[i].totals.resampled for i, j in pairs
    ]
    sums = [n for n, (i, _) in enumerate(pairs) if testable[n] and shares[i] is not None]
    ratios = [n for n, (i, _) in enumerate(pairs) if testable[n] and shares[i] is None]
    tests: list[tuple[list[int], _Extremes]] = [
        ([n], _extreme_totals(columns[pairs[n][0]], columns[pairs[n][1]], clusters)) for n in ratios
    ]
    if sums:
        tests.append((sums, _extreme_sums(columns, shares, [pairs[n] for n in sums], clusters)))
    rng = np.random.default_rng(seed)
    extreme = np.zeros(len(pairs))
    for block in blocks(resamples, count):
        signs = _signs(rng, block.stop - block.start, count)
        for numbers, extremes in tests:
            extreme[numbers] += extremes(signs)
    return np.where(np.array(testable), (extreme + 1) / (resamples + 1), np.nan)


_Extremes: TypeAlias = Callable[[Numbers], Numbers]
"""Counts the exchanges, given as rows of signs of clusters, that differ as much as observed."""


def _shares(column: Column) -> Numbers | None:
    """Return what each sample adds to the score, None if it is not a weighted sum of totals."""
    statistics = np.nan_to_num(column.statistics)
    weights = column.totals.weights(statistics.sum(axis=0))
    return None if weights is None else statistics @ weights


def _extreme_sums(
    columns: Sequence[Column],
    shares: Sequence[Numbers | None],
    pairs: Sequence[tuple[int, int]],
    clusters: Clusters,
) -> _Extremes:
    """Return what counts for each pair of weighted sums, by what each cluster adds to a system.

    A pair with samples that lack a verdict is tested on the others, on which the weights are
    different: its two columns there are systems of their own.
    """
    count = count_of(clusters)
    result = [np.zeros(count) if x is None else np.bincount(clusters, x, count) for x in shares]
    whole = [bool(column.scored.all()) for column in columns]
    numbered: list[tuple[int, int]] = []
    for first, second in pairs:
        if whole[first] and whole[second]:
            numbered.append((first, second))
            continue
        numbered.append((len(result), len(result) + 1))
        scored_by_both = columns[first].scored & columns[second].scored
        of_both = (_shares(columns[column].take(scored_by_both)) for column in (first, second))
        result += [np.bincount(clusters[scored_by_both], x, count) for x in of_both]
    systems, (first_numbers, second_numbers) = np.stack(result, axis=1), np.array(numbered).T
    totals = systems.sum(axis=0)
    observed = np.abs(totals[first_numbers] - totals[second_numbers]) - ROUNDING
    systems -= systems.mean(axis=1, keepdims=True)  # what all have in common cancels out

    def extremes(signs: Numbers) -> Numbers:
        scores = np.ascontiguousarray((signs @ systems).T)
        low, high = scores.min(axis=1), scores.max(axis=1)
        # Most pairs of a long board are further apart than any two scores of the block.
        reach = np.maximum(
            high[first_numbers] - low[second_numbers], high[second_numbers] - low[first_numbers]
        )
        extreme = np.zeros(len(pairs))
        for first in np.unique(first_numbers[reach >= observed]):
            places = np.flatnonzero((first_numbers == first) & (reach >= observed))
            differences = np.abs(scores[second_numbers[places]] - scores[first])
            extreme[places] = (differences >= observed[places, None]).sum(axis=1)
        return extreme

    return extremes


def _extreme_totals(first_system: Column, second_system: Column, clusters: Clusters) -> _Extremes:
    """Return what counts for a pair of any other scores, by the totals that exchanges lead to."""
    scored_by_both, count = first_system.scored & second_system.scored, count_of(clusters)
    first, second = (
        _by_cluster(column.statistics[scored_by_both], clusters[scored_by_both], count)
        for column in (first_system, second_system)
    )
    middle, half = (first + second).sum(axis=0) / 2, (first - second) / 2

    def differences(signs: Numbers) -> Numbers:
        moved = signs @ half
        distance: Numbers = np.abs(
            first_system.totals.score(middle + moved) - first_system.totals.score(middle - moved)
        )
        return distance

    observed = differences(np.ones((1, count))) - ROUNDING
    return lambda signs: (differences(signs) >= observed).sum(keepdims=True)


def _signs(rng: np.random.Generator, rows: int, count: int) -> Numbers:
    bits = np.frombuffer(rng.bytes(rows * -(-count // 8)), np.uint8).reshape(rows, -1)
    signs: Numbers = 2.0 * np.unpackbits(bits, axis=1, count=count).astype(np.float64) - 1.0
    return signs


def holm(p_values: Sequence[float]) -> list[float]:
    """Return each p adjusted for all of them being looked at (Holm, 1979), in their order.

    Calling different what is below α then errs once or more with a probability of at most α.
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted = [0.0] * len(order)
    largest = 0.0
    for place, number in enumerate(order):
        largest = max(largest, (len(order) - place) * p_values[number])
        adjusted[number] = min(1.0, largest)
    return adjusted


# --- Several runs of a system: variances ----------------------------------------------------------


class Estimate(NamedTuple):
    """A mean over runs, or the difference of two such means, with its standard error.

    ``freedom`` are the degrees of freedom that Student's t has for it. The error is of other runs
    on other samples like these.
    """

    value: float
    error: float
    freedom: float

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return Student's interval."""
        reach = float(special.stdtrit(self.freedom, (1 + confidence) / 2)) * self.error
        return self.value - reach, self.value + reach

    @property
    def p(self) -> float:
        """The two-sided p that the true value is 0."""
        if abs(self.value) <= ROUNDING:
            return 1.0
        if not self.error:  # all clusters agree, which by chance they do once in so many times
            return float(2.0**-self.freedom)
        return float(2 * special.stdtr(self.freedom, -abs(self.value) / self.error))


def over_seeds(*systems: Sequence[float]) -> Estimate | None:
    """Estimate a mean over runs, or the difference of two, from the scores of the runs alone.

    The interval is Student's of one mean, and Welch's of a difference; None where a system has a
    single run. With two runs it is many times as wide as their difference.
    """
    if any(len(scores) < 2 for scores in systems):  # noqa: PLR2004 - one has no spread
        return None
    first, *further = map(fmean, systems)
    parts = [(variance(scores) / len(scores), len(scores) - 1) for scores in systems]
    total = sum(part for part, _ in parts)
    squares = sum(part**2 / freedom for part, freedom in parts)
    freedom = total**2 / squares if squares else 1
    return Estimate(first - sum(further), math.sqrt(total), freedom)


def over_runs(systems: Sequence[Sequence[Column]], clusters: Clusters) -> Estimate | None:
    """Estimate a system's mean score over its runs or, of two systems, the difference of the means.

    Runs and clusters are two crossed samples: of all the runs that training could give, and of all
    the samples like these. The variance of the estimate is that over clusters, plus that over runs,
    less what both contain, the part of a run on a cluster (Cameron, Gelbach and Miller, 2011). It
    is never taken to be less than that over clusters alone. The degrees of freedom are
    Satterthwaite's (1946), those of the runs at least. A system of a single run adds no variance
    over runs: the estimate is then of this run.

    None where there is a single cluster, or a run has no verdict on any sample.
    """
    count = count_of(clusters)
    parts = [[_influence(column, clusters, count) for column in runs] for runs in systems]
    if count < 2 or any(math.isnan(score) for runs in parts for score, _ in runs):  # noqa: PLR2004
        return None
    scale = count / (count - 1)
    value, pulls = 0.0, np.zeros(count)
    over_seeds: list[tuple[float, float]] = []  # variances, degrees of freedom
    shared: list[tuple[float, float]] = []
    for sign, runs in zip((1, -1), parts, strict=False):
        scores = np.array([score for score, _ in runs])
        influences = np.stack([influence for _, influence in runs])
        value += sign * float(scores.mean())
        pulls += sign * influences.mean(axis=0)
        if (k := len(runs)) > 1:
            residuals = influences - influences.mean(axis=0)
            over_seeds.append((float(scores.var(ddof=1)) / k, k - 1))
            of_both = scale * float((residuals**2).sum()) / (k * (k - 1))
            shared.append((of_both, (k - 1) * (count - 1)))
    over_clusters = scale * float((pulls**2).sum())
    more = sum(v for v, _ in over_seeds) - sum(v for v, _ in shared)
    variance = over_clusters + max(0.0, more)
    if variance <= ROUNDING**2:  # every cluster and every run says the same
        return Estimate(value, 0.0, count - 1)
    if more <= _TIE * variance:  # runs differ no more than their parts on the samples make them
        return Estimate(value, math.sqrt(variance), count - 1)
    components = [(over_clusters, count - 1), *over_seeds, *shared]
    freedom = variance**2 / sum(part**2 / of_part for part, of_part in components)
    least = min(of_runs for _, of_runs in over_seeds)
    return Estimate(value, math.sqrt(variance), max(freedom, least))


def _influence(column: Column, clusters: Clusters, count: int) -> tuple[float, Numbers]:
    """Return a column's score, and how far each cluster pulls it up or down, of shape (clusters,).

    The pulls are those of :meth:`~spor_tasks.metrics.totals.Totals.pulls`; they sum to zero.
    """
    totals = added(column.statistics)
    score = float(column.totals.score(totals))
    if math.isnan(score) or not column.totals.resampled:
        return math.nan, np.zeros(count)
    pulls = column.totals.pulls(totals, _by_cluster(column.statistics, clusters, count))
    return score, pulls - pulls.mean()


def count_of(clusters: Clusters) -> int:
    """Return the number of clusters, of samples that there are.

    Raises:
        ValueError: there are no samples.
    """
    if not len(clusters):
        raise ValueError("there are no samples to draw from")
    return int(clusters.max()) + 1


def blocks(resamples: int, width: int) -> Iterator[slice]:
    """Yield the resamples to take at once, each of some width, so that memory stays bounded."""
    most = max(1, _CELLS_AT_ONCE // width)
    for start in range(0, resamples, most):
        yield slice(start, min(start + most, resamples))
