"""How sure the tables are: intervals and tests from the samples that runs logged."""

import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from spor_tasks.errors import ResultError
from spor_tasks.metrics import significance
from spor_tasks.metrics.base import Column, Tally
from spor_tasks.metrics.significance import Numbers
from spor_tasks.report.samples import SampleFile
from spor_tasks.results import TaskResult

SEED = 0
"""Of the resampling, so that the same files have the same intervals."""

CORRELATIONS = frozenset({"cwio", "cwio_located"})
"""The metrics from -1 to 1."""


def scale_of(metric: str) -> tuple[int, int]:
    """Return the least and the most that a metric can be."""
    return (-1, 1) if metric in CORRELATIONS else (0, 100)


_NORMAL = 1.959964  # of a normal distribution, 95 % is within so many standard errors
_DIGITS = 6
_CLOSE = 1e-6  # between a logged score and the mean of its samples, which a file rounds nowhere


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval and what it speaks of.

    ``source`` is ``samples`` (bootstrap: these runs on other samples), ``seeds`` (Student's t:
    other runs on these samples) or ``stderr`` (lm-eval's standard error: this run on other
    samples, if means are normally distributed). The ends are rounded, so that no machine's sums
    tell.
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
    """The values of one run's samples by metric, in the order of the samples' ids."""

    ids: tuple[str, ...]
    columns: Mapping[str, Column]


Run = tuple[Path, str]
"""A result file and a task of it."""


def run_of(result: TaskResult) -> Run:
    """Return what tells the result from all others."""
    return result.file, result.task


def read_values(file: SampleFile, metrics: Sequence[str]) -> Logged:
    """Read the values of these metrics of a sample file.

    Raises:
        ResultError: a line is damaged, a sample stands there twice, or they are not the samples
            behind the result.
    """
    ids: list[str] = []
    tally = Tally(metrics)
    for sample_id, scores in file.scores():
        ids.append(sample_id)
        tally.add({metric: scores.get(metric) for metric in metrics})
    if len(set(ids)) < len(ids) or len(ids) != file.run.n:
        raise ResultError(
            f"holds {len(ids)} samples, {len(set(ids))} different ones, and the result is of "
            f"{file.run.n}",
            where=file.path,
        )
    order = np.argsort(np.array(ids))
    columns = {metric: _sorted(tally.column(metric), order) for metric in metrics}
    for metric, column in columns.items():
        logged, reported = column.score(metric, "").value, file.run.scores.get(metric, math.nan)
        if not math.isclose(logged, reported, rel_tol=_CLOSE, abs_tol=_CLOSE) and not (
            math.isnan(logged) and math.isnan(reported)
        ):
            raise ResultError(
                f"its samples have {metric} {logged:.4f}, and the result says {reported:.4f}",
                where=file.path,
            )
    return Logged(tuple(sorted(ids)), columns)


def _sorted(column: Column, order: NDArray[np.integer]) -> Column:
    return Column(column.numbers[order], column.groups[order])


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems and a metric: the runs of each, which differ in seeds alone."""

    one: tuple[Run, ...]
    other: tuple[Run, ...]
    metric: str


class Evidence:
    """The values of all logged samples, and the scores of their resamples.

    Runs on the same samples are resampled alike, so that their differences are too.
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
            scores = significance.resampled_scores(columns, seed=SEED)
            self._resampled.update(zip(keys, scores.T, strict=True))

    def interval(self, results: Sequence[TaskResult], metric: str) -> Interval | None:
        """Return the interval of the results' mean.

        It is over samples; else over seeds, if there are several; else lm-eval's standard error.
        """
        scores = self._resampled_mean([run_of(result) for result in results], metric)
        if scores is not None:
            return Interval.of(*significance.percentile_interval(scores), "samples")
        if len(results) > 1:
            return _over_seeds(metric, [result.scores[metric] for result in results])
        (result,) = results
        if (error := result.stderrs.get(metric)) is None:
            return None
        return _within_scale(metric, result.scores[metric], _NORMAL * error, "stderr")

    def interval_of_difference(
        self, pair: Pair, one: Sequence[float], other: Sequence[float]
    ) -> Interval | None:
        """Return the interval of the first mean less the second, as :meth:`interval` does."""
        first, second = (self._resampled_mean(arm, pair.metric) for arm in (pair.one, pair.other))
        if first is not None and second is not None and self._samples(pair) is not None:
            return Interval.of(*significance.percentile_interval(first - second), "samples")
        return _over_seeds(pair.metric, one, other)

    def p_values(self, pairs: Iterable[Pair]) -> Iterator[float | None]:
        """Yield the p of no difference for each pair, None where its samples are not at hand.

        It is that of :func:`~spor_tasks.metrics.significance.arms_over_seeds`, two-sided.
        """
        pairs = tuple(pairs)
        by_samples: dict[int, list[int]] = defaultdict(list)
        for number, pair in enumerate(pairs):
            if (n := self._samples(pair)) is not None:
                by_samples[n].append(number)
        found: dict[int, float] = {}
        for numbers in by_samples.values():
            columns = [
                (
                    self._column(pairs[i].one, pairs[i].metric),
                    self._column(pairs[i].other, pairs[i].metric),
                )
                for i in numbers
            ]
            found.update(
                zip(numbers, significance.randomization_p_values(columns, seed=SEED), strict=True)
            )
        for number in range(len(pairs)):
            p = found.get(number, math.nan)
            yield None if math.isnan(p) else float(p)

    def is_logged(self, runs: Iterable[Run]) -> bool:
        """Tell whether the samples of all these runs are at hand."""
        return all(run in self._logged for run in runs)

    def has_samples(self, pair: Pair) -> bool:
        """Tell whether the samples of both systems are at hand, and the same."""
        return self._samples(pair) is not None

    def _samples(self, pair: Pair) -> int | None:
        """Return the number of samples of a pair, None unless all are at hand and the same."""
        logged = [self._logged.get(run) for run in (*pair.one, *pair.other)]
        first = logged[0]
        if first is None or any(each is None or each.ids != first.ids for each in logged):
            return None
        return len(first.ids)

    def _resampled_mean(self, runs: Sequence[Run], metric: str) -> Numbers | None:
        scores = [self._resampled.get((run, metric)) for run in runs]
        known = [each for each in scores if each is not None]
        return np.mean(known, axis=0) if len(known) == len(scores) else None

    def _column(self, runs: Sequence[Run], metric: str) -> Column:
        """Return each sample's mean over runs; no verdict where one of them has none."""
        columns = [self._logged[run].columns[metric] for run in runs]
        return Column(np.mean([each.numbers for each in columns], axis=0), columns[0].groups)


def _over_seeds(metric: str, *arms: Sequence[float]) -> Interval | None:
    """Return Student's interval of a mean over seeds, or Welch's of the difference of two.

    Of two seeds the intervals are many times their difference.
    """
    if any(len(values) < 2 for values in arms):  # noqa: PLR2004 - one has no spread
        return None
    center = statistics.fmean(arms[0]) - (statistics.fmean(arms[1]) if len(arms) > 1 else 0)
    shares = [statistics.variance(values) / len(values) for values in arms]
    error = math.sqrt(sum(shares))
    if not error:
        return Interval.of(center, center, "seeds")
    freedom = error**4 / sum(
        share**2 / (len(values) - 1) for share, values in zip(shares, arms, strict=True)
    )
    reach = float(stats.t.ppf(0.975, freedom)) * error
    return _within_scale(metric, center, reach, "seeds", difference=len(arms) > 1)


def _within_scale(
    metric: str, center: float, reach: float, source: str, *, difference: bool = False
) -> Interval:
    """Return the interval without what no score, or no difference of two, can be."""
    low, high = scale_of(metric)
    if difference:
        low, high = low - high, high - low
    return Interval.of(max(low, center - reach), min(high, center + reach), source)
