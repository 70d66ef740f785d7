"""How certain scores and differences are: intervals and tests from logged samples."""

import math
import statistics
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from spor_tasks.core.errors import ResultError
from spor_tasks.metrics import significance
from spor_tasks.metrics.base import Column, Tally, score_info
from spor_tasks.metrics.significance import Clusters, clusters_of
from spor_tasks.metrics.totals import Numbers
from spor_tasks.results.logged import SampleFile
from spor_tasks.results.reading import TaskResult

SEED = 0
"""The seed of the resampling, so that equal files have equal intervals."""


def scale_of(metric: str) -> tuple[float, float]:
    """Return the least and the most that a score can be."""
    info = score_info(metric)
    return info.low, info.high


_NORMAL = 1.959964  # 95 % of a normal distribution is within this many standard errors
_DIGITS = 6
_CLOSE = 1e-6  # between a score in a file and that of its samples; files round neither


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval, and over what it is.

    ``source`` is

    - ``samples``: one run on other samples, by a bootstrap over clusters of samples;
    - ``runs``: other runs on other samples, by the variances over runs and over clusters;
    - ``seeds``: other runs on these samples, by Student's t over the runs' scores;
    - ``stderr``: one run on other samples, by lm-eval's standard error.

    The ends are rounded, so that they are the same on every machine.
    """

    low: float
    high: float
    source: str

    @classmethod
    def of(cls, low: float, high: float, source: str) -> "Interval":
        """Return the interval with rounded ends."""
        return cls(round(low, _DIGITS), round(high, _DIGITS), source)


@dataclass(frozen=True, slots=True)
class Logged:
    """The values of one run's samples by metric, sorted by the samples' ids.

    Samples with the same units, or of the same table, form a cluster; these are their ``keys``.
    """

    ids: tuple[str, ...]
    clusters: Clusters
    columns: Mapping[str, Column]
    keys: tuple[Hashable, ...] = ()


Run = tuple[Path, str]
"""A result file and a task of it."""


def run_of(result: TaskResult) -> Run:
    """Return what identifies a result."""
    return result.file, result.key


def read_values(
    file: SampleFile, metrics: Sequence[str], shared: dict[Hashable, Hashable]
) -> Logged:
    """Return the values of these metrics in a sample file, and the gaps between them.

    Ids and keys of clusters are taken from ``shared``, which gets the new ones, so that many runs
    on the same samples hold them once.

    Raises:
        ResultError: a line is damaged, a sample occurs twice, or these are not the samples of the
            result.
    """
    metrics = [metric for metric in metrics if score_info(metric).totals.is_logged]
    ids: list[str] = []
    clusters: list[Hashable] = []
    tally = Tally(map(score_info, metrics))
    for logged in file.scores():
        ids.append(str(shared.setdefault(logged.id, logged.id)))
        clusters.append(shared.setdefault(logged.cluster, logged.cluster))
        tally.add({metric: logged.scores.get(metric) for metric in metrics})
    if len(set(ids)) < len(ids) or len(ids) != file.run.n:
        raise ResultError(
            f"has {len(ids)} samples, {len(set(ids))} of them different, but the result is of "
            f"{file.run.n}",
            where=file.path,
        )
    order = np.argsort(np.array(ids))
    try:
        columns = {metric: tally.column(metric).take(order) for metric in metrics}
    except ResultError as error:
        raise ResultError(error.what, where=file.path) from error
    for metric, column in columns.items():
        logged_score, reported = column.value, file.run.scores.get(metric, math.nan)
        if metric in file.run.scores and not math.isclose(
            logged_score, reported, rel_tol=_CLOSE, abs_tol=_CLOSE
        ):
            raise ResultError(
                f"its samples have {metric} {logged_score:.4f}, but the result says {reported:.4f}",
                where=file.path,
            )
    columns |= {
        gap.name: columns[gap.one].less(columns[gap.other])
        for gap in file.run.spec.gaps
        if all(name in columns and columns[name].totals.resampled for name in gap)
    }
    keys = tuple(clusters[i] for i in order)
    scored = {metric: column for metric, column in columns.items() if column.scored.any()}
    return Logged(tuple(sorted(ids)), clusters_of(keys), scored, keys)


@dataclass(frozen=True, slots=True)
class SystemPair:
    """Two systems and a metric: the runs of each, which differ only in their training seeds."""

    one: tuple[Run, ...]
    other: tuple[Run, ...]
    metric: str

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs of both."""
        return self.one + self.other

    @property
    def single(self) -> bool:
        """True if each system is a single run, which says nothing about other runs."""
        return len(self.one) == len(self.other) == 1


@dataclass(frozen=True, slots=True)
class Estimate:
    """A system's mean score over its runs, or the difference of two systems, from samples.

    A difference is computed on the ``n`` samples with a verdict in every run. They form
    ``clusters`` clusters.
    """

    value: float
    interval: Interval | None
    n: int
    clusters: int


class Evidence:
    """The values of all logged samples, and the scores of their resamples.

    Runs on the same samples use the same resamples, so that their differences can be resampled.
    """

    def __init__(self, logged: Mapping[Run, Logged]) -> None:
        self._logged = logged
        self._resampled: dict[tuple[Run, str], Numbers] = {}
        same_samples: dict[tuple[str, ...], list[tuple[Run, str]]] = defaultdict(list)
        for run, samples in logged.items():
            for metric in samples.columns:
                same_samples[samples.ids].append((run, metric))
        for keys in same_samples.values():
            columns = [logged[run].columns[metric] for run, metric in keys]
            clusters = logged[keys[0][0]].clusters
            scores = significance.resampled_scores(columns, clusters, seed=SEED)
            self._resampled.update(zip(keys, scores.T, strict=True))

    def estimate(self, metric: str, *systems: Sequence[Sequence[Run]]) -> Estimate | None:
        """Return the score of a system, or that of the first of two minus the second's.

        A system has one or more training seeds, and each seed a run for every split: the samples
        of the splits count together. None where samples are missing or differ between the seeds, or
        where no sample has a verdict in every run of two systems.
        """
        seeds = [runs for system in systems for runs in system]
        if not all(self.is_logged(runs, metric) for runs in seeds):
            return None
        if len({tuple(self._logged[run].ids for run in runs) for runs in seeds}) > 1:
            return None
        columns = tuple(self.column(runs, metric) for runs in seeds)
        clusters = clusters_of(key for run in seeds[0] for key in self._logged[run].keys)
        if is_difference := len(systems) > 1:
            size = len(clusters)
            columns, clusters = significance.common(columns, clusters)
            if not len(clusters):
                return None
            if len(clusters) < size:
                seeds = []  # the resamples of all samples do not apply
        by_system = [columns[: len(systems[0])], columns[len(systems[0]) :]][: len(systems)]
        first, *second = (statistics.fmean(c.value for c in runs) for runs in by_system)
        if len(columns) > len(systems):
            over_runs = significance.over_runs(by_system, clusters)
            interval = over_runs and _within_scale(
                metric, *over_runs.interval(), "runs", is_difference=is_difference
            )
        else:
            interval = _over_samples(self._resamples(seeds, metric, columns, clusters))
        return Estimate(
            first - sum(second), interval, len(clusters), significance.count_of(clusters)
        )

    def _resamples(
        self,
        seeds: Sequence[Sequence[Run]],
        metric: str,
        columns: Sequence[Column],
        clusters: Clusters,
    ) -> Numbers:
        """Return the resampled score of one column, or the difference of two."""
        if seeds and all(len(runs) == 1 for runs in seeds):
            scores = [self._resampled[runs[0], metric] for runs in seeds]
        else:
            scores = list(significance.resampled_scores(columns, clusters, seed=SEED).T)
        return scores[0] - scores[1] if len(scores) > 1 else scores[0]

    def interval(self, results: Sequence[TaskResult], metric: str) -> Interval | None:
        """Return the interval of the results' mean.

        Without logged samples, or with different ones, that of several runs is over runs only, and
        that of one run is from lm-eval's standard error.
        """
        if estimate := self.estimate(metric, [[run_of(result)] for result in results]):
            return estimate.interval
        if len(results) > 1:
            return over_seeds(metric, [result.scores[metric] for result in results])
        (result,) = results
        if (error := result.stderrs.get(metric)) is None:
            return None
        center, reach = result.scores[metric], _NORMAL * error
        return _within_scale(metric, center - reach, center + reach, "stderr")

    def difference(self, pair: SystemPair) -> Estimate | None:
        """Return the difference of two systems; None if :meth:`estimate` has none."""
        return self.estimate(
            pair.metric, *([[run] for run in system] for system in (pair.one, pair.other))
        )

    def column(self, runs: Sequence[Run], metric: str) -> Column:
        """Return the values of the samples of several splits together."""
        columns = [self._logged[run].columns[metric] for run in runs]
        return columns[0] if len(columns) == 1 else Column.joined(columns)

    def clusters(self, runs: Iterable[Run]) -> int | None:
        """Return the number of clusters of the samples of these runs; None without samples."""
        runs = tuple(runs)
        if not self.is_logged(runs):
            return None
        return len({key for run in runs for key in self._logged[run].keys})

    def clusters_of_each(self, runs: Sequence[Run]) -> int | None:
        """Return the number of clusters of each run; None unless all have the same samples."""
        if not runs or not self.is_logged(runs):
            return None
        is_same = len({self._logged[run].ids for run in runs}) == 1
        return self.clusters(runs[:1]) if is_same else None

    def p_values(
        self, pairs: Iterable[SystemPair], *, level: float | None = None
    ) -> Iterator[float | None]:
        """Yield the two-sided p of no difference for each pair; None if it cannot be tested.

        If a system has several runs, it is that of
        :func:`~spor_tasks.metrics.significance.over_runs`, which accounts for the variation between
        runs, otherwise that of :func:`~spor_tasks.metrics.significance.randomization_p_values`.
        ``level`` is the significance level if the pairs are tested together: there are then enough
        resamples to reach it after an adjustment for their number.
        """
        pairs = tuple(pairs)
        resamples = (
            significance.RESAMPLES
            if level is None
            else significance.resamples_for(len(pairs), level)
        )
        p_values: list[float | None] = [None] * len(pairs)
        single: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for number, pair in enumerate(pairs):
            if not self.has_samples(pair):
                continue
            if pair.single:
                single[self._logged[pair.one[0]].ids].append(number)
            else:
                p_values[number] = self._p_over_runs(pair)
        for numbers in single.values():
            systems = [
                [(run, pairs[number].metric) for run in pairs[number].runs] for number in numbers
            ]
            columns = {system: i for i, system in enumerate(dict.fromkeys(chain(*systems)))}
            p = significance.randomization_p_values(
                [self._logged[run].columns[metric] for run, metric in columns],
                [(columns[first], columns[second]) for first, second in systems],
                self._logged[pairs[numbers[0]].one[0]].clusters,
                seed=SEED,
                resamples=resamples,
            )
            for number, value in zip(numbers, p, strict=True):
                p_values[number] = float(value)
        for value in p_values:
            yield None if value is None or math.isnan(value) else value

    def _p_over_runs(self, pair: SystemPair) -> float:
        columns, clusters = significance.common(
            [self._logged[run].columns[pair.metric] for run in pair.runs],
            self._logged[pair.one[0]].clusters,
        )
        if not len(clusters):
            return math.nan
        systems = [columns[: len(pair.one)], columns[len(pair.one) :]]
        estimate = significance.over_runs(systems, clusters)
        return math.nan if estimate is None else estimate.p

    def is_logged(self, runs: Iterable[Run], metric: str | None = None) -> bool:
        """Return whether the samples of all these runs were logged, with this metric's values."""
        return all(
            run in self._logged and (metric is None or metric in self._logged[run].columns)
            for run in runs
        )

    def has_samples(self, pair: SystemPair) -> bool:
        """Return whether both systems have logged samples, and the same ones."""
        return (
            self.is_logged(pair.runs, pair.metric)
            and len({self._logged[run].ids for run in pair.runs}) == 1
        )

    def scored(self, run: Run, metric: str) -> int | None:
        """Return how many samples of a run have a verdict; None if they were not logged."""
        if not self.is_logged([run], metric):
            return None
        return int(self.column([run], metric).scored.sum())


def _over_samples(scores: Numbers) -> Interval | None:
    ends = significance.percentile_interval(scores)
    return ends and Interval.of(*ends, "samples")


def over_seeds(metric: str, *systems: Sequence[float]) -> Interval | None:
    """Return the interval of a mean over training seeds, or of one mean less another."""
    estimate = significance.over_seeds(*systems)
    return estimate and _within_scale(
        metric, *estimate.interval(), "seeds", is_difference=len(systems) > 1
    )


def _within_scale(
    metric: str, low: float, high: float, source: str, *, is_difference: bool = False
) -> Interval:
    """Return the interval, cut to what a score, or a difference of two, can be."""
    least, most = scale_of(metric)
    if is_difference:
        least, most = least - most, most - least
    return Interval.of(max(least, low), min(most, high), source)
