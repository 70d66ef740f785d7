"""The variance of mean scores, and of their differences, over runs of training and samples."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy  # loads its parts when they are used
from numpy.typing import NDArray

from spor_tasks.metrics.tally import Column
from spor_tasks.metrics.totals import Numbers
from spor_tasks.results.clusters import Clusters, by_cluster, count_of, freedom_of

CONFIDENCE = 0.95
"""That of intervals, and of tests at 5 %."""

ROUNDING = 1e-9
"""Sums in another order differ in the last digits, and equal is equal."""

CELLS_AT_ONCE = 2_000_000
"""Bounds the memory of a block of resamples, or of pairs, to some tens of megabytes."""

_TIE = 1e-6  # of a variance: rounding of the jackknife makes less of a difference
_OF_RUNS = 0.8  # the part of other runs that an interval has at least
_POWER = 0.8
_FEWEST_DEGREES = 12  # of freedom over runs: a variance of fewer is often far too small
_EXPERIMENTS = 2_000


def reach(freedom: float | Numbers) -> Numbers:
    """Return Student's quantile, to which an interval reaches in standard errors."""
    quantile: Numbers = scipy.special.stdtrit(freedom, (1 + CONFIDENCE) / 2)
    return quantile


def p_of(value: Numbers, error: Numbers, freedom: Numbers) -> Numbers:
    """Return Student's two-sided p that each true value is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * scipy.special.stdtr(freedom, -np.abs(value) / error)
    agreed = 2.0**-freedom  # all clusters agree, which by chance they do once in so many times
    return np.where(np.abs(value) <= ROUNDING, 1.0, np.where(error == 0, agreed, p))


class Variances(NamedTuple):
    """The parts of the variances of some means, or of some differences of two.

    That over ``clusters`` has so many degrees of ``freedom``. The others have a column for each
    system: ``between`` is the variance of its mean over runs, ``shared`` what of it is the runs'
    part on the clusters, and ``further`` the number of runs but one. All are 0 for a single run.
    """

    clusters: Numbers
    between: Numbers
    shared: Numbers
    further: Numbers
    freedom: float

    def errors(self) -> tuple[Numbers, Numbers]:
        """Return standard errors over clusters and runs, with their degrees of freedom.

        The variance is that over clusters, plus that over runs, less what both contain, the part of
        a run on a cluster (Cameron, Gelbach and Miller, 2011). It is never taken to be less than
        that over clusters alone. The degrees of freedom are Satterthwaite's (1946), those of the
        runs at least. Two runs may agree by chance: so an interval of 95 % is never taken to be
        shorter than one of 80 % over runs alone.
        """
        more = (self.between - self.shared).sum(axis=-1)
        total = self.clusters + np.maximum(0, more)
        runs = np.where(self.further > 0, self.further, math.inf)
        squares = self.between**2 / runs + self.shared**2 / (runs * self.freedom)
        with np.errstate(invalid="ignore", divide="ignore"):
            freedom = total**2 / (self.clusters**2 / self.freedom + squares.sum(axis=-1))
        same = total <= ROUNDING**2  # every cluster and every run says the same
        # Runs may differ no more than their parts on the samples make them.
        alike = same | (more <= _TIE * total)
        freedom = np.where(alike, self.freedom, np.maximum(freedom, runs.min(axis=-1)))
        error, runs_freedom = self.errors_of_runs()
        least = error * scipy.special.stdtrit(runs_freedom, (1 + _OF_RUNS) / 2) / reach(freedom)
        return np.where(same, 0, np.fmax(np.sqrt(total), least)), freedom

    def errors_of_runs(self) -> tuple[Numbers, Numbers]:
        """Return the standard errors over runs alone, with their degrees of freedom.

        These are Welch's (1947) for two systems of as many runs. For others they make a small p up
        to a hundred times too small, and those of the fewer runs never do (Mickey and Brown, 1966).
        """
        total = self.between.sum(axis=-1)
        runs = np.where(self.further > 0, self.further, math.inf)
        with np.errstate(invalid="ignore", divide="ignore"):
            freedom = total**2 / (self.between**2 / runs).sum(axis=-1)
        uneven = self.further.min(axis=-1) < self.further.max(axis=-1)
        freedom = np.where(uneven, runs.min(axis=-1), freedom)
        # Where all runs agree, nothing says how much others would differ.
        return np.sqrt(total), np.where(total > 0, freedom, self.further.sum(axis=-1))


@dataclass(frozen=True, slots=True)
class Systems:
    """What the runs of some systems say about their means, all on the same samples.

    Runs and clusters are two crossed samples: of all the runs that training could give, and of all
    the samples like these. ``pulls`` are how far each cluster moves a mean, of shape (systems,
    clusters); their squares add up to the variance over clusters. A large cluster seems close to a
    mean of which it is a part. So a pull is divided by the root of the share of all other samples
    (Bell and McCaffrey, 2002). For ``many`` tests it is divided by that share, as in a jackknife:
    that errs less on very unequal clusters, and finds less (MacKinnon, Nielsen and Webb, 2023). The
    other fields are those of :class:`Variances`. A mean is NaN if a run has no verdict, or if there
    is a single cluster.
    """

    means: Numbers
    pulls: Numbers
    between: Numbers
    shared: Numbers
    further: Numbers
    freedom: float
    many: bool

    @classmethod
    def of(
        cls, systems: Sequence[Sequence[Column]], clusters: Clusters, *, many: bool = False
    ) -> "Systems":
        """Return what the columns say, one for each run of a system, to ``many`` tests."""
        count = count_of(clusters)
        several = count > 1
        sizes = np.mean([each.shares for columns in systems for each in columns], axis=0)
        sizes = sizes if sizes.any() else np.ones_like(sizes)  # without a verdict
        shares = np.bincount(clusters, sizes) / sizes.sum()
        left = np.where(shares < 1, 1 - shares, 1)
        weights = math.sqrt(1 - 1 / count) / left if many else 1 / np.sqrt(left)
        rows = []
        for columns in systems:
            runs = [_influence(column, clusters, count) for column in columns]
            scores, moved = (np.stack(part) for part in zip(*runs, strict=True))
            moved *= weights
            value, pull, others = scores.mean(), moved.mean(axis=0), len(runs) - 1
            variance = scores.var(ddof=1) / len(runs) if others else 0.0
            of_both = ((moved - pull) ** 2).sum() / (len(runs) * max(1, others))
            rows.append((value if several else math.nan, pull, variance, of_both, float(others)))
        means, pulls, between, shared, further = map(np.array, zip(*rows, strict=True))
        freedom = freedom_of(clusters, sizes)
        return cls(means, pulls, between, shared, further, freedom, many)

    def compared(self, pairs: NDArray[np.int64]) -> tuple[Numbers, Variances]:
        """Return the mean of the first system of each row, less that of a second one, if any."""
        first, *second = pairs.T  # the second may be missing
        value, clusters = self.means[first], []
        most = max(1, CELLS_AT_ONCE // self.pulls.shape[1])
        for start in range(0, len(pairs), most):
            pulls = self.pulls[first[start : start + most]]
            for systems in second:
                pulls -= self.pulls[systems[start : start + most]]
            clusters.append(np.einsum("pc,pc->p", pulls, pulls))
        for systems in second:
            value -= self.means[systems]
        between, shared, further = (
            part[pairs] for part in (self.between, self.shared, self.further)
        )
        return value, Variances(np.concatenate(clusters), between, shared, further, self.freedom)

    def tested(self, pairs: NDArray[np.int64]) -> tuple[Numbers, Numbers]:
        """Return the difference of each pair, and the two-sided p that there is none.

        A single test is right at 5 and at 1 %. Among many, a far smaller p counts, which is too
        frequent since the runs of a pair may agree by chance. There it is never taken to be less
        than that of the runs' scores alone.
        """
        value, variances = self.compared(pairs)
        p = p_of(value, *variances.errors())
        if self.many:
            p = np.maximum(p, p_of(value, *variances.errors_of_runs()))
        return value, p


def _influence(column: Column, clusters: Clusters, count: int) -> tuple[float, Numbers]:
    """Return a column's score, and how far each cluster pulls it up or down, of shape (clusters,).

    The pulls are those of :meth:`~spor_tasks.metrics.totals.Totals.pulls`; they sum to zero.
    """
    parts = by_cluster(column.statistics, clusters, count)
    totals = parts.sum(axis=0)
    score = float(column.totals.score(totals))
    if math.isnan(score) or not column.totals.resampled:
        return math.nan, np.zeros(count)
    pulls = column.totals.pulls(totals, parts)
    return score, pulls - pulls.mean()


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
