"""How certain scores and differences are: intervals and tests from logged samples."""

import math
import statistics
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

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
    known = {metric: column for metric, column in columns.items() if column.scored.any()}
    return Logged(tuple(sorted(ids)), clusters_of(keys), known, keys)


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


class Gap(NamedTuple):
    """The difference of two systems on the samples on which each of their runs has a verdict.

    There are ``n`` such samples, in ``clusters`` clusters.
    """

    value: float
    interval: Interval | None
    n: int
    clusters: int


class Together(NamedTuple):
    """The scores of the samples of several splits together, a value and a count for each seed."""

    values: tuple[float, ...]
    interval: Interval | None
    counts: tuple[int, ...]


class Evidence:
    """The values of all logged samples, and the scores of their resamples.

    Runs on the same samples use the same resamples, so that their differences can be resampled.
    """

    def __init__(self, logged: Mapping[Run, Logged]) -> None:
        self._logged = logged
        self._resampled: dict[tuple[Run, str], Numbers] = {}
        alike: dict[tuple[str, ...], list[tuple[Run, str]]] = defaultdict(list)
        for run, found in logged.items():
            for metric in found.columns:
                alike[found.ids].append((run, metric))
        for keys in alike.values():
            columns = [logged[run].columns[metric] for run, metric in keys]
            clusters = logged[keys[0][0]].clusters
            scores = significance.resampled_scores(columns, clusters, seed=SEED)
            self._resampled.update(zip(keys, scores.T, strict=True))

    def interval(self, results: Sequence[TaskResult], metric: str) -> Interval | None:
        """Return the interval of the results' mean.

        For several runs it is over runs and samples, or over runs only if no samples were logged.
        For one run it is over samples, or from lm-eval's standard error if none were logged.
        """
        runs = [run_of(result) for result in results]
        logged = self.is_logged(runs, metric)
        if len(results) > 1:
            columns = self._columns(runs, metric) if logged else []
            if logged and self._ids(runs) is not None:
                found = significance.over_runs([columns], self._logged[runs[0]].clusters)
                return found and _within_scale(metric, *found.interval(), "runs")
            return _over_seeds(metric, [result.scores[metric] for result in results])
        (result,) = results
        if logged:
            return _over_samples(self._resampled[runs[0], metric])
        if (error := result.stderrs.get(metric)) is None:
            return None
        center, reach = result.scores[metric], _NORMAL * error
        return _within_scale(metric, center - reach, center + reach, "stderr")

    def gap(self, pair: SystemPair) -> Gap | None:
        """Return the difference on the samples with a verdict in all runs; None without any."""
        if not self.has_samples(pair):
            return None
        columns, clusters = self._common(pair)
        if not len(clusters):
            return None
        one, other = columns[: len(pair.one)], columns[len(pair.one) :]
        value = statistics.fmean(column.value for column in one) - statistics.fmean(
            column.value for column in other
        )
        return Gap(
            value,
            self._interval_of_gap(pair, one, other, clusters),
            len(clusters),
            len(np.unique(clusters)),
        )

    def _interval_of_gap(
        self, pair: SystemPair, one: Sequence[Column], other: Sequence[Column], clusters: Clusters
    ) -> Interval | None:
        if not pair.single:
            found = significance.over_runs([one, other], clusters)
            return found and _within_scale(pair.metric, *found.interval(), "runs", difference=True)
        if len(clusters) == len(self._logged[pair.one[0]].ids):
            scores = [self._resampled[run, pair.metric] for run in pair.runs]
        else:
            scores = list(significance.resampled_scores([*one, *other], clusters, seed=SEED).T)
        return _over_samples(scores[0] - scores[1])

    def interval_without_samples(
        self, metric: str, one: Sequence[float], other: Sequence[float]
    ) -> Interval | None:
        """Return the interval of the first mean over seeds minus the second."""
        return _over_seeds(metric, one, other)

    def together(self, seeds: Sequence[Sequence[Run]], metric: str) -> Together | None:
        """Return the scores of splits together, from the runs of each split for every seed.

        None where some seed has no score.
        """
        columns = [Column.joined(self._columns(runs, metric)) for runs in seeds]
        values = tuple(column.value for column in columns)
        if any(map(math.isnan, values)):
            return None
        clusters = clusters_of(key for run in seeds[0] for key in self._logged[run].keys)
        alike = {tuple(self._logged[run].ids for run in runs) for runs in seeds}
        if len(columns) == 1:
            drawn = significance.resampled_scores(columns, clusters, seed=SEED)
            interval = _over_samples(drawn[:, 0])
        elif len(alike) == 1 and (found := significance.over_runs([columns], clusters)):
            interval = _within_scale(metric, *found.interval(), "runs")
        else:
            interval = _over_seeds(metric, values)
        counts = tuple(int(column.scored.sum()) for column in columns)
        return Together(values, interval, counts)

    def number_of_clusters(self, runs: Iterable[Run]) -> int | None:
        """Return the number of clusters of the samples of these runs; None without samples."""
        found = tuple(runs)
        if not self.is_logged(found):
            return None
        return len({key for run in found for key in self._logged[run].keys})

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
        found: dict[int, float] = {}
        single: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for number, pair in enumerate(pairs):
            if not self.has_samples(pair):
                continue
            if pair.single:
                single[self._logged[pair.one[0]].ids].append(number)
            else:
                found[number] = self._p_over_runs(pair)
        for numbers in single.values():
            columns: dict[tuple[Run, str], int] = {}
            for number in numbers:
                for run in pairs[number].runs:
                    columns.setdefault((run, pairs[number].metric), len(columns))
            numbered = [
                (
                    columns[pairs[i].one[0], pairs[i].metric],
                    columns[pairs[i].other[0], pairs[i].metric],
                )
                for i in numbers
            ]
            p = significance.randomization_p_values(
                [self._logged[run].columns[metric] for run, metric in columns],
                numbered,
                self._logged[pairs[numbers[0]].one[0]].clusters,
                seed=SEED,
                resamples=resamples,
            )
            found.update(zip(numbers, map(float, p), strict=True))
        for number in range(len(pairs)):
            p_value = found.get(number, math.nan)
            yield None if math.isnan(p_value) else p_value

    def _p_over_runs(self, pair: SystemPair) -> float:
        columns, clusters = self._common(pair)
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
        return self.is_logged(pair.runs, pair.metric) and self._ids(pair.runs) is not None

    def counts(self, runs: Sequence[Run]) -> tuple[int, int] | None:
        """Return the numbers of samples and clusters of runs; None if their samples differ."""
        if not self.is_logged(runs) or self._ids(runs) is None:
            return None
        first = self._logged[runs[0]]
        return len(first.ids), len(np.unique(first.clusters))

    def scored(self, run: Run, metric: str) -> int | None:
        """Return how many samples of a run have a verdict; None if they were not logged."""
        if not self.is_logged([run], metric):
            return None
        return int(self._logged[run].columns[metric].scored.sum())

    def _ids(self, runs: Sequence[Run]) -> tuple[str, ...] | None:
        """Return the ids of the samples of these runs; None if they differ."""
        first = self._logged[runs[0]].ids
        return first if all(self._logged[run].ids == first for run in runs) else None

    def _columns(self, runs: Sequence[Run], metric: str) -> list[Column]:
        return [self._logged[run].columns[metric] for run in runs]

    def _common(self, pair: SystemPair) -> tuple[tuple[Column, ...], Clusters]:
        columns = self._columns(pair.runs, pair.metric)
        return significance.common(columns, self._logged[pair.one[0]].clusters)


def _over_samples(scores: Numbers) -> Interval | None:
    found = significance.percentile_interval(scores)
    return found and Interval.of(*found, "samples")


def _over_seeds(metric: str, *arms: Sequence[float]) -> Interval | None:
    found = significance.over_seeds(*arms)
    return found and _within_scale(metric, *found.interval(), "seeds", difference=len(arms) > 1)


def _within_scale(
    metric: str, low: float, high: float, source: str, *, difference: bool = False
) -> Interval:
    """Return the interval, cut to what a score, or a difference of two, can be."""
    least, most = scale_of(metric)
    if difference:
        least, most = least - most, most - least
    return Interval.of(max(least, low), min(most, high), source)
