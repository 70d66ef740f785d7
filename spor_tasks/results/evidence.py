"""The samples of runs, and what they say about scores and differences."""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spor_tasks.core.errors import ResultError, SporError
from spor_tasks.metrics.tally import Column
from spor_tasks.metrics.totals import Value
from spor_tasks.results import stats
from spor_tasks.results.facts import Declared, ScoreFacts
from spor_tasks.results.logged import Logged
from spor_tasks.results.runs import Problem, Run
from spor_tasks.results.samples import SampleFile, find
from spor_tasks.results.stats import (
    Clusters,
    Estimate,
    Interval,
    clusters_of,
    common,
)

FEWEST_CLUSTERS = 30
"""A difference on fewer clusters of samples has no mark: its interval and p are too bold."""

FEW_CLUSTERS = f"fewer than {FEWEST_CLUSTERS} different inputs"
REPEATED = "a checkpoint has several results, which are not of several runs of training"
_ALL_ALIKE = "all samples are about the same, which says nothing about others"
NO_VERDICT = "no sample has a verdict in every run"
_NORMAL = 1.959964  # 95 % of a normal distribution is within this many standard errors
_CLOSE = 1e-6  # between a score in a file and that of its samples; files round neither


def with_samples(results: Iterable[Run]) -> tuple[tuple[Run, ...], tuple[Problem, ...]]:
    """Return the runs with the values of their samples, and problems with files of samples."""
    found: list[Run] = []
    problems = []
    shared: dict[Hashable, Hashable] = {}
    for run in results:
        logged = None
        try:
            if file := find(run):
                metrics = (*run.spec.reported, *run.spec.breakdown)
                logged = _read(file, metrics, shared)
        except Exception as error:  # noqa: BLE001 - whatever comes of what somebody wrote
            told = (
                error if isinstance(error, SporError) else ResultError(f"cannot be used: {error!r}")
            )
            what = f"{told.what}: there is no interval or test for these samples"
            problems.append(Problem("samples", told.where or str(run.file), what))
        found.append(replace(run, logged=logged))
    return tuple(resampled(found)), tuple(problems)


def _read(file: SampleFile, metrics: Sequence[str], shared: dict[Hashable, Hashable]) -> Logged:
    """Return the values of these metrics in a sample file, and the gaps between them.

    Ids and keys of clusters are taken from ``shared``, which gets the new ones, so that many runs
    on the same samples hold them once.

    Raises:
        ResultError: a line is damaged, a sample occurs twice, or these are not the samples of the
            result.
    """
    totals = {metric: file.run.spec.totals(metric) for metric in metrics}
    values: dict[str, list[Value]] = {metric: [] for metric in metrics if totals[metric].is_logged}
    ids: list[str] = []
    keys: list[Hashable] = []
    for record in file.records():
        id_, cluster = record.sample.id, record.sample.cluster
        ids.append(str(shared.setdefault(id_, id_)))
        keys.append(shared.setdefault(cluster, cluster))
        for metric, of_metric in values.items():
            of_metric.append(record.scores.get(metric))
    if len(set(ids)) < len(ids) or len(ids) != file.run.n:
        raise ResultError(
            f"has {len(ids)} samples, {len(set(ids))} of them different, but the result is of "
            f"{file.run.n}",
            where=file.path,
        )
    try:
        columns = {metric: Column.of(each, totals[metric]) for metric, each in values.items()}
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
    return logged_of(file.run.spec, ids, keys, columns)


def logged_of(
    spec: Declared, ids: Sequence[str], keys: Sequence[Hashable], columns: Mapping[str, Column]
) -> Logged:
    """Return the values of samples, given their ids and clusters, and the gaps between them."""
    order = np.argsort(np.array(ids))
    columns = {metric: column.take(order) for metric, column in columns.items()}
    columns |= {
        gap.name: columns[gap.score].less(columns[gap.subtracted])
        for gap in spec.gaps
        if all(name in columns and columns[name].totals.resampled for name in gap)
    }
    sorted_keys = tuple(keys[i] for i in order)
    scored = {metric: column for metric, column in columns.items() if column.scored.any()}
    return Logged(tuple(sorted(ids)), clusters_of(sorted_keys), scored, sorted_keys)


def resampled(runs: Sequence[Run]) -> Iterator[Run]:
    """Yield the runs with the scores of resamples of their samples.

    Runs on the same samples have the same resamples, so that their differences can be resampled.
    """
    by_samples: dict[tuple[Hashable, ...], list[Logged]] = defaultdict(list)
    for run in runs:
        if run.logged and run.logged.columns:
            by_samples[run.logged.ids].append(run.logged)
    drawn = {}  # an iterator over the columns of all runs on the same samples, in their order
    for ids, same in by_samples.items():
        columns = [column for logged in same for column in logged.columns.values()]
        drawn[ids] = iter(stats.resampled_scores(columns, same[0].clusters).T)
    for run in runs:
        if (logged := run.logged) and logged.columns:
            of_run = {metric: next(drawn[logged.ids]) for metric in logged.columns}
            yield replace(run, logged=replace(logged, resampled=of_run))
        else:
            yield run


def same_samples(runs: Sequence[Run], metric: str | None = None) -> Logged | None:
    """Return the samples of the first run if all runs logged the same, with this metric's values.

    None without runs.
    """
    logged = [run.logged for run in runs if run.logged]
    if len(logged) < len(runs) or len({each.ids for each in logged}) != 1:
        return None
    has_values = metric is None or all(metric in each.columns for each in logged)
    return logged[0] if has_values else None


def estimate(metric: str, *systems: Sequence[Run]) -> Estimate | None:
    """Return the score of a system, or that of the first of two minus the second's.

    None where samples are missing or differ, or where no sample has the verdicts.
    """
    runs = [run for system in systems for run in system]
    if not (samples := same_samples(runs, metric)):
        return None
    return stats.estimate(
        [_columns(system, metric) for system in systems],
        samples.clusters,
        runs[0].spec.scores[metric].scale,
        [run.logged.resampled[metric] for run in runs if run.logged],
    )


def interval(runs: Sequence[Run], metric: str) -> Interval | None:
    """Return the interval of the runs' mean.

    Without logged samples, or with different ones, that of several runs is over runs only, and that
    of one run is from lm-eval's standard error.
    """
    score = runs[0].spec.scores[metric]
    if same_samples(runs, metric):
        of_samples = estimate(metric, runs)
        return of_samples.interval if of_samples else None
    if len(runs) > 1:
        return over_seeds(score, [run.scores[metric] for run in runs])
    (run,) = runs
    if not (error := run.stderrs.get(metric)):  # 0 says nothing about other samples
        return None
    center, reach = run.scores[metric], _NORMAL * error
    return Interval.within(center - reach, center + reach, "stderr", score.scale)


class SystemPair(NamedTuple):
    """Two systems and a score: the runs of each, which differ only in their training seeds."""

    first: Sequence[Run]
    second: Sequence[Run]
    metric: str


class Compared(NamedTuple):
    """The first system's score less the second's on the samples of both, and its two-sided ``p``.

    ``reason`` says why there is neither.
    """

    difference: float = math.nan
    p: float | None = None
    reason: str | None = None


def compare(pairs: Sequence[SystemPair], *, of_board: bool = False) -> list[Compared]:
    """Return for each pair the test that its systems do not differ.

    If a system has several runs, this is the test of
    :meth:`~spor_tasks.results.stats.Variances.p`, which accounts for the variation between
    runs, otherwise :func:`~spor_tasks.results.stats.randomization_p_values`. The pairs
    ``of_board`` are tested as many, and only where a difference could have a mark.
    """
    found: list[Compared] = []
    groups: dict[tuple[Hashable, ...], list[int]] = defaultdict(list)
    for number, pair in enumerate(pairs):
        # Of single runs all exchanges of a single cluster are counted, and tell nothing: p is 1.
        fewest = FEWEST_CLUSTERS if of_board else min(2, len(pair.first) + len(pair.second) - 1)
        reason = _untested(pair, fewest)
        found.append(Compared(reason=reason))
        if reason is None and (logged := pair.first[0].logged):
            key: tuple[Hashable, ...] = (logged.ids,)
            if len(pair.first) + len(pair.second) > 2:
                key = logged.ids, pair.metric, _scored(pair).tobytes()
            groups[key].append(number)
    for (_, *of_runs), numbers in groups.items():  # those of single runs are of any score
        same = [pairs[number] for number in numbers]
        tested = _over_runs(same, many=of_board) if of_runs else _randomized(same)
        for number, each in zip(numbers, tested, strict=True):
            found[number] = each
    return found


def _randomized(pairs: Sequence[SystemPair]) -> Iterator[Compared]:
    """Yield the tests of pairs of single runs, all on the same samples."""
    columns = []
    for one, other, metric in pairs:
        first, second = _columns([*one, *other], metric)
        columns.append((first, second))
    p_values = stats.randomization_p_values(columns, _clusters(pairs))
    for (one, other, metric), (first, second), p in zip(pairs, columns, p_values, strict=True):
        scored = first.scored & second.scored
        if scored.sum() == first.scored.sum() == second.scored.sum():
            difference = one[0].scores[metric] - other[0].scores[metric]
        else:
            difference = first.take(scored).value - second.take(scored).value
        yield Compared(difference, p)


def _over_runs(pairs: Sequence[SystemPair], *, many: bool) -> Iterator[Compared]:
    """Yield the tests of pairs of systems, of one score with verdicts on the same samples."""
    systems = {id(system): system for pair in pairs for system in pair[:2]}
    places = {key: place for place, key in enumerate(systems)}
    runs = [run for system in systems.values() for run in system]
    columns, clusters = common(_columns(runs, pairs[0].metric), _clusters(pairs))
    rest = iter(columns)
    by_system = [[next(rest) for _ in system] for system in systems.values()]
    numbers = np.array([[places[id(system)] for system in pair[:2]] for pair in pairs])
    values, variances = stats.differences(by_system, clusters, numbers, many=many)
    for difference, p in zip(values, variances.p(values, many=many), strict=True):
        if math.isnan(p):
            yield Compared(reason=NO_VERDICT)
        else:
            yield Compared(float(difference), float(p))


def _untested(pair: SystemPair, fewest: int) -> str | None:
    """Return why a pair cannot be tested on so many clusters; None if it can."""
    totals = pair.first[0].spec.totals(pair.metric)
    if not (totals.is_logged and totals.resampled):
        return "this score is of all outputs together, and cannot be resampled"
    runs = [*pair.first, *pair.second]
    if not (samples := same_samples(runs, pair.metric)):
        return "the samples of both are needed, and must be the same"
    count = np.count_nonzero(np.bincount(samples.clusters[_scored(pair)]))
    if not count:
        return NO_VERDICT
    if any(map(repeats_a_checkpoint, (pair.first, pair.second))):
        return REPEATED
    if len(runs) > 2 and any(map(is_of_one_seed, (pair.first, pair.second))):
        return "a system with one training seed cannot be compared with one of several runs"
    few = FEW_CLUSTERS if count > 1 else _ALL_ALIKE
    return None if count >= fewest else few


def _clusters(pairs: Sequence[SystemPair]) -> Clusters:
    (logged, *_) = (run.logged for run in pairs[0].first if run.logged)
    return logged.clusters


def is_of_one_seed(system: Sequence[Run]) -> bool:
    """Return whether a system was trained, and with a single seed."""
    return len({run.seed for run in system}) == 1 and system[0].seed is not None


def repeats_a_checkpoint(system: Sequence[Run]) -> bool:
    """Return whether some runs are of one training, merged over the type of weights, say."""
    trained = [(run.seed, run.adapter.adapter_sha256) for run in system if run.adapter]
    return len(set(trained)) < len(trained)


def _scored(pair: SystemPair) -> NDArray[np.bool_]:
    """Return which samples have a verdict in every run."""
    columns = _columns([*pair.first, *pair.second], pair.metric)
    scored: NDArray[np.bool_] = np.all([column.scored for column in columns], axis=0)
    return scored


def _columns(runs: Iterable[Run], metric: str) -> list[Column]:
    return [run.logged.columns[metric] for run in runs if run.logged]


def over_seeds(score: ScoreFacts, *systems: Sequence[float]) -> Interval | None:
    """Return the interval of a mean over training seeds, or of one mean less another."""
    low, high = score.scale
    student = stats.over_seeds(*systems)
    scale = (low - high, high - low) if len(systems) > 1 else (low, high)
    if not student or not student.error:  # two equal runs say nothing about a third
        return None
    return Interval.within(*student.interval(), "seeds", scale)
