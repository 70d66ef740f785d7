"""Intervals of scores and tests of differences, from arrays of what each sample adds to a score.

Whole clusters of samples are drawn, exchanged and summed. Runs that differ in the training seed are
drawn from all runs that training could give. `docs/decisions/statistics.md` says why each method
was chosen, and `docs/validity.md` how often it errs.
"""

import math
import sys
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, variance
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spor_tasks.core.sample import Names
from spor_tasks.metrics.tally import Column
from spor_tasks.metrics.totals import Numbers, Totals
from spor_tasks.results.student import CONFIDENCE, ROUNDING, Student, Variances, reach

Clusters = NDArray[np.int64]
"""The cluster of each sample, numbered from 0."""

Scale = tuple[float, float]
"""The least and the most that a score can be."""

RESAMPLES = 10_000
"""The number of resamples of one interval or one test."""

SEED = 0
"""The seed of the resampling, so that equal files have equal intervals."""

ANY: Scale = (-math.inf, math.inf)
_CELLS_AT_ONCE = 2_000_000  # bounds the memory of a block to some tens of megabytes
_DERIVATIVE_ROUNDING = 1e-6  # of the largest effect: a numerical derivative is less exact
_LINEAR = 1e-7  # by which the effects on a weighted sum may miss the score
_DIGITS = 6
_FEWEST = 6  # clusters: of fewer, resamples are too much alike, and exchanges reject nothing
_ONE_CLUSTER = 0.2  # resamples lack a cluster more often: of two 25 %, of many 37 %
_POWER = 0.8
_FEWEST_DEGREES = 12  # of freedom over runs: a variance of fewer is often far too small
_EXPERIMENTS = 2_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval; its ends are rounded, so that they are the same on every machine."""

    low: float
    high: float
    source: str
    """``samples`` (one run on other samples, by resampling clusters), ``runs`` (other runs on other
    samples, by the variances over both), ``seeds`` (other runs on these samples, by Student's t) or
    ``stderr`` (one run on other samples, by lm-eval's standard error)."""

    @classmethod
    def within(cls, low: float, high: float, source: str, scale: Scale = ANY) -> "Interval":
        """Return the interval with rounded ends, cut to what the number can be."""
        least, most = scale
        low, high = (round(min(most, max(least, end)), _DIGITS) + 0.0 for end in (low, high))
        return cls(low, high, source)  # without -0.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean score of a system over its runs, or the difference of two systems."""

    value: float
    interval: Interval | None = None
    n: int | None = None
    """The samples with a verdict in every run; None without logged samples, as ``clusters``."""
    clusters: int | None = None
    p: float | None = None
    """The two-sided p of no difference."""
    mark: str = ""
    """The paper's mark of a small p."""
    reason: str | None = None
    """Why there is no p, or no mark."""
    notes: tuple[str, ...] = ()
    """The other things that a reader must know."""
    variances: Variances | None = field(default=None, compare=False, repr=False)
    """Those of the difference."""
    detectable: float | None = None
    """The result of :func:`detectable` for these variances and those of other rows."""


# --- Clusters -------------------------------------------------------------------------------------


def clusters_of(keys: Iterable[Hashable]) -> Clusters:
    """Return the cluster of each sample; samples with equal keys share one.

    The key of :class:`~spor_tasks.core.sample.Names` is the commonest one.
    """
    keys, numbers = [*keys], dict[Hashable, int]()
    counts = Counter(name for key in keys if isinstance(key, Names) for name in key)
    shared = (
        max(key, key=lambda name: (counts[name], name)) if isinstance(key, Names) else key
        for key in keys
    )
    return np.array([numbers.setdefault(key, len(numbers)) for key in shared], np.int64)


def count_of(clusters: Clusters) -> int:
    """Return the number of clusters.

    Raises:
        ValueError: there are no samples.
    """
    if not len(clusters):
        raise ValueError("there are no samples to draw from")
    return int(clusters.max()) + 1


def freedom_of(clusters: Clusters, shares: Numbers | None = None) -> float:
    """Return the degrees of freedom of a variance over clusters, 1 at least.

    It is the number of equal clusters that would say as much, less one (Carter, Schnepel and
    Steigerwald, 2017, without their part on values). A cluster is as large as the ``shares`` of its
    samples, which are equal by default.

    Raises:
        ValueError: there are no samples.
    """
    count_of(clusters)
    sizes = np.bincount(clusters, shares).astype(np.float64)
    return max(1.0, float(sizes.sum() ** 2 / (sizes**2).sum()) - 1)


def common(columns: Sequence[Column], clusters: Clusters) -> tuple[list[Column], Clusters]:
    """Return the columns of the samples that all of them have a verdict on, and their clusters."""
    scored = np.all([column.scored for column in columns], axis=0)
    numbers = np.cumsum(np.bincount(clusters[scored]) > 0) - 1
    return [column.take(scored) for column in columns], numbers[clusters[scored]]


def both(one: bytes, other: bytes) -> bytes:
    """Return the mask of the samples that both of two masks have."""
    if one == other:
        return one
    return np.logical_and(*(np.frombuffer(mask, np.bool_) for mask in (one, other))).tobytes()


def _by_cluster(statistics: Numbers, clusters: Clusters, count: int) -> Numbers:
    """Return the totals of each cluster, of shape (clusters, k)."""
    columns = np.nan_to_num(statistics).T
    return np.stack([np.bincount(clusters, column, count) for column in columns], axis=1)


def _blocks(rows: int, width: int) -> Iterator[slice]:
    """Yield which rows, each of some width, to take at once, so that memory is bounded."""
    most = max(1, _CELLS_AT_ONCE // width)
    for start in range(0, rows, most):
        yield slice(start, min(rows, start + most))


# --- Estimates ------------------------------------------------------------------------------------


def estimate(
    systems: Sequence[Sequence[Column]],
    clusters: Clusters,
    scale: Scale = ANY,
    drawn: Sequence[Numbers] | None = None,
    *,
    are_all: bool = False,
) -> Estimate | None:
    """Estimate the score of one system, or the score of a system minus that of a second one.

    A system has a column for each of its runs; all columns are of the same samples. A difference
    counts the samples with a verdict in every run. It has no interval if one system has a single
    run and the other several, unless the runs ``are_all`` that a system of one run can have.
    ``drawn`` are the resampled scores of the columns, where they are known. One run's score on
    fewer than six clusters has no interval, unless all agree. None where no sample has the
    verdicts, or the score cannot be resampled.
    """
    all_columns = columns = [column for runs in systems for column in runs]
    all_clusters, is_difference = clusters, len(systems) > 1
    if is_difference:
        columns, clusters = common(columns, clusters)
        scale = scale[0] - scale[1], scale[1] - scale[0]
    if not len(clusters) or not all(column.totals.resampled for column in columns):
        return None
    split = len(systems[0])
    by_system = [columns[:split], columns[split:]][: len(systems)]
    first, *second = (fmean(column.value for column in runs) for runs in by_system)
    value = first - sum(second)
    freedom = freedom_of(clusters, np.mean([column.shares for column in columns], axis=0))
    ends, variances, source = None, None, "samples"
    if are_single := len(columns) == len(systems):
        if not drawn or len(clusters) < len(all_clusters):
            drawn = [*resampled_scores(columns, clusters).T]
        resampled = drawn[0] - drawn[1] if is_difference else drawn[0]
        if middle := percentile_interval(resampled):
            wider = float(reach(freedom) / reach(math.inf))
            ends = tuple(value + (end - value) * wider for end in middle)
            none = np.zeros((1, len(systems)))
            variances = Variances(np.array([np.nanvar(resampled)]), none, none, none, freedom)
        if is_difference:
            ends = randomization_interval((all_columns[0], all_columns[1]), all_clusters)
    elif are_all or all(len(runs) > 1 for runs in by_system):
        _, found = differences(by_system, clusters)
        if not math.isnan(value):
            ends, variances, source = Student.of(value, found).interval(), found, "runs"
    interval = Interval.within(ends[0], ends[1], source, scale) if ends else None
    is_few = are_single and np.count_nonzero(np.bincount(clusters[columns[0].scored])) < _FEWEST
    agree = interval is not None and interval.low == interval.high
    if interval and (agree or is_few):
        ends = _of_agreement(value, freedom, None if is_difference else scale) if agree else None
        interval = Interval.within(*ends, source, scale) if ends else None
    few = "fewer than six clusters" if is_few else "too few clusters count"
    why = "all clusters say the same" if agree and not is_few else few
    told = f"no interval of {'the difference' if is_difference else 'a score'}: {why}"
    notes = (told,) if interval is None and (variances or are_single) else ()
    n, count = len(clusters), count_of(clusters)
    return Estimate(value, interval, n, count, notes=notes, variances=variances)


def _of_agreement(value: float, freedom: float, scale: Scale | None) -> tuple[float, float] | None:
    """Return the interval of a value on which all clusters agree, which has no spread.

    A score has the ends to which others could take it that occur once in so many clusters (Clopper
    and Pearson, 1934). A difference, without a ``scale``, has the interval of its p (Miettinen,
    1976), if that is below 5 %. None says that there is none.
    """
    if scale:
        unseen = 1 - ((1 - CONFIDENCE) / 2) ** (1 / (freedom + 1))
        ends = value + unseen * (scale[0] - value), value + unseen * (scale[1] - value)
        return ends if all(map(math.isfinite, ends)) else None
    from scipy.special import ndtri  # slow to import

    p = Student(value, 0.0, freedom).p
    if p >= 1 - CONFIDENCE:
        return None
    least = max(p, sys.float_info.min)  # of a thousand clusters p is rounded to 0
    around = abs(value) * float(reach(math.inf)) / -float(ndtri(least / 2))
    return value - around, value + around


def difference(
    first: Column, second: Column, clusters: Clusters, scale: Scale = ANY
) -> Estimate | None:
    """Compare the same score of two systems, one run each, on the same samples; None as above."""
    result = estimate([[first], [second]], clusters, scale)
    return result and replace(result, p=randomization_p_values([(first, second)], clusters)[0])


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
    sums = [_by_cluster(columns[number].statistics, clusters, count) for number in drawn]
    ends = np.cumsum([of_column.shape[1] for of_column in sums])
    stacked = np.concatenate([np.zeros((count, 0)), *sums], axis=1)
    rng = np.random.default_rng(seed)
    scores = np.full((resamples, len(columns)), np.nan)
    for block in _blocks(resamples, 10 * max(stacked.shape)):  # what a cache holds
        rows = block.stop - block.start
        draws = rng.integers(0, count, (rows, count)) + count * np.arange(rows)[:, None]
        counts = np.bincount(draws.ravel(), minlength=rows * count).reshape(rows, count)
        totals = np.split(counts.astype(np.float64) @ stacked, ends[:-1], axis=1)
        for number, of_column in zip(drawn, totals, strict=False):
            scores[block, number] = columns[number].totals.score(of_column)
    return scores


def percentile_interval(scores: Numbers) -> tuple[float, float] | None:
    """Return the middle 95 % of resampled scores, of shape (resamples,) (Efron, 1979).

    None if one in five or more has no verdict: then a single cluster has all samples of some kind,
    and resamples say nothing about how much other samples of that kind would differ.
    """
    if np.isnan(scores).mean() >= _ONE_CLUSTER:
        return None
    tail = (1 - CONFIDENCE) / 2
    known = np.sort(scores[~np.isnan(scores)])
    ends = np.array([tail, 1 - tail]) * (len(known) - 1)
    low, high = np.interp(ends, np.arange(len(known)), known)
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

    Where a score is a weighted sum, an exchange is as extreme as what was observed if it splits the
    clusters in two parts that disagree on which system is better. Any other score, such as BLEU, is
    computed anew for both parts of each exchange, and so has the interval of the same exchanges
    (Hartigan, 1969). A p of a sum, if it is below what so many resamples can show, is bounded by
    Hoeffding's inequality (1963).
    """
    if not pairs:
        return []
    count = count_of(clusters)
    effects, first, second, recomputed = _effects(pairs, clusters, count)
    squares = np.empty(len(pairs))
    for some in _blocks(len(pairs), count):
        squares[some] = ((effects[first[some]] - effects[second[some]]) ** 2).sum(axis=1)
    sums = effects.sum(axis=1)
    observed = np.abs(sums[first] - sums[second])
    reached = (observed - _slack(squares))[:, None]
    extreme = np.zeros(len(pairs))
    for signs in _exchanges(count, seed, resamples):
        moved = effects @ signs.T
        for some in _blocks(len(pairs), 10 * len(signs)):  # what a processor's cache holds
            differences = np.abs(moved[first[some]] - moved[second[some]])
            extreme[some] += np.count_nonzero(differences >= reached[some], axis=1)
    p = (extreme + 1) / (resamples + 1)
    with np.errstate(invalid="ignore", divide="ignore"):  # all effects may be 0
        bound = 2 * np.exp(-(observed**2) / (2 * squares))
    p = np.where(np.isnan(observed), np.nan, np.fmin(p, bound))
    for each in recomputed:
        p[each.pairs] = each.p_values(_exchanges(count, seed, resamples))
    return [float(value) for value in p]


def randomization_interval(
    pair: tuple[Column, Column], clusters: Clusters
) -> tuple[float, float] | None:
    """Return the differences that approximate randomization does not reject at 5 %.

    An exchange splits the clusters in two parts, and is as far from 0 as what was observed where
    the parts disagree on which system is better. So the interval goes from the 5 % quantile of the
    parts' lower difference to the 95 % quantile of the higher one, and 0 is outside where p of
    the same exchanges is below 5 %. A cluster's part of a difference is its share of the score. A
    score that is no weighted sum is computed anew for both parts, which the whole may exceed.

    None if some end is infinite: fewer than six clusters reject nothing.
    """
    count, scored = count_of(clusters), pair[0].scored & pair[1].scored
    rows, (first,), (second,), recomputed = _effects([pair], clusters, count)
    exchanges = _exchanges(count, SEED, RESAMPLES)
    if recomputed:
        (value,) = recomputed[0].values
        of_parts: Iterable[Numbers] = (each[0] for each in recomputed[0].differences(exchanges))
    else:
        effects = rows[first] - rows[second]
        value = float(effects.sum())
        of_samples = np.mean([each.take(scored).shares for each in pair], axis=0)
        shares: Numbers = np.bincount(clusters[scored], of_samples, count).astype(np.float64)
        of_parts = _sums_of_parts(effects, shares, exchanges)
    if math.isnan(value):
        return None
    lower, higher = [], []
    for parts in of_parts:
        lower.append(np.where(np.isnan(parts), -np.inf, parts).min(axis=1))
        higher.append(np.where(np.isnan(parts), np.inf, parts).max(axis=1))
    most = math.ceil((1 - CONFIDENCE) * (RESAMPLES + 1)) - 2  # of those beyond the end
    low = float(np.partition(np.concatenate(lower), most)[most])
    high = -float(np.partition(-np.concatenate(higher), most)[most])
    ends = min(low, float(value)), max(high, float(value))
    return ends if math.isfinite(low) and math.isfinite(high) else None


def _sums_of_parts(
    effects: Numbers, shares: Numbers, exchanges: Iterable[Numbers]
) -> Iterator[Numbers]:
    """Yield the difference of both parts of some exchanges, NaN of an empty part."""
    both, slack = np.stack([effects, shares], axis=1), _slack((effects**2).sum()) / 2
    for signs in exchanges:
        one = (1 + signs) / 2 @ both
        parts = np.stack([one, both.sum(axis=0) - one], axis=1)
        moved = np.where(np.abs(parts[..., 0]) <= slack, 0, parts[..., 0])
        empty = parts[..., 1] < ROUNDING
        yield np.where(empty, np.nan, moved / np.where(empty, 1, parts[..., 1]))


def _slack(squares: Numbers) -> Numbers:
    """Return by how much sums of effects, with these sums of squares, may differ and be equal."""
    return np.maximum(ROUNDING, _DERIVATIVE_ROUNDING * np.sqrt(squares))


def _exchanges(count: int, seed: int, resamples: int) -> Iterator[Numbers]:
    """Yield random signs of the clusters, of shape (some resamples, clusters)."""
    rng = np.random.default_rng(seed)
    for block in _blocks(resamples, count):
        rows = block.stop - block.start
        bits = np.frombuffer(rng.bytes(rows * -(-count // 8)), np.uint8).reshape(rows, -1)
        yield 2.0 * np.unpackbits(bits, axis=1, count=count).astype(np.float64) - 1.0


Places = NDArray[np.int64]


class _Recomputed(NamedTuple):
    """Pairs of a score that is no weighted sum, on the same samples."""

    pairs: Sequence[int]
    """Their numbers."""
    places: Places
    """The systems of each, of shape (pairs, 2)."""
    totals: Totals
    parts: Numbers
    """The totals of each cluster, of shape (systems, clusters, k)."""

    @property
    def values(self) -> Numbers:
        """The differences that were observed."""
        return self._apart(self.totals.score(self.parts.sum(axis=1)))

    def _apart(self, scores: Numbers) -> Numbers:
        apart: Numbers = scores[self.places[:, 0]] - scores[self.places[:, 1]]
        return np.where(np.abs(apart) <= ROUNDING, 0, apart)

    def differences(self, exchanges: Iterable[Numbers]) -> Iterator[Numbers]:
        """Yield those of both parts of some exchanges, of shape (pairs, exchanges, 2)."""
        whole = self.parts.sum(axis=1)[:, None]
        for signs in exchanges:
            for some in _blocks(len(signs), 2 * self.parts[:, 0].size):
                one = (1 + signs[some]) / 2 @ self.parts
                yield self._apart(self.totals.score(np.stack([one, whole - one], axis=2)))

    def p_values(self, exchanges: Iterable[Numbers]) -> Numbers:
        """Return the share of exchanges, of which one more is the observed, that are as extreme.

        They are those whose parts do not both say what the whole does.
        """
        values, extreme, number = self.values, np.zeros(len(self.pairs)), 0
        for apart in self.differences(exchanges):
            agree = (np.sign(values)[:, None, None] * apart > 0).all(axis=2)
            extreme += (~agree).sum(axis=1)
            number += apart.shape[1]
        return np.where(np.isnan(values), np.nan, (extreme + 1) / (number + 1))


def _effects(
    pairs: Sequence[tuple[Column, Column]], clusters: Clusters, count: int
) -> tuple[Numbers, Places, Places, list[_Recomputed]]:
    """Return rows of what each cluster adds, and for each pair the row to take from another one.

    Where a score is a weighted sum of what differs, such as a mean, a row is of a system: so work
    grows with systems, not with their pairs. The last row is of zeros. Pairs of any other score
    have rows of NaN, and are given apart.
    """
    rows, recomputed = [np.full(count, np.nan)], list[_Recomputed]()
    first, second = np.zeros((2, len(pairs)), np.int64)  # no verdict, unless there is one
    groups: dict[tuple[int, bytes], list[int]] = defaultdict(list)
    all_columns = {id(column): column for pair in pairs for column in pair}
    masks = {key: column.scored.tobytes() for key, column in all_columns.items()}
    for number, (one, other) in enumerate(pairs):
        groups[id(one.totals), both(masks[id(one)], masks[id(other)])].append(number)
    for (_, mask), numbers in groups.items():
        some = np.frombuffer(mask, np.bool_)
        of_pairs = [pairs[number] for number in numbers]
        if not (some.any() and of_pairs[0][0].totals.resampled):
            continue
        columns = {id(column): column for pair in of_pairs for column in pair}
        places = {key: place for place, key in enumerate(columns)}
        sums = [
            _by_cluster(column.statistics[some], clusters[some], count)
            for column in columns.values()
        ]
        totals = of_pairs[0][0].totals
        parts = totals.common(sums)
        weights = _weights(totals, parts)
        if weights is not None:
            starts = [len(rows) + places[id(column)] for pair in of_pairs for column in pair]
            first[numbers], second[numbers] = starts[::2], starts[1::2]
            rows += [*(parts * weights).sum(axis=-1)]
            continue
        left = list[tuple[int, list[int]]]()
        for number, pair in zip(numbers, of_pairs, strict=True):
            own, theirs = of_pair = [places[id(column)] for column in pair]
            weights = _weights(totals, parts[of_pair])
            if weights is None:
                left.append((number, of_pair))
            else:  # other pairs kept the group from being such a sum
                first[number], second[number] = len(rows), -1
                rows.append((parts[own] - parts[theirs]) @ weights)
        if left:
            some_pairs, systems = zip(*left, strict=True)
            recomputed.append(_Recomputed([*some_pairs], np.array(systems), totals, parts))
    rows.append(np.zeros(count))
    return np.stack(rows), first, second, recomputed


def _weights(totals: Totals, parts: Numbers) -> Numbers | None:
    """Return the weights of a score that is a weighted sum of what differs; None of any other.

    ``parts`` has the shape (systems, clusters, k). Weights are derivatives by each number.
    """
    differing = np.flatnonzero((parts != parts[0]).any(axis=(0, 1)))
    sums = parts.sum(axis=1)
    middle, weights = sums.mean(axis=0), np.zeros(parts.shape[-1])
    steps = np.zeros((len(differing), parts.shape[-1]))
    sizes = np.abs(parts).sum(axis=1).max(axis=0)[differing]
    steps[np.arange(len(differing)), differing] = sizes
    weights[differing] = totals.pulls(middle, steps) / sizes
    # as far away as all of what the systems have: near by, any score is a sum
    points = np.concatenate([sums, middle + steps])
    scores, sums_there = totals.score(points), (points - sums[0]) @ weights
    missed = np.abs(sums_there - (scores - scores[0]))
    return weights if missed.max() <= _LINEAR * max(1, np.abs(sums_there).max()) else None


# --- Several runs of a system: variances ----------------------------------------------------------


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
    (value,), variances = differences(systems, clusters)
    return None if math.isnan(value) else Student.of(float(value), variances)


def differences(
    systems: Sequence[Sequence[Column]],
    clusters: Clusters,
    pairs: Places | None = None,
    *,
    many: bool = False,
) -> tuple[Numbers, Variances]:
    """Return differences of systems' mean scores over their runs, and their variances.

    Runs and clusters are two crossed samples: of all the runs that training could give, and of all
    the samples like these. ``pairs`` has two numbers of systems in each row; by default there is
    one difference, of the two systems, or the mean of one. A value is NaN if a run has no verdict,
    or if there is a single cluster.

    The variance over clusters is that of how far each cluster pulls a mean. A large cluster seems
    close to a mean of which it is a part. So a pull is divided by the root of the share of all
    other samples (Bell and McCaffrey, 2002). For ``many`` tests it is divided by that share, as in
    a jackknife: that errs less on very unequal clusters, and finds less (MacKinnon, Nielsen and
    Webb, 2023).
    """
    count = count_of(clusters)
    sizes = np.mean([each.shares for columns in systems for each in columns], axis=0)
    sizes = sizes if sizes.any() else np.ones_like(sizes)  # without a verdict
    shares = np.bincount(clusters, sizes) / sizes.sum()
    left = np.where(shares < 1, 1 - shares, 1)
    weights = math.sqrt(1 - 1 / count) / left if many else 1 / np.sqrt(left)
    means, pulls = np.empty(len(systems)), np.zeros((len(systems), count))
    between, shared, further = np.zeros((3, len(systems)))
    for number, columns in enumerate(systems):
        k = len(columns)
        scores, moved = [math.nan] * k, [np.zeros(count)] * k
        if columns[0].totals.resampled:
            parts = [_by_cluster(column.statistics, clusters, count) for column in columns]
            of_runs = [
                (column.totals, of_run.sum(axis=0), of_run)
                for column, of_run in zip(columns, parts, strict=True)
            ]
            scores = [float(totals.score(sums)) for totals, sums, _ in of_runs]
            moved = [totals.pulls(sums, of_run) for totals, sums, of_run in of_runs]
            moved = [weights * (each - each.mean()) for each in moved]
        means[number] = fmean(scores) if count > 1 else math.nan
        pulls[number], further[number] = np.mean(moved, axis=0), k - 1
        if k > 1:
            between[number] = variance(scores) / k
            shared[number] = ((np.stack(moved) - pulls[number]) ** 2).sum() / (k * (k - 1))
    pairs = np.arange(len(systems))[None] if pairs is None else pairs
    first, *second = pairs.T  # the second may be missing
    over_clusters = np.empty(len(pairs))
    for some in _blocks(len(pairs), count):
        of_pairs = pulls[first[some]] - sum(pulls[each[some]] for each in second)
        over_clusters[some] = np.einsum("pc,pc->p", of_pairs, of_pairs)
    values = means[first] - sum(means[each] for each in second)
    freedom = freedom_of(clusters, sizes)
    return values, Variances(over_clusters, between[pairs], shared[pairs], further[pairs], freedom)


def detectable(experiments: Sequence[Variances]) -> float | None:
    """Estimate the true difference that four of five experiments like these would find (p < 0.05).

    Each is one difference, of systems with as many runs as in the others; their variances are
    pooled. True variances are drawn around these, and around them what a further experiment would
    see: so the estimate has its power on average, however few runs it is from. None where the runs
    are too few for that, or nothing varies.
    """
    clusters, between, shared, further = (
        np.concatenate(part) for part in zip(*(each[:4] for each in experiments), strict=True)
    )
    runs, degrees = further[0] + 1, further.sum()
    if 0 < degrees < _FEWEST_DEGREES:
        return None
    rng = np.random.default_rng(0)

    def around(freedom: float | Numbers) -> Numbers:
        """Draw variances around 1, with a column for each of the degrees of freedom."""
        shape = _EXPERIMENTS, np.size(freedom)
        return rng.chisquare(freedom, shape) / freedom

    freedom = sum(each.freedom for each in experiments) / len(experiments)
    of_runs, of_both = (
        (further[0] > 0) * (part * further * runs).sum() / max(1, degrees) / runs
        for part in (between, shared)
    )
    over_clusters = clusters.mean() / around(freedom * len(experiments))
    over_runs = of_runs / around(max(1, degrees))
    more = np.maximum(0, (over_runs - of_both).sum(axis=1))
    deviation = np.sqrt(over_clusters[:, 0] + more)
    error, seen_freedom = Variances(
        (over_clusters * around(freedom))[:, 0],
        over_runs * around(np.maximum(1, further[0])),
        np.broadcast_to(of_both, over_runs.shape),
        np.broadcast_to(further[0], over_runs.shape),
        freedom,
    ).errors()
    needed = reach(seen_freedom) * error - rng.standard_normal(_EXPERIMENTS) * deviation
    found = float(np.quantile(needed, _POWER))
    return found if found > ROUNDING else None
