"""The values of the samples that lm-eval logged with runs, and their resamples."""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

import numpy as np

from spor_tasks.core.errors import ResultError, SporError
from spor_tasks.metrics.tally import Column
from spor_tasks.metrics.totals import Numbers, Value
from spor_tasks.results import stats
from spor_tasks.results.facts import Declared
from spor_tasks.results.runs import Problem, Run, RunKey
from spor_tasks.results.samples import Known, Record, SampleFile, find

_CLOSE = 1e-6  # between a score in a file and that of its samples; files round neither


@dataclass(frozen=True, slots=True, eq=False)
class Logged:
    """The values of one run's samples by score, sorted by the samples' ids."""

    ids: tuple[Hashable, ...]
    clusters: stats.Clusters
    """The cluster of each sample: samples with the same units, or of the same table."""
    columns: Mapping[str, Column]
    keys: tuple[Hashable, ...] = ()
    """The units, or other key, that the samples of a cluster have in common."""
    resampled: Mapping[str, Numbers] = field(default_factory=dict)
    """The scores of resamples, which runs on the same samples have in common."""

    @classmethod
    def of(
        cls,
        declared: Declared,
        ids: Sequence[str],
        keys: Sequence[Hashable],
        columns: Mapping[str, Column],
    ) -> "Logged":
        """Return the values of samples in any order, and the gaps between them."""
        order = np.argsort(np.array(ids))
        columns = {metric: column.take(order) for metric, column in columns.items()}
        columns |= {
            gap.name: columns[gap.score].less(columns[gap.subtracted])
            for gap in declared.gaps
            if all(name in columns and columns[name].totals.resampled for name in gap)
        }
        sorted_keys = tuple(keys[i] for i in order)
        scored = {metric: column for metric, column in columns.items() if column.scored.any()}
        return cls(tuple(sorted(ids)), stats.clusters_of(sorted_keys), scored, sorted_keys)

    @classmethod
    def joined(cls, parts: Mapping[str, "Logged"], declared: Declared) -> "Logged":
        """Return the samples of several splits together; a sample may be in each of them.

        A score of some samples only may lack a verdict in a whole split, any other score may not.
        """
        keys = tuple(key for part in parts.values() for key in part.keys)
        columns = {}
        for name in dict.fromkeys(name for part in parts.values() for name in part.columns):
            known = [part.columns.get(name) for part in parts.values()]
            if all(known) or declared.scores[name].of_some:
                example = next(column for column in known if column)
                columns[name] = Column.joined(
                    [
                        column or example.without_verdicts(len(part.ids))
                        for column, part in zip(known, parts.values(), strict=True)
                    ]
                )
        ids = tuple((split, id_) for split, part in parts.items() for id_ in part.ids)
        return cls(ids, stats.clusters_of(keys), columns, keys)

    def take(self, ids: Sequence[Hashable]) -> "Logged":
        """Return the values of these samples, in this order.

        Raises:
            KeyError: one is not among the samples.
        """
        places = {id_: place for place, id_ in enumerate(self.ids)}
        order = np.array([places[id_] for id_ in ids], np.int64)
        keys = tuple(self.keys[place] for place in order)
        columns = {metric: column.take(order) for metric, column in self.columns.items()}
        return Logged(tuple(ids), stats.clusters_of(keys), columns, keys)


AllLogged = Mapping[RunKey, Logged]
"""The samples of runs, of those that logged them."""


class Reader:
    """Reads sample files and keeps their values.

    Somebody else can have the records of a file as they are read, such as the page of a report.
    """

    def __init__(self) -> None:
        self._found: dict[RunKey, Logged] = {}
        self._problems: dict[RunKey, Problem] = {}
        self._shared: dict[Hashable, Hashable] = {}

    def records(self, file: SampleFile, known: Known | None = None) -> Iterator[Record]:
        """Yield the records of a file; after the last one, keep their values or a problem.

        Raises:
            ResultError: as :meth:`SampleFile.records`; it is kept as a problem as well.
        """
        values = _Values(file, self._shared)
        try:
            for record in file.records(known):
                values.add(record)
                yield record
        except ResultError as error:
            self._damaged(file.run, error)
            raise
        try:
            self._found[file.run.id] = values.logged()
        except Exception as error:  # noqa: BLE001 - whatever comes of what somebody wrote
            self._damaged(file.run, error)

    def read(self, results: Iterable[Run]) -> tuple[AllLogged, tuple[Problem, ...]]:
        """Return the values of the runs' samples, and problems with files of samples.

        No file is read again whose records somebody had.
        """
        runs, known, task = [*results], Known(), ""
        for run in sorted(runs, key=attrgetter("task")):
            if run.id in self._found or run.id in self._problems:
                continue
            known, task = (known if run.task == task else {}), run.task
            try:
                if file := find(run):
                    for _ in self.records(file, known):
                        pass
            except Exception as error:  # noqa: BLE001 - as above
                self._damaged(run, error)
        ids = [run.id for run in runs]
        found = {id_: self._found[id_] for id_ in ids if id_ in self._found}
        return resampled(found), tuple(self._problems[id_] for id_ in ids if id_ in self._problems)

    def _damaged(self, run: Run, error: Exception) -> None:
        told = error if isinstance(error, SporError) else ResultError(f"cannot be used: {error!r}")
        what = f"{told.what}: there is no interval or test for these samples"
        self._problems[run.id] = Problem("samples", told.where or str(run.file), what)


def values_of(file: SampleFile) -> Logged:
    """Return the values of the displayed scores in a sample file, and the gaps between them.

    Raises:
        ResultError: a line is damaged, a sample occurs twice, or these are not the samples of the
            result.
    """
    values = _Values(file, {})
    for record in file.records():
        values.add(record)
    return values.logged()


class _Values:
    """The values of the displayed scores in a sample file, one record after the other.

    Ids and keys of clusters are taken from ``shared``, which gets the new ones, so that many runs
    on the same samples hold them once.
    """

    def __init__(self, file: SampleFile, shared: dict[Hashable, Hashable]) -> None:
        self._file, self._shared = file, shared
        self._ids: list[str] = []
        self._keys: list[Hashable] = []
        names = *file.run.spec.reported, *file.run.spec.breakdown
        self._values: dict[str, list[Value]] = {name: [] for name in names}

    def add(self, record: Record) -> None:
        id_, cluster = record.sample.id, record.sample.cluster
        self._ids.append(str(self._shared.setdefault(id_, id_)))
        self._keys.append(self._shared.setdefault(cluster, cluster))
        for metric, of_metric in self._values.items():
            of_metric.append(record.scores.get(metric))

    def logged(self) -> Logged:
        """Return the values and the gaps, as :func:`values_of`."""
        run, place, ids = self._file.run, self._file.path, self._ids
        totals = {name: run.spec.totals(name) for name in self._values}
        if len(set(ids)) < len(ids) or len(ids) != run.n:
            what = f"has {len(ids)} samples, {len(set(ids))} of them different"
            raise ResultError(f"{what}, but the result is of {run.n}", where=place)
        try:
            columns = {
                metric: Column.of(each, totals[metric])
                for metric, each in self._values.items()
                if totals[metric].is_logged
            }
        except ResultError as error:
            raise ResultError(error.what, where=place) from error
        for metric, column in columns.items():
            reported = run.scores.get(metric, math.nan)
            if metric in run.scores and not math.isclose(
                column.value, reported, rel_tol=_CLOSE, abs_tol=_CLOSE
            ):
                what = f"its samples have {metric} {column.value:.4f}"
                raise ResultError(f"{what}, but the result says {reported:.4f}", where=place)
        return Logged.of(run.spec, ids, self._keys, columns)


def resampled(logged: AllLogged) -> AllLogged:
    """Return the samples with the scores of their resamples, which some may have.

    Runs on the same samples have the same resamples, so that their differences can be resampled.
    """
    by_samples: dict[tuple[Hashable, ...], list[RunKey]] = defaultdict(list)
    for run, of_run in logged.items():
        if of_run.columns and not of_run.resampled:
            by_samples[of_run.ids].append(run)
    found = dict(logged)
    for runs in by_samples.values():
        columns = [column for run in runs for column in logged[run].columns.values()]
        drawn = iter(stats.resampled_scores(columns, logged[runs[0]].clusters).T)
        for run in runs:
            scores = {metric: next(drawn) for metric in logged[run].columns}
            found[run] = replace(logged[run], resampled=scores)
    return found


def same_samples(
    logged: AllLogged, runs: Sequence[Run], metric: str | None = None
) -> list[Logged] | None:
    """Return the samples of each run if all logged the same, with this metric's values.

    None without runs.
    """
    of_runs = [logged[run.id] for run in runs if run.id in logged]
    if not of_runs or len(of_runs) < len(runs):
        return None
    ids = of_runs[0].ids
    if not all(each.ids is ids or each.ids == ids for each in of_runs):
        return None
    has_values = metric is None or all(metric in each.columns for each in of_runs)
    return of_runs if has_values else None
