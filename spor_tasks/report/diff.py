"""Two runs, sample by sample: which outputs and scores changed."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spor_tasks.core.errors import ResultError
from spor_tasks.metrics import significance
from spor_tasks.metrics.base import Column, Tally, Value
from spor_tasks.results import reading
from spor_tasks.results.comparisons import metrics_of
from spor_tasks.results.evidence import SEED
from spor_tasks.results.logged import Record, find
from spor_tasks.results.reading import Problem, TaskResult


class Scores(NamedTuple):
    """One score of a sample, before and after; None is no verdict."""

    before: float | None
    after: float | None

    @property
    def change(self) -> float:
        """What was gained; a verdict that came or went counts as none."""
        if self.before is None or self.after is None:
            return 0.0
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Change:
    """A sample whose outputs or scores are not what they were.

    ``scores`` are by metric, those that stayed among them; ``prompted_alike`` tells whether the
    model was given the same text.
    """

    sample: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    scores: Mapping[str, Scores]
    prompted_alike: bool


@dataclass(frozen=True, slots=True)
class Summary:
    """What became of one score: both means over the common samples, and how many moved.

    ``p`` is that of :func:`~spor_tasks.metrics.significance.randomization_p_values`, None where no
    sample has a verdict in both runs.
    """

    before: float | None
    after: float | None
    up: int
    down: int
    p: float | None


@dataclass(frozen=True, slots=True)
class TaskDiff:
    """What changed in one task between two runs.

    ``samples`` counts those in both; ``lost`` and ``gained`` are the ids of those in one alone.
    ``changes`` come with the largest change of the first metric first.
    """

    task: str
    runs: tuple[str, str]
    samples: int
    lost: tuple[str, ...]
    gained: tuple[str, ...]
    scores: Mapping[str, Summary]
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Diff:
    """What changed between two runs, task by task, and what could not be compared."""

    tasks: tuple[TaskDiff, ...]
    problems: tuple[Problem, ...]

    @property
    def whole(self) -> bool:
        """Whether every task that both have was compared."""
        return not any(problem.lost for problem in self.problems)


def diff(before: Path, after: Path) -> Diff:
    """Compare the samples of two result files, or of folders that hold one run of a task each.

    Raises:
        ResultError: a path is missing, holds nothing of SPOR, or no task can be compared.
    """
    found = [reading.collect([path]) for path in (before, after)]
    problems = [problem for each in found for problem in each.problems]
    one, other = (_by_task(each.results) for each in found)
    tasks = []
    for task in sorted(one.keys() & other.keys()):
        try:
            tasks.append(_compare(task, one[task], other[task]))
        except ResultError as error:
            problems.append(Problem("not-compared", error.where or task, error.what))
    if not tasks:
        raise ResultError(
            "no task can be compared",
            each=tuple(map(str, problems)),
            where=f"{before}, {after}",
            remedy="Both must have samples (`--log_samples`) of a task that they share.",
        )
    return Diff(tuple(tasks), tuple(problems))


def _by_task(found: Iterable[TaskResult]) -> Mapping[str, list[TaskResult]]:
    tasks: dict[str, list[TaskResult]] = defaultdict(list)
    for result in found:
        tasks[result.comparison].append(result)
    return tasks


def _compare(task: str, one: list[TaskResult], other: list[TaskResult]) -> TaskDiff:
    """Compare one task.

    Raises:
        ResultError: there are several runs on one side, no samples, or damaged ones, or the test
            sets are not the same.
    """
    for runs in (one, other):
        if len(runs) > 1:
            files = ", ".join(str(run.file) for run in runs)
            raise ResultError(f"there are several runs of {task}: {files}: give one file")
    (first,), (second,) = one, other
    if first.signature["test_sha256"] != second.signature["test_sha256"]:
        raise ResultError(f"{task} has another test set in {second.file}", where=first.file)
    before, after = _records(first), _records(second)
    common = sorted(before.keys() & after.keys())
    metrics = [
        metric
        for metric in metrics_of(first.aspect, first.part)
        if metric in first.scores or metric in second.scores
    ]
    changes = [
        change
        for key in common
        if (change := _change(before[key], after[key], metrics)) is not None
    ]
    changes.sort(key=lambda change: (*_sizes(change), change.sample))
    return TaskDiff(
        task=task,
        runs=(str(first.file), str(second.file)),
        samples=len(common),
        lost=tuple(sorted(before.keys() - after.keys())),
        gained=tuple(sorted(after.keys() - before.keys())),
        scores=dict(
            _summaries(metrics, [before[key] for key in common], [after[key] for key in common])
        ),
        changes=tuple(changes),
    )


def _records(result: TaskResult) -> dict[str, Record]:
    file = find(result)
    if file is None:
        raise ResultError(f"{result.task} has no sample file", where=result.file)
    return {record.sample.id: record for record in file.records()}


def _change(before: Record, after: Record, metrics: Iterable[str]) -> Change | None:
    scores = {
        metric: Scores(_number(before.scores.get(metric)), _number(after.scores.get(metric)))
        for metric in metrics
    }
    moved = any(each.before != each.after for each in scores.values())
    if before.outputs == after.outputs and not moved:
        return None
    return Change(
        sample=before.sample.id,
        before=before.outputs,
        after=after.outputs,
        scores=scores,
        prompted_alike=before.contexts == after.contexts,
    )


def _number(value: Value) -> float | None:
    return value[1] if isinstance(value, tuple) else value


def _sizes(change: Change) -> tuple[float, ...]:
    return tuple(-abs(scores.change) for scores in change.scores.values())


def _summaries(
    metrics: Iterable[str], before: list[Record], after: list[Record]
) -> Iterator[tuple[str, Summary]]:
    clusters = significance.clusters_of(frozenset(record.sample.units) for record in before)
    for metric in metrics:
        one, other = _column(before, metric), _column(after, metric)
        changes = other.numbers - one.numbers
        p = math.nan
        if len(changes):
            (p,) = significance.randomization_p_values([one, other], [(0, 1)], clusters, seed=SEED)
        yield (
            metric,
            Summary(
                before=_known(one.value),
                after=_known(other.value),
                up=int(np.sum(changes > 0)),
                down=int(np.sum(changes < 0)),
                p=_known(float(p)),
            ),
        )


def _column(records: Iterable[Record], metric: str) -> Column:
    tally = Tally([metric])
    for record in records:
        tally.add({metric: record.scores.get(metric)})
    return tally.column(metric)


def _known(number: float) -> float | None:
    return None if math.isnan(number) else number
