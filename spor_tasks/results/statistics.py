"""Intervals of scores and tests of differences: clusters of samples, and runs of training.

Whole clusters of samples are drawn, exchanged and summed. Runs that differ in the training seed are
drawn from all runs that training could give.
"""

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, variance
from typing import NamedTuple

import numpy as np
import scipy  # loads its parts when they are used

from spor_tasks.metrics.tally import Column
from spor_tasks.metrics.totals import Numbers
from spor_tasks.results.clusters import Clusters, by_cluster, common, count_of, freedom_of
from spor_tasks.results.variances import (
    CELLS_AT_ONCE,
    CONFIDENCE,
    ROUNDING,
    Systems,
    Variances,
    p_of,
    reach,
)

Scale = tuple[float, float]
"""The least and the most that a score can be."""

_ANY: Scale = (-math.inf, math.inf)

RESAMPLES = 10_000
"""The number of resamples of one interval or one test."""

SEED = 0
"""The seed of the resampling, so that equal files have equal intervals."""

_DERIVATIVE_ROUNDING = 1e-6  # of the largest effect: a numerical derivative is less exact
_DIGITS = 6
_NO_INTERVAL = "no interval: the clusters are too few, or all of them say the same"
_ONE_CLUSTER = 0.2  # resamples lack a cluster more often: of two 25 %, of many 37 %


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval, and over what it is.

    ``source`` is ``samples`` (one run on other samples, by resampling clusters), ``runs``
    (other runs on other samples, by the variances over both), ``seeds`` (other runs on these
    samples, by Student's t) or ``stderr`` (one run on other samples, by lm-eval's standard error).
    The ends are rounded, so that they are the same on every machine.
    """

    low: float
    high: float
    source: str

    @classmethod
    def within(cls, low: float, high: float, source: str, scale: Scale = _ANY) -> "Interval":
        """Return the interval with rounded ends, cut to what the number can be."""
        least, most = scale
        low, high = (round(min(most, max(least, end)), _DIGITS) + 0.0 for end in (low, high))
        return cls(low, high, source)  # without -0.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean score of a system over its runs, or the difference of two systems.

    It is computed on the ``n`` samples, in ``clusters`` clusters, with a verdict in every run; both
    are None without logged samples. The two-sided ``p`` is that of no difference, and ``reason``
    says why there is none, or no ``mark`` (the paper's). ``notes`` are what else a reader must
    know. ``variances`` are those of the difference, and ``detectable`` is what
    :func:`~spor_tasks.results.variances.detectable` makes of them and of those of other rows.
    """

    value: float
    interval: Interval | None = None
    n: int | None = None
    clusters: int | None = None
    p: float | None = None
    mark: str = ""
    reason: str | None = None
    notes: tuple[str, ...] = ()
    variances: Variances | None = field(default=None, compare=False, repr=False)
    detectable: float | None = None


def estimate(
    systems: Sequence[Sequence[Column]],
    clusters: Clusters,
    scale: Scale = _ANY,
    drawn: Sequence[Numbers] | None = None,
) -> Estimate | None:
    """Estimate the score of one system, or the score of a system minus that of a second one.

    A system has a column for each of its runs; all columns are of the same samples. A difference
    counts the samples with a verdict in every run. It has no interval if one system has a single
    run and the other several. ``drawn`` are the resampled scores of the columns, where they are
    known. ``scale`` is that of the score. None where no sample has the verdicts, or the score
    cannot be resampled.
    """
    columns = [column for runs in systems for column in runs]
    all_columns, all_clusters = columns, clusters
    if is_difference := len(systems) > 1:
        size = len(clusters)
        columns, clusters = common(columns, clusters)
        scale = scale[0] - scale[1], scale[1] - scale[0]
        if len(clusters) < size:
            drawn = None  # these resamples are of other samples
    if not len(clusters) or not all(column.totals.resampled for column in columns):
        return None
    split = len(systems[0])
    runs = [columns[:split], columns[split:]][: len(systems)]
    first, *second = (fmean(column.value for column in of_system) for of_system in runs)
    value, count = first - sum(second), count_of(clusters)
    freedom = freedom_of(clusters, np.mean([column.shares for column in columns], axis=0))
    interval, variances = None, None
    if len(columns) == len(systems):
        scores = drawn or resampled_scores(columns, clusters).T
        resampled = scores[0] - scores[1] if is_difference else scores[0]
        if ends := percentile_interval(resampled):
            wider = float(reach(freedom) / reach(math.inf))
            low, high = (value + (end - value) * wider for end in ends)
            interval = Interval.within(low, high, "samples", scale)
            over_clusters, none = np.array([np.nanvar(resampled)]), np.zeros((1, len(systems)))
            variances = Variances(over_clusters, none, none, none, freedom)
        if is_difference:
            ends = randomization_interval(all_columns, all_clusters)
            interval = Interval.within(*ends, "samples", scale) if ends else None
    elif all(len(of_system) > 1 for of_system in runs):
        _, found = _compared(runs, clusters)
        if student := _student(value, found):
            interval, variances = Interval.within(*student.interval(), "runs", scale), found
    is_untold = variances or len(columns) == len(systems)
    if interval and interval.low == interval.high:
        ends = _of_agreement(value, freedom, None if is_difference else scale)
        interval = Interval.within(*ends, interval.source, scale) if ends else None
    notes = (_NO_INTERVAL,) if interval is None and is_untold else ()
    return Estimate(value, interval, len(clusters), count, notes=notes, variances=variances)


def _of_agreement(value: float, freedom: float, scale: Scale | None) -> tuple[float, float] | None:
    """Return the interval of a value on which all clusters agree, which has no spread.

    Of a score it is how far others could take it that occur once in so many clusters (Clopper and
    Pearson, 1934). A difference, without a ``scale``, has the interval of its p (Miettinen, 1976),
    if that is below 5 %. None says that there is none.
    """
    if scale:
        unseen = 1 - ((1 - CONFIDENCE) / 2) ** (1 / (freedom + 1))
        ends = value + unseen * (scale[0] - value), value + unseen * (scale[1] - value)
        return ends if all(map(math.isfinite, ends)) else None
    p = Student(value, 0.0, freedom).p
    if p >= 1 - CONFIDENCE:
        return None
    least = max(p, sys.float_info.min)  # of a thousand clusters p is rounded to 0
    around = abs(value) * float(reach(math.inf)) / -float(scipy.special.ndtri(least / 2))
    return value - around, value + around


def difference(
    first: Column, second: Column, clusters: Clusters, scale: Scale = _ANY
) -> Estimate | None:
    """Compare the same score of two systems, one run each, on the same samples; None as above."""
    result = estimate([[first], [second]], clusters, scale)
    return result and replace(result, p=randomization_p_values([(first, second)], clusters)[0])


def _blocks(resamples: int, width: int) -> Iterator[int]:
    """Yield how many resamples, each of some width, to take at once, so that memory is bounded."""
    most = max(1, CELLS_AT_ONCE // width)
    for start in range(0, resamples, most):
        yield min(most, resamples - start)


# --- One run of each system: resampling -----------------------------------------------------------


def resampled_scores(
    columns: Sequence[Column],
    clusters: Clusters,
    *,
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> Numbers:
    """Return the scores of resamples of the same samples, of shape (resamples, columns).

    Whole clusters are drawn with replacement, as many as there are (Davison and Hinkley, 1997,
    section 3.8). All columns are drawn alike, so that their differences are scores of resamples
    too. NaN is a resample without a verdict, or of a score that cannot be resampled, or of a single
    cluster, which says nothing about other clusters.

    Raises:
        ValueError: there are no samples.
    """
    count = count_of(clusters)
    drawn = [n for n, column in enumerate(columns) if column.totals.resampled and count > 1]
    sums = [by_cluster(columns[number].statistics, clusters, count) for number in drawn]
    ends = np.cumsum([of_column.shape[1] for of_column in sums])
    stacked = np.concatenate([np.zeros((count, 0)), *sums], axis=1)
    rng = np.random.default_rng(seed)
    blocks = []
    for rows in _blocks(resamples, count):
        draws = rng.integers(0, count, (rows, count)) + count * np.arange(rows)[:, None]
        counts = np.bincount(draws.ravel(), minlength=rows * count).reshape(rows, count)
        totals = np.split(counts.astype(np.float64) @ stacked, ends[:-1], axis=1)
        scores = np.full((rows, len(columns)), np.nan)
        for number, of_column in zip(drawn, totals, strict=False):
            scores[:, number] = columns[number].totals.score(of_column)
        blocks.append(scores)
    return np.concatenate(blocks)


def percentile_interval(scores: Numbers) -> tuple[float, float] | None:
    """Return the middle 95 % of resampled scores, of shape (resamples,) (Efron, 1979).

    None if one in five or more has no verdict: then a single cluster has all samples of some kind,
    and resamples say nothing about how much other samples of that kind would differ.
    """
    if np.isnan(scores).mean() >= _ONE_CLUSTER:
        return None
    tail = 50 * (1 - CONFIDENCE)
    low, high = np.nanpercentile(scores, [tail, 100 - tail])
    return float(low), float(high)


def randomization_p_values(
    pairs: Sequence[tuple[Column, Column]],
    clusters: Clusters,
    *,
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> list[float]:
    """Return the two-sided p that it does not matter which system of a pair gave which output.

    This is approximate randomization (Noreen, 1989): the two systems' values of a whole cluster are
    exchanged with probability one half. All pairs are of the same samples and are tested on the
    same exchanges, each on the samples with a verdict of both. NaN is a pair without such samples,
    or of a score that cannot be resampled.

    A p below what so many resamples can show is bounded by Hoeffding's inequality (1963).
    """
    if not pairs:
        return []
    count = count_of(clusters)
    effects = np.stack([_effects(*pair, clusters, count) for pair in pairs], axis=1)
    observed = np.abs(effects.sum(axis=0))
    squares = (effects**2).sum(axis=0)
    reached = observed - _slack(effects)
    rng = np.random.default_rng(seed)
    extreme = np.zeros(len(pairs))
    for rows in _blocks(resamples, count):
        extreme += (np.abs(_signs(rng, rows, count) @ effects) >= reached).sum(axis=0)
    p = (extreme + 1) / (resamples + 1)
    with np.errstate(invalid="ignore", divide="ignore"):  # all effects may be 0
        bound = 2 * np.exp(-(observed**2) / (2 * squares))
    return [float(value) for value in np.where(np.isnan(effects[0]), np.nan, np.fmin(p, bound))]


def randomization_interval(
    pair: Sequence[Column],
    clusters: Clusters,
    *,
    seed: int = SEED,
    resamples: int = RESAMPLES,
) -> tuple[float, float] | None:
    """Return the differences that approximate randomization does not reject at 5 %.

    An exchange splits the clusters in two parts, and is as far from 0 as what was observed where
    the parts disagree on which system is better. So the interval goes from the 5 % quantile of the
    parts' lower difference to the 95 % quantile of the higher one, and 0 is outside where p of
    the same exchanges is below 5 %. A cluster's part of a difference is its share of the score.

    None if some end is infinite: fewer than six clusters reject nothing.
    """
    first, second = pair
    count, scored = count_of(clusters), first.scored & second.scored
    effects = _effects(first, second, clusters, count)
    if np.isnan(effects[0]):
        return None
    of_samples = np.mean([each.take(scored).shares for each in pair], axis=0)
    shares = np.bincount(clusters[scored], of_samples, count)
    both, slack = np.stack([effects, shares], axis=1), _slack(effects) / 2
    rng = np.random.default_rng(seed)
    lower, higher = [], []
    for rows in _blocks(resamples, count):
        one = (1 + _signs(rng, rows, count)) / 2 @ both
        parts = np.stack([one, both.sum(axis=0) - one])
        moved = np.where(np.abs(parts[..., 0]) <= slack, 0, parts[..., 0])
        empty = parts[..., 1] < ROUNDING
        of_part = moved / np.where(empty, 1, parts[..., 1])
        lower.append(np.where(empty, -np.inf, of_part).min(axis=0))
        higher.append(np.where(empty, np.inf, of_part).max(axis=0))
    most = math.ceil((1 - CONFIDENCE) * (resamples + 1)) - 2  # of those beyond the end
    low = float(np.partition(np.concatenate(lower), most)[most])
    high = -float(np.partition(-np.concatenate(higher), most)[most])
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def _slack(effects: Numbers) -> Numbers:
    """Return by how much sums of effects may differ and still be equal."""
    squares: Numbers = (effects**2).sum(axis=0)
    return np.maximum(ROUNDING, _DERIVATIVE_ROUNDING * np.sqrt(squares))


def _effects(first: Column, second: Column, clusters: Clusters, count: int) -> Numbers:
    """Return what each cluster adds to the difference of two systems, of shape (clusters,).

    A weighted sum of totals is the sum of its effects. For any other score, an effect is the
    derivative at the mean of both systems, which no exchange changes.
    """
    scored = first.scored & second.scored
    if not scored.any() or not first.totals.resampled:
        return np.full(count, np.nan)
    statistics = [column.statistics[scored] for column in (first, second)]
    weights = [
        column.totals.weights(rows.sum(axis=0))
        for column, rows in zip((first, second), statistics, strict=True)
    ]
    if weights[0] is not None and weights[1] is not None:
        differences = statistics[0] @ weights[0] - statistics[1] @ weights[1]
        effects: Numbers = np.bincount(clusters[scored], differences, count).astype(np.float64)
        return effects
    one, other = (by_cluster(rows, clusters[scored], count) for rows in statistics)
    return first.totals.pulls((one + other).sum(axis=0) / 2, one - other)


def _signs(rng: np.random.Generator, rows: int, count: int) -> Numbers:
    bits = np.frombuffer(rng.bytes(rows * -(-count // 8)), np.uint8).reshape(rows, -1)
    signs: Numbers = 2.0 * np.unpackbits(bits, axis=1, count=count).astype(np.float64) - 1.0
    return signs


# --- Several runs of a system: variances ----------------------------------------------------------


class Student(NamedTuple):
    """A mean over runs, or the difference of two such means, with its standard error.

    ``freedom`` are the degrees of freedom that Student's t has for it.
    """

    value: float
    error: float
    freedom: float

    def interval(self) -> tuple[float, float]:
        """Return Student's interval."""
        around = float(reach(self.freedom)) * self.error
        return self.value - around, self.value + around

    @property
    def p(self) -> float:
        """The two-sided p that the true value is 0."""
        return float(p_of(*map(np.asarray, self)))


def over_seeds(*systems: Sequence[float]) -> Student | None:
    """Estimate a mean over runs, or the difference of two, from the scores of the runs alone.

    The interval is Student's of one mean, and Welch's of a difference; None where a system has a
    single run. With two runs it is many times as wide as their difference.
    """
    if any(len(scores) < 2 for scores in systems):
        return None
    first, *further = map(fmean, systems)
    parts = [(variance(scores) / len(scores), len(scores) - 1) for scores in systems]
    total = sum(part for part, _ in parts)
    squares = sum(part**2 / freedom for part, freedom in parts)
    freedom = total**2 / squares if squares else 1
    return Student(first - sum(further), math.sqrt(total), freedom)


def over_runs(systems: Sequence[Sequence[Column]], clusters: Clusters) -> Student | None:
    """Estimate a system's mean score over its runs or, of two systems, the difference of the means.

    A system of a single run adds no variance over runs: the estimate is then of this run. None
    where there is a single cluster, or a run has no verdict on any sample.
    """
    value, variances = _compared(systems, clusters)
    return _student(value, variances)


def _compared(systems: Sequence[Sequence[Column]], clusters: Clusters) -> tuple[float, Variances]:
    value, variances = Systems.of(systems, clusters).compared(np.arange(len(systems))[None])
    return float(value[0]), variances


def _student(value: float, variances: Variances) -> Student | None:
    (error,), (freedom,) = variances.errors()
    return None if math.isnan(value) else Student(value, float(error), float(freedom))
