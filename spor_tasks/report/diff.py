"""Two runs, sample by sample: which outputs and scores changed, and the document that says so.

The runs are compared as a report compares two arms, on the samples that both have.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from spor_tasks.core.errors import ResultError
from spor_tasks.core.files import FileContent
from spor_tasks.report.collect import TRIAL
from spor_tasks.report.document import Document
from spor_tasks.report.grid import Grid, Line, p_text
from spor_tasks.report.layout import by_arm
from spor_tasks.report.tables import LEGEND, SHORT_LEGEND, ends
from spor_tasks.results.compare import SIDES, side_by_side
from spor_tasks.results.rows import Comparison
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
class TaskDiff:
    """The changes of one task between two runs.

    ``samples`` counts those in both runs; ``lost`` and ``gained`` are the ids of those in one run
    only. ``rows`` compare the scores, each on the samples that are scored in both runs.
    ``changes`` are sorted by the change of the first metric, largest first.
    """

    task: str
    runs: tuple[str, str]
    samples: int
    lost: tuple[str, ...]
    gained: tuple[str, ...]
    rows: tuple[Comparison, ...]
    changes: tuple[Change, ...]

    def moved(self, row: Comparison) -> tuple[int, int]:
        """Return by how many samples a row's score gained, and by how many it lost."""
        gains = [change.scores[row.metric].change for change in self.changes]
        return sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)


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
    old, new = (defaultdict[str, list[Run]](list) for _ in collected)
    for by_task, each in zip((old, new), collected, strict=True):
        for run in each.runs:
            by_task[run.comparison].append(run)
        for task, runs in by_task.items():
            by_task[task] = [run for run in runs if not run.log.baseline] or runs
    tasks = []
    for task in sorted(old.keys() & new.keys()):
        try:
            found, faults = _compare(task, old[task], new[task])
        except ResultError as error:
            problems.append(Problem("not-compared", error.where or task, error.what))
        except Exception as error:  # noqa: BLE001 - whatever comes of what somebody wrote
            what = f"cannot be compared: {type(error).__name__}: {error}"
            problems.append(Problem("not-compared", task, what))
        else:
            tasks.append(found)
            problems += faults
    if not tasks:
        raise ResultError(
            "no task can be compared",
            each=tuple(map(str, problems)),
            where=f"{before}, {after}",
            remedy="Both runs need logged samples of the same task.",
        )
    return Diff(tuple(tasks), tuple(problems))


def _compare(task: str, old: list[Run], new: list[Run]) -> tuple[TaskDiff, tuple[Problem, ...]]:
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
    for fact, name in (("test_sha256", "test set"), ("version", "version")):
        if first.signature[fact] != second.signature[fact]:
            raise ResultError(f"{task} has a different {name} in {second.file}", where=first.file)
    before, after = _records(first), _records(second)
    common = sorted(before.keys() & after.keys())
    if not common:
        raise ResultError(f"{task} has no sample that is in both runs", where=first.file)
    pairs = [(before[key], after[key]) for key in common]
    scored = first.scores.keys() | second.scores.keys()
    metrics = [
        metric
        for metric in first.spec.reported
        if metric in scored and first.spec.totals(metric).is_logged
    ]
    rows, problems = side_by_side((first, second), pairs, metrics)
    if any(run.n < (run.documents or 0) for run in (first, second)):
        what = "a trial on a part of the test only, whose numbers say little"
        problems = (*problems, Problem(TRIAL, task, what, lost=False))
    changes = []
    for one, other in pairs:
        scores = {
            metric: Scores(
                *(alone(each.run.spec, metric, each.scores.get(metric)) for each in (one, other))
            )
            for metric in metrics
        }
        moved = any(each.before != each.after for each in scores.values())
        if one.outputs != other.outputs or moved:
            alike = one.contexts == other.contexts
            change = Change(one.sample.id, one.outputs, other.outputs, scores, prompted_alike=alike)
            changes.append(change)
    changes.sort(
        key=lambda change: (*(-abs(each.change) for each in change.scores.values()), change.sample)
    )
    found = TaskDiff(
        task=task,
        runs=(str(first.file), str(second.file)),
        samples=len(common),
        lost=tuple(sorted(before.keys() - after.keys())),
        gained=tuple(sorted(after.keys() - before.keys())),
        rows=rows,
        changes=tuple(changes),
    )
    return found, problems


def _records(result: Run) -> dict[str, Record]:
    file = find(result)
    if file is None:
        raise ResultError(f"{result.task} has no sample file", where=result.file)
    return {record.sample.id: record for record in file.records()}


# --- As a document --------------------------------------------------------------------------------


def document(changes: Diff, most: int | None = None) -> Document:
    """Return the changes of each task, with the ``most`` changed samples, or all."""
    grids = (grid for task in changes.tasks for grid in _grids(task, most))
    title = "Changes between two runs"
    return Document(title, tuple(grids), LEGEND, changes.problems, SHORT_LEGEND)


def _grids(task: TaskDiff, most: int | None) -> Iterator[Grid]:
    outputs = sum(change.before != change.after for change in task.changes)
    prompts = sum(not change.prompted_alike for change in task.changes)
    unpaired = task.lost, task.gained
    facts = [
        f"{task.samples:,} samples in both",
        f"{outputs:,} outputs differ",
        f"{prompts:,} of the changed samples had a different prompt",
        *(f"{len(ids):,} only {side}" for side, ids in zip(SIDES, unpaired, strict=True) if ids),
        *(f"{side}: {run}" for side, run in zip(SIDES, task.runs, strict=True)),
    ]
    further: Mapping[str, Callable[[Comparison], str]] = {
        "p": lambda row: p_text(row.difference.p if row.difference else None),
        "up": lambda row: f"{task.moved(row)[0]:,}",
        "down": lambda row: f"{task.moved(row)[1]:,}",
    }
    none = Grid(task.task, "", ("metric",), {})
    grid = by_arm(task.rows, more=further) if task.rows else none
    caption = "; ".join([*facts, grid.caption] if grid.caption else facts)
    yield replace(grid, title=task.task, caption=caption)
    if task.changes:
        changes = task.changes[:most]
        labels = {row.metric: row.score.label for row in task.rows}
        lines: list[Line] = []
        for change in changes:
            moved = [
                f"{labels[metric]} {_text(scores.before) or '?'} → {_text(scores.after) or '?'}"
                for metric, scores in change.scores.items()
                if scores.before != scores.after
            ]
            lines.append((change.sample, ", ".join(moved) or "the same scores"))
            for before, after in zip(change.before, change.after, strict=False):
                lines += [("", f"- {before}"), ("", f"+ {after}")]
        caption = f"{len(changes):,} of {len(task.changes):,}, the largest changes first"
        names = ("sample", "scores, then outputs before (-) and after (+)")
        yield Grid("Changed samples", caption, names, {"run": lines})


def _text(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.2f}"


def as_json(task: TaskDiff) -> FileContent:
    """Return the changes of a task, with the numbers of its rows by metric."""
    scores = {}
    for row in task.rows:
        after, before = (cell.mean for cell in row.arms)
        up, down = task.moved(row)
        found = row.difference
        scores[row.metric] = {
            "before": before,
            "after": after,
            "up": up,
            "down": down,
            **{name: getattr(row.size, name) for name in ("n", "clusters", "documents")},
            **{name: getattr(found, name, None) for name in ("value", "p", "mark", "reason")},
            **ends(found.interval if found else None),
        }
    return {
        **{name: getattr(task, name) for name in ("task", "runs", "samples", "lost", "gained")},
        "scores": scores,
        "changes": task.changes,
    }
