"""The values of logged samples, and what they say about scores and differences."""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spor_tasks.core.errors import ResultError
from spor_tasks.metrics.base import Column, Tally, score_info
from spor_tasks.metrics.totals import Numbers
from spor_tasks.results import statistics
from spor_tasks.results.runs import Run, RunKey
from spor_tasks.results.samples import SampleFile
from spor_tasks.results.statistics import Clusters, Estimate, Interval, Scale, clusters_of

_NORMAL = 1.959964  # 95 % of a normal distribution is within this many standard errors
_CLOSE = 1e-6  # between a score in a file and that of its samples; files round neither


@dataclass(frozen=True, slots=True)
class Logged:
    """The values of one run's samples by score, sorted by the samples' ids.

    Samples with the same units, or of the same table, form a cluster; these are their ``keys``.
    """

    ids: tuple[Hashable, ...]
    clusters: Clusters
    columns: Mapping[str, Column]
    keys: tuple[Hashable, ...] = ()

    @classmethod
    def joined(cls, parts: Mapping[str, "Logged"]) -> "Logged":
        """Return the samples of several splits together; a sample may be in each of them.

        A score of some samples only may lack a verdict in a whole split, any other score may not.
        """
        keys = tuple(key for part in parts.values() for key in part.keys)
        names = dict.fromkeys(name for part in parts.values() for name in part.columns)
        columns = {}
        for name in names:
            known = [part.columns.get(name) for part in parts.values()]
            if all(known) or score_info(name).of_some:
                example = next(filter(None, known))
                columns[name] = Column.joined(
                    [
                        column or example.without_verdicts(len(part.ids))
                        for column, part in zip(known, parts.values(), strict=True)
                    ]
                )
        ids = tuple((split, id_) for split, part in parts.items() for id_ in part.ids)
        return cls(ids, clusters_of(keys), columns, keys)


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
    keys: list[Hashable] = []
    tally = Tally(map(score_info, metrics))
    for logged in file.scores():
        ids.append(str(shared.setdefault(logged.id, logged.id)))
        keys.append(shared.setdefault(logged.cluster, logged.cluster))
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
        reported = file.run.scores.get(metric, math.nan)
        if metric in file.run.scores and not math.isclose(
            column.value, reported, rel_tol=_CLOSE, abs_tol=_CLOSE
        ):
            raise ResultError(
                f"its samples have {metric} {column.value:.4f}, but the result says {reported:.4f}",
                where=file.path,
            )
    columns |= {
        gap.name: columns[gap.score].less(columns[gap.subtracted])
        for gap in file.run.spec.gaps
        if all(name in columns and columns[name].totals.resampled for name in gap)
    }
    sorted_keys = tuple(keys[i] for i in order)
    scored = {metric: column for metric, column in columns.items() if column.scored.any()}
    return Logged(tuple(sorted(ids)), clusters_of(sorted_keys), scored, sorted_keys)


class SystemPair(NamedTuple):
    """Two systems and a score: the runs of each, which differ only in their training seeds."""

    first: Sequence[RunKey]
    second: Sequence[RunKey]
    metric: str


class Evidence:
    """The values of all logged samples, and the scores of their resamples.

    Runs on the same samples use the same resamples, so that their differences can be resampled.
    """

    def __init__(self, logged: Mapping[RunKey, Logged]) -> None:
        self._logged = logged
        self._resampled: dict[tuple[RunKey, str], Numbers] = {}
        same_samples: dict[tuple[Hashable, ...], list[tuple[RunKey, str]]] = defaultdict(list)
        for run, samples in logged.items():
            for metric in samples.columns:
                same_samples[samples.ids].append((run, metric))
        for keys in same_samples.values():
            columns = [logged[run].columns[metric] for run, metric in keys]
            scores = statistics.resampled_scores(columns, logged[keys[0][0]].clusters)
            self._resampled.update(zip(keys, scores.T, strict=True))

    def logged(self, run: RunKey) -> Logged | None:
        """Return the values of a run's samples; None if they were not logged."""
        return self._logged.get(run)

    def has_samples(self, runs: Iterable[RunKey], metric: str | None = None) -> bool:
        """Return whether these runs logged the same samples, with this metric's values."""
        logged = [self._logged.get(run) for run in runs]
        return (
            all(each and (metric is None or metric in each.columns) for each in logged)
            and len({each.ids for each in logged if each}) == 1
        )

    def estimate(self, metric: str, *systems: Sequence[RunKey]) -> Estimate | None:
        """Return the score of a system, or that of the first of two minus the second's.

        None where samples are missing or differ, or where no sample has the verdicts.
        """
        runs = [run for system in systems for run in system]
        if not self.has_samples(runs, metric):
            return None
        return statistics.estimate(
            [self._columns(system, metric) for system in systems],
            self._logged[runs[0]].clusters,
            scale_of(metric),
            [self._resampled[run, metric] for run in runs],
        )

    def interval(self, results: Sequence[Run], metric: str) -> Interval | None:
        """Return the interval of the results' mean.

        Without logged samples, or with different ones, that of several runs is over runs only, and
        that of one run is from lm-eval's standard error.
        """
        runs = [result.id for result in results]
        if self.has_samples(runs, metric):
            estimate = self.estimate(metric, runs)
            return estimate.interval if estimate else None
        if len(results) > 1:
            return over_seeds(metric, [result.scores[metric] for result in results])
        (result,) = results
        if (error := result.stderrs.get(metric)) is None:
            return None
        center, reach = result.scores[metric], _NORMAL * error
        return Interval.within(center - reach, center + reach, "stderr", scale_of(metric))

    def p_values(self, compared: Sequence[SystemPair]) -> list[float | None]:
        """Return the two-sided p of no difference for each pair; None if it cannot be tested.

        If a system has several runs, it is that of
        :func:`~spor_tasks.results.statistics.over_runs`, which accounts for the variation between
        runs, otherwise that of :func:`~spor_tasks.results.statistics.randomization_p_values`.
        """
        p_values = [math.nan] * len(compared)
        single: dict[tuple[Hashable, ...], list[int]] = defaultdict(list)
        for number, (first, second, metric) in enumerate(compared):
            runs = [*first, *second]
            if not self.has_samples(runs, metric):
                continue
            samples = self._logged[runs[0]]
            if len(first) == len(second) == 1:
                single[samples.ids].append(number)
                continue
            columns, clusters = statistics.common(self._columns(runs, metric), samples.clusters)
            systems = [columns[: len(first)], columns[len(first) :]]
            if len(clusters) and (over_runs := statistics.over_runs(systems, clusters)):
                p_values[number] = over_runs.p
        for numbers in single.values():
            pairs = []
            for first, second, metric in (compared[number] for number in numbers):
                one, other = self._columns([*first, *second], metric)
                pairs.append((one, other))
            clusters = self._logged[compared[numbers[0]].first[0]].clusters
            tested = statistics.randomization_p_values(pairs, clusters)
            for number, p in zip(numbers, tested, strict=True):
                p_values[number] = p
        return [None if math.isnan(p) else p for p in p_values]

    def _columns(self, runs: Iterable[RunKey], metric: str) -> list[Column]:
        return [self._logged[run].columns[metric] for run in runs]


def scale_of(metric: str) -> Scale:
    """Return the least and the most that a score can be."""
    info = score_info(metric)
    return info.low, info.high


def over_seeds(metric: str, *systems: Sequence[float]) -> Interval | None:
    """Return the interval of a mean over training seeds, or of one mean less another."""
    low, high = scale_of(metric)
    student = statistics.over_seeds(*systems)
    scale = (low - high, high - low) if len(systems) > 1 else (low, high)
    return student and Interval.within(*student.interval(), "seeds", scale)
