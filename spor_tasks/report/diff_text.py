"""What changed between two runs, as text for the terminal and as JSON. Nothing is computed."""

from collections.abc import Iterator

from spor_tasks.core.visible import visible
from spor_tasks.report.diff import Change, Diff, Scores, TaskDiff
from spor_tasks.report.formats import json_text, problem_lines
from spor_tasks.results.grid import label


def terminal(found: Diff, most: int) -> str:
    """Return what changed, with the ``most`` changed samples of each task in full."""
    blocks = ["\n".join(_task(task, most)) for task in found.tasks]
    return "\n\n".join([*blocks, *problem_lines(found.problems)])


def _task(task: TaskDiff, most: int) -> Iterator[str]:
    outputs = sum(change.before != change.after for change in task.changes)
    prompts = sum(not change.prompted_alike for change in task.changes)
    yield f"{visible(task.task)}: {task.samples:,} samples in both"
    yield f"  - {visible(task.runs[0])}"
    yield f"  + {visible(task.runs[1])}"
    yield f"  {'':<24}{'before':>10}{'after':>10}{'change':>10}{'up':>8}{'down':>8}{'p':>10}"
    for metric, each in task.scores.items():
        known = each.before is not None and each.after is not None
        moved = Scores(each.before, each.after).change if known else None
        yield (
            f"  {label(metric):<24}{_number(each.before):>10}{_number(each.after):>10}"
            f"{_number(moved, '+.2f'):>10}{each.up:>8,}{each.down:>8,}{_number(each.p, '.4f'):>10}"
        )
    yield f"  {outputs:,} outputs differ, {prompts:,} of the changed samples had a different prompt"
    for ids, verb in ((task.lost, "only before"), (task.gained, "only after")):
        if ids:
            yield f"  {len(ids):,} samples {verb}"
    for change in task.changes[:most]:
        yield from _change(change)
    if len(task.changes) > most:
        yield f"  and {len(task.changes) - most:,} more"


def _change(change: Change) -> Iterator[str]:
    moved = [
        f"{label(metric)} {_number(each.before) or '?'} → {_number(each.after) or '?'}"
        for metric, each in change.scores.items()
        if each.before != each.after
    ]
    yield f"  {visible(change.sample)}  {', '.join(moved) or 'the same scores'}"
    for before, after in zip(change.before, change.after, strict=False):
        yield from (f"    - {visible(before)}", f"    + {visible(after)}")


def _number(value: float | None, form: str = ".2f") -> str:
    return "" if value is None else format(value, form)


def as_json(found: Diff) -> str:
    """Return everything that changed as JSON."""
    return json_text({"tasks": found.tasks, "problems": found.problems})
