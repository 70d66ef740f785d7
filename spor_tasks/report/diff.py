"""Two runs, sample by sample: which outputs and scores changed, and the document that says so."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spor_tasks.core.errors import ResultError
from spor_tasks.evaluation.baselines import PREFIX
from spor_tasks.metrics.base import Column, score_info
from spor_tasks.report.document import Document
from spor_tasks.results import statistics
from spor_tasks.results.clusters import clusters_of
from spor_tasks.results.grid import Grid, Line, label, p_text
from spor_tasks.results.runs import Problem, Run
from spor_tasks.results.runs import collect as collect_runs
from spor_tasks.results.samples import Record, alone, find


@dataclass(frozen=True, slots=True)
class Scores:
    """One score of a sample, before and after; None if the metric gives none."""

    before: float | None
    after: float | None

    @property
    def change(self) -> float:
        """The gain; zero if a score is missing before or after."""
        if self.before is None or self.after is None:
            return 0.0
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Change:
    """A sample whose outputs or scores changed.

    ``scores`` are by metric, including unchanged ones. ``prompted_alike`` is true if both models
    had the same prompt.
    """

    sample: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    scores: Mapping[str, Scores]
    prompted_alike: bool


@dataclass(frozen=True, slots=True)
class Summary:
    """The change of one score: both means over the common samples, and how many changed.

    ``p`` is that of :func:`~spor_tasks.results.statistics.randomization_p_values`. A number
    without samples is NaN.
    """

    before: float
    after: float
    up: int
    down: int
    p: float


@dataclass(frozen=True, slots=True)
class TaskDiff:
    """The changes of one task between two runs.

    ``samples`` counts those in both runs; ``lost`` and ``gained`` are the ids of those in one run
    only. ``changes`` are sorted by the change of the first metric, largest first.
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
    """The changes between two runs, task by task, and the tasks that could not be compared."""

    tasks: tuple[TaskDiff, ...]
    problems: tuple[Problem, ...]


def diff(before: Path, after: Path) -> Diff:
    """Compare the samples of two result files, or of two folders with one run of a task each.

    Baselines beside a run are left out.

    Raises:
        ResultError: a path is missing or has no results of our tasks, or no task can be compared.
    """
    collected = [collect_runs([path]) for path in (before, after)]
    problems = [problem for each in collected for problem in each.problems]
    old, new = (_by_task(each.runs) for each in collected)
    tasks = []
    for task in sorted(old.keys() & new.keys()):
        try:
            tasks.append(_compare(task, old[task], new[task]))
        except ResultError as error:
            problems.append(Problem("not-compared", error.where or task, error.what))
        except Exception as error:  # noqa: BLE001 - whatever comes of what somebody wrote
            what = f"cannot be compared: {type(error).__name__}: {error}"
            problems.append(Problem("not-compared", task, what))
    if not tasks:
        raise ResultError(
            "no task can be compared",
            each=tuple(map(str, problems)),
            where=f"{before}, {after}",
            remedy="Both runs need logged samples of the same task.",
        )
    return Diff(tuple(tasks), tuple(problems))


def _by_task(results: Iterable[Run]) -> Mapping[str, list[Run]]:
    tasks: dict[str, list[Run]] = defaultdict(list)
    for result in results:
        tasks[result.comparison].append(result)
    return {
        task: [each for each in of_task if not each.model.startswith(PREFIX)] or of_task
        for task, of_task in tasks.items()
    }


def _compare(task: str, old: list[Run], new: list[Run]) -> TaskDiff:
    """Compare one task.

    Raises:
        ResultError: one side has several runs, no samples or damaged samples, or the test sets
            differ.
    """
    for runs in (old, new):
        if len(runs) > 1:
            files = ", ".join(str(run.file) for run in runs)
            raise ResultError(f"there are several runs of {task} ({files}); give one file")
    (first,), (second,) = old, new
    if first.signature["test_sha256"] != second.signature["test_sha256"]:
        raise ResultError(f"{task} has a different test set in {second.file}", where=first.file)
    before, after = _records(first), _records(second)
    common = sorted(before.keys() & after.keys())
    scored = first.scores.keys() | second.scores.keys()
    metrics = [
        metric
        for metric in first.spec.reported
        if metric in scored and score_info(metric).totals.is_logged
    ]
    changes = [_change(before[key], after[key], metrics) for key in common]
    pairs = [before[key] for key in common], [after[key] for key in common]
    clusters = clusters_of(record.sample.cluster for record in pairs[0])
    return TaskDiff(
        task=task,
        runs=(str(first.file), str(second.file)),
        samples=len(common),
        lost=tuple(sorted(before.keys() - after.keys())),
        gained=tuple(sorted(after.keys() - before.keys())),
        scores={metric: _summary(metric, *pairs, clusters) for metric in metrics},
        changes=tuple(sorted(filter(None, changes), key=_by_size)),
    )


def _records(result: Run) -> dict[str, Record]:
    file = find(result)
    if file is None:
        raise ResultError(f"{result.task} has no sample file", where=result.file)
    return {record.sample.id: record for record in file.records()}


def _change(before: Record, after: Record, metrics: Iterable[str]) -> Change | None:
    scores = {
        metric: Scores(*(alone(metric, each.scores.get(metric)) for each in (before, after)))
        for metric in metrics
    }
    moved = any(each.before != each.after for each in scores.values())
    if before.outputs == after.outputs and not moved:
        return None
    alike = before.contexts == after.contexts
    return Change(before.sample.id, before.outputs, after.outputs, scores, prompted_alike=alike)


def _by_size(change: Change) -> tuple[Any, ...]:
    return *(-abs(scores.change) for scores in change.scores.values()), change.sample


def _summary(
    metric: str, before: list[Record], after: list[Record], clusters: NDArray[np.int64]
) -> Summary:
    totals = score_info(metric).totals
    old, new = (
        Column.of([record.scores.get(metric) for record in records], totals)
        for records in (before, after)
    )
    changes = new.each - old.each
    p = math.nan
    if len(changes):
        (p,) = statistics.randomization_p_values([(old, new)], clusters)
    return Summary(
        before=old.value,
        after=new.value,
        up=int(np.sum(changes > 0)),
        down=int(np.sum(changes < 0)),
        p=float(p),
    )


# --- As a document --------------------------------------------------------------------------------


_SIDES = ("before", "after")


def document(changes: Diff, most: int | None = None) -> Document:
    """Return the changes of each task, with the ``most`` changed samples, or all."""
    grids = (grid for task in changes.tasks for grid in _grids(task, most))
    return Document("Changes between two runs", tuple(grids), problems=changes.problems)


def _grids(task: TaskDiff, most: int | None) -> Iterator[Grid]:
    outputs = sum(change.before != change.after for change in task.changes)
    prompts = sum(not change.prompted_alike for change in task.changes)
    unpaired = task.lost, task.gained
    facts = [
        f"{task.samples:,} samples in both",
        f"{outputs:,} outputs differ",
        f"{prompts:,} of the changed samples had a different prompt",
        *(f"{len(ids):,} only {side}" for side, ids in zip(_SIDES, unpaired, strict=True) if ids),
        *(f"{side}: {run}" for side, run in zip(_SIDES, task.runs, strict=True)),
    ]
    header = ("metric", *_SIDES, "change", "up", "down", "p")
    scores = tuple(_summary_line(*each) for each in task.scores.items())
    yield Grid(task.task, "; ".join(facts), header, scores, (), {})
    if task.changes:
        changes = task.changes[:most]
        lines = tuple(line for change in changes for line in _change_lines(change))
        caption = f"{len(changes):,} of {len(task.changes):,}, the largest changes first"
        names = ("sample", "scores, then outputs before (-) and after (+)")
        yield Grid("Changed samples", caption, names, lines, (), {})


def _summary_line(metric: str, summary: Summary) -> Line:
    return (
        label(metric),
        _text(summary.before),
        _text(summary.after),
        _text(summary.after - summary.before, "+.2f"),
        f"{summary.up:,}",
        f"{summary.down:,}",
        p_text(summary.p),
    )


def _change_lines(change: Change) -> Iterator[Line]:
    moved = [
        f"{label(metric)} {_text(scores.before) or '?'} → {_text(scores.after) or '?'}"
        for metric, scores in change.scores.items()
        if scores.before != scores.after
    ]
    yield change.sample, ", ".join(moved) or "the same scores"
    for before, after in zip(change.before, change.after, strict=False):
        yield from (("", f"- {before}"), ("", f"+ {after}"))


def _text(value: float | None, form: str = ".2f") -> str:
    return "" if value is None or math.isnan(value) else format(value, form)
