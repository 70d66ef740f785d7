"""How sure a score is, and whether two systems differ: resampling and variances, seeded.

Samples that show the same units are not independent of each other, so *clusters* of samples are
what is drawn, exchanged and summed here. Where a system was trained several times, its runs are
drawn from all the runs that there could be, and count as such.
"""

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from spor_tasks.metrics.base import Column

Numbers = NDArray[np.float64]
Clusters = NDArray[np.int64]
"""The cluster of each sample, numbered from 0."""

RESAMPLES = 10_000
"""The number of resamples for one interval or one comparison."""

_ROUNDING = 1e-9  # sums in another order differ in the last digits, and equal is equal
_CELLS_AT_ONCE = 2_000_000  # bounds the memory of a block of resamples to some tens of megabytes
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
    too. NaN is a resample without a verdict.

    Raises:
        ValueError: there are no samples.
    """
    count = _count(clusters)
    weights, owners, total = _group_weights(columns, clusters, count)
    rng = np.random.default_rng(seed)
    blocks = []
    for rows in _blocks(resamples, count):
        draws = rng.integers(0, count, (rows, count)) + count * np.arange(rows)[:, None]
        counts = np.bincount(draws.ravel(), minlength=rows * count).reshape(rows, count)
        sums = counts.astype(np.float64) @ weights
        numbers, sizes = sums[:, :total], sums[:, total:]
        means = np.divide(numbers, sizes, out=np.zeros_like(numbers), where=sizes > 0)
        held = (sizes > 0).astype(np.float64)
        with np.errstate(invalid="ignore"):  # 0 / 0 is NaN: no verdict
            blocks.append((means @ owners) / (held @ owners))
    return np.concatenate(blocks)


def _group_weights(
    columns: Sequence[Column], clusters: Clusters, count: int
) -> tuple[Numbers, Numbers, int]:
    """Return sums and sizes of each group of each column, and which column each group belongs to.

    The first array has the shape (clusters, twice the groups), the second (groups, columns).
    """
    sums, sizes, owners = [], [], []
    for number, column in enumerate(columns):
        scored = ~np.isnan(column.numbers)
        for group in np.unique(column.groups[scored]):
            present = scored & (column.groups == group)
            sums.append(np.bincount(clusters[present], column.numbers[present], count))
            sizes.append(np.bincount(clusters[present], minlength=count).astype(np.float64))
            owners.append(number)
    belongs = np.zeros((len(owners), len(columns)))
    belongs[np.arange(len(owners)), owners] = 1
    stacked = np.stack([*sums, *sizes], axis=1) if owners else np.zeros((count, 0))
    return stacked, belongs, len(owners)


def percentile_interval(scores: Numbers, confidence: float = 0.95) -> tuple[float, float]:
    """Return the middle ``confidence`` of resampled scores, of shape (resamples,) (Efron, 1979)."""
    tail = 50 * (1 - confidence)
    low, high = np.nanpercentile(scores, [tail, 100 - tail])
    return float(low), float(high)


def interval(
    column: Column, clusters: Clusters, *, seed: int, confidence: float = 0.95
) -> tuple[float, float] | None:
    """Return the bootstrap interval of a column's score, None where nothing has a verdict."""
    (kept,), clusters = common([column], clusters)
    if not len(clusters):
        return None
    (scores,) = resampled_scores([kept], clusters, seed=seed).T
    return percentile_interval(scores, confidence)


class Comparison(NamedTuple):
    """A score of two systems on the ``n`` samples, in ``clusters``, that both have a verdict on.

    ``difference`` is the first's score there less the second's. ``p_randomization`` is that of
    :func:`randomization_p_values`, ``p_bootstrap`` that of :func:`paired_bootstrap`.
    """

    difference: float
    n: int
    clusters: int
    p_randomization: float
    p_bootstrap: float


def compare(one: Column, other: Column, clusters: Clusters, *, seed: int) -> Comparison | None:
    """Compare the same score of two systems on the same samples, None where there are none."""
    (one, other), clusters = common([one, other], clusters)
    if not len(clusters):
        return None
    (p,) = randomization_p_values([one, other], [(0, 1)], clusters, seed=seed)
    return Comparison(
        difference=one.value - other.value,
        n=len(clusters),
        clusters=_count(clusters),
        p_randomization=float(p),
        p_bootstrap=paired_bootstrap(one, other, clusters, seed=seed),
    )


def common(columns: Sequence[Column], clusters: Clusters) -> tuple[tuple[Column, ...], Clusters]:
    """Return the columns of the samples that all of them have a verdict on, and their clusters."""
    scored = ~np.isnan([column.numbers for column in columns]).any(axis=0)
    kept = tuple(Column(column.numbers[scored], column.groups[scored]) for column in columns)
    return kept, np.unique(clusters[scored], return_inverse=True)[1]


def paired_bootstrap(
    one: Column, other: Column, clusters: Clusters, *, seed: int, resamples: int = RESAMPLES
) -> float:
    """Return the two-sided p of no difference between two systems on the same samples.

    The bootstrap distribution of the difference is shifted to zero; p is the share at least as far
    from it as the observed difference (Koehn, 2004, in its two-sided form). Every sample has a
    verdict from both.
    """
    scores = resampled_scores([one, other], clusters, seed=seed, resamples=resamples)
    observed = one.value - other.value
    return _p_value(np.abs(scores[:, 0] - scores[:, 1] - observed), abs(observed))


def _p_value(resampled: Numbers, observed: float) -> float:
    """Return the share at least as extreme; the observed one counts, so that p is never zero."""
    extreme = int((resampled >= observed - _ROUNDING).sum())
    return (extreme + 1) / (len(resampled) + 1)


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
    systems, numbered, testable = _systems(columns, pairs, clusters)
    ones, others = np.array(numbered).T
    totals = systems.sum(axis=0)
    observed = np.abs(totals[ones] - totals[others]) - _ROUNDING
    systems -= systems.mean(axis=1, keepdims=True)  # what all have in common cancels out
    rng = np.random.default_rng(seed)
    extreme = np.zeros(len(pairs))
    for rows in _blocks(resamples, len(systems)):
        scores = np.ascontiguousarray((_signs(rng, rows, len(systems)) @ systems).T)
        low, high = scores.min(axis=1), scores.max(axis=1)
        # Most pairs of a long board are further apart than any two scores of the block.
        reach = np.maximum(high[ones] - low[others], high[others] - low[ones])
        for one in np.unique(ones[reach >= observed]):
            places = np.flatnonzero((ones == one) & (reach >= observed))
            differences = np.abs(scores[others[places]] - scores[one])
            extreme[places] += (differences >= observed[places, None]).sum(axis=1)
    return np.where(testable, (extreme + 1) / (resamples + 1), np.nan)


def _systems(
    columns: Sequence[Column], pairs: Sequence[tuple[int, int]], clusters: Clusters
) -> tuple[Numbers, list[tuple[int, int]], NDArray[np.bool_]]:
    """Return what each cluster adds to each system's score, and the pairs as numbers of systems.

    A pair with samples that lack a verdict is tested on the others, on which its groups have other
    sizes: its two columns there are systems of their own. The last array tells which pairs have
    samples at all.
    """
    count = _count(clusters)
    systems = [
        np.bincount(clusters, np.nan_to_num(column.numbers * _weights(column)), count)
        for column in columns
    ]
    whole = [not np.isnan(column.numbers).any() for column in columns]
    numbered: list[tuple[int, int]] = []
    testable = np.ones(len(pairs), bool)
    for place, (one, other) in enumerate(pairs):
        if whole[one] and whole[other]:
            numbered.append((one, other))
            continue
        kept, of_kept = common([columns[one], columns[other]], np.arange(len(clusters)))
        scored = ~np.isnan(columns[one].numbers) & ~np.isnan(columns[other].numbers)
        testable[place] = len(of_kept) > 0
        systems += [
            np.bincount(clusters[scored], column.numbers * _weights(column), count)
            for column in kept
        ]
        numbered.append((len(systems) - 2, len(systems) - 1))
    return np.stack(systems, axis=1), numbered, testable


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
        reach = float(stats.t.ppf((1 + confidence) / 2, self.freedom)) * self.error
        return self.value - reach, self.value + reach

    @property
    def p(self) -> float:
        """The two-sided p that the true value is 0."""
        if abs(self.value) <= _ROUNDING:
            return 1.0
        if not self.error:  # all clusters agree, which by chance they do once in so many times
            return float(2.0**-self.freedom)
        return float(2 * stats.t.sf(abs(self.value) / self.error, self.freedom))


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
    count = _count(clusters)
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
    if variance <= _ROUNDING**2:  # every cluster and every run says the same
        return Estimate(value, 0.0, count - 1)
    if more <= 0:  # runs differ no more than their parts on the samples make them
        return Estimate(value, math.sqrt(variance), count - 1)
    components = [(over_clusters, count - 1), *over_seeds, *shared]
    freedom = variance**2 / sum(part**2 / of_part for part, of_part in components)
    least = min(of_runs for _, of_runs in over_seeds)
    return Estimate(value, math.sqrt(variance), max(freedom, least))


def _influence(column: Column, clusters: Clusters, count: int) -> tuple[float, Numbers]:
    """Return a column's score, and how far each cluster pulls it up or down, of shape (clusters,).

    The pulls sum to zero. The score is a mean of group means, so this is its first-order expansion
    in the shares of the clusters.
    """
    scored = ~np.isnan(column.numbers)
    numbers, groups = column.numbers[scored], column.groups[scored]
    if not len(numbers):
        return math.nan, np.zeros(count)
    _, codes, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    means = np.bincount(codes, numbers) / sizes
    pulls = (numbers - means[codes]) / (len(sizes) * sizes[codes])
    return float(means.mean()), np.bincount(clusters[scored], pulls, count).astype(np.float64)


def _weights(column: Column) -> Numbers:
    """Return the weight of each sample in the score: groups count alike, and samples within one.

    A sample without a verdict has none; its weight is of no meaning.
    """
    scored = ~np.isnan(column.numbers)
    weights = np.zeros(len(scored))
    _, codes, sizes = np.unique(column.groups[scored], return_inverse=True, return_counts=True)
    weights[scored] = 1 / (len(sizes) * sizes[codes])
    return weights


def _count(clusters: Clusters) -> int:
    if not len(clusters):
        raise ValueError("there are no samples to draw from")
    return int(clusters.max()) + 1


def _blocks(resamples: int, count: int) -> Iterator[int]:
    """Yield how many resamples to draw at once, so that memory does not grow with their number."""
    most = max(1, _CELLS_AT_ONCE // count)
    for start in range(0, resamples, most):
        yield min(most, resamples - start)
