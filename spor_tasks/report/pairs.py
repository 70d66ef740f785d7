"""Systems beside each other on any task, as a document: their differences, and what changed."""

import re
from collections.abc import Iterator, Sequence

from spor_tasks.core.files import FileContent
from spor_tasks.core.words import joined
from spor_tasks.report.document import Document
from spor_tasks.report.grid import Grid, Line, Notes, Number, p_text
from spor_tasks.results.pairs import Paired, Pairing, TaskPairs
from spor_tasks.results.stats import Interval

_LEGEND = (
    "Each system is compared with the first, on the documents that every system has. "
    "[low, high] is a 95 % interval. A share of right answers, with no two documents in a cluster, "
    "has Wilson's interval. The difference of two shares has McNemar's exact test, and the wider "
    "of the test's own interval and of Tango's. Any other score has a bootstrap over clusters of "
    "documents, and its difference has approximate randomization, whose interval inverts this "
    "test. p is adjusted for the number of rows (Holm, 1979), and † p < 0.05 and ‡ p < 0.01 are of "
    "the adjusted p. Intervals are of one row on its own, and so is detectable: the difference "
    "that a test finds with 80 % power. Up and down count the documents with a higher and with a "
    "lower value. ↓: lower is better. "
    "Single runs say this of these checkpoints only. Systems of several training seeds have a t "
    "test over seeds and samples; up, down and outputs are then of the first seed."
)
_SHORT_LEGEND = (
    "A difference is a system's score less the first one's. [low, high]: 95 % interval. p is "
    "adjusted for the number of rows: † p < 0.05, ‡ p < 0.01. "
    "detectable: the difference that such a test finds with 80 % power."
)
_LONG = 30  # of a header
_LETTERS = 300  # of an output, in a table
_LINE_ENDS = re.compile(r"[\r\n\u2028\u2029\x85]+")


def document(pairing: Pairing, most: int = 0) -> Document:
    """Return a table of all rows, and then ``most`` changed documents of each task."""
    changed = [_changed(*each, pairing.systems, most) for each in _each(pairing)] if most else []
    first, *others = pairing.systems
    return Document(
        title=f"{', '.join(others)} against {first}",
        grids=(_table(pairing), *(grid for grid in changed if grid.runs)),
        legend=_LEGEND,
        problems=pairing.problems,
        short_legend=_SHORT_LEGEND,
        rows=tuple(row.as_row() for row in pairing.rows),
    )


def _each(pairing: Pairing) -> Iterator[tuple[TaskPairs, int]]:
    """Yield each task with the number of each further system."""
    return ((task, n) for task in pairing.tasks for n in range(1, len(pairing.systems)))


def _table(pairing: Pairing) -> Grid:
    first, *others = pairing.systems
    notes, is_pair = Notes(), len(others) == 1

    def line(row: Paired) -> Line:
        found, digits = row.difference, row.digits
        first_cell, second_cell = (
            Number(f"{value:.{digits}f}", _ends(interval, digits))
            for value, interval in zip(row.values, row.intervals, strict=True)
        )
        clusters = "" if found.clusters in {None, found.n} else f" in {found.clusters:,} clusters"
        return (
            row.task,
            f"{row.facts.label}{' ↓' * (row.facts.higher_is_better is False)}",
            *(() if is_pair else row.systems[1:]),
            first_cell,
            second_cell,
            Number(
                f"{found.value:+.{digits}f}",
                _ends(found.interval, digits),
                found.mark,
                notes.letters(found.reason, *found.notes),
            ),
            f"{found.n:,}{clusters}",
            p_text(row.p),
            "" if found.detectable is None else f"{found.detectable:.{digits}f}",
            *(f"{number:,}" for number in row.moved),
        )

    less = f"{others[0]} − {first}"
    less = less if len(less) <= _LONG else "difference"
    systems = (first, *others, less) if is_pair else ("system", first, "its score", "difference")
    header = ("task", "score", *systems, "n", "p", "detectable", "up", "down")
    lines = [line(row) for row in pairing.rows]
    by_test = {row.test: dict[str, None]() for row in pairing.rows}
    for row in pairing.rows:
        by_test[row.test][row.facts.label] = None
    named = (f"{test}: {joined(', ', *labels)}" for test, labels in by_test.items())
    tests = joined("; ", *(named if len(by_test) > 1 else by_test))
    return Grid(f"Compared with {first}", tests, header, {"run": lines}, notes.texts)


def _ends(interval: Interval | None, digits: int) -> str:
    return f"{interval.low:.{digits}f}, {interval.high:.{digits}f}" if interval else ""


def _changed(task: TaskPairs, number: int, systems: Sequence[str], most: int) -> Grid:
    """Return the documents that changed most from the first system to another."""
    changes = task.changes(number)
    outputs = sum(each.before != each.after for each in changes)
    prompts = sum(not each.prompted_alike for each in changes)
    labels = {score: facts.label for score, facts in task.samples[0].scores.items()}
    lines = list[Line]()
    for change in changes[:most]:
        name = str(change.id) if task.samples[0].result.run else f"doc_id {change.doc_id}"
        moved = (
            f"{labels[score]} {_number(sides.before)} → {_number(sides.after)}"
            for score, sides in change.scores.items()
            if sides.before != sides.after
        )
        lines.append((name, ", ".join(moved) or "the same scores"))
        for sign, texts in (("-", change.before), ("+", change.after)):
            lines += (("", f"{sign} {_short(text)}") for text in texts)
    first, other = systems[0], systems[number]
    caption = (
        f"{min(most, len(changes)):,} of {len(changes):,}, the largest changes first; {outputs:,} "
        f"outputs differ; {prompts:,} of the changed had a different prompt"
    )
    header = ("document", f"scores, then outputs of {first} (-) and {other} (+)")
    return Grid(f"Changed in {task.task}", caption, header, {"run": lines})


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:.2f}"


def _short(text: str) -> str:
    line = _LINE_ENDS.sub(" ⏎ ", text)
    return line if len(line) <= _LETTERS else f"{line[:_LETTERS]}…"


def changes_of(pairing: Pairing) -> list[FileContent]:
    """Return all changed documents of each task and system, for JSON."""
    return [
        {
            "task": task.task,
            "first": pairing.systems[0],
            "second": pairing.systems[number],
            "documents": len(task.ids),
            "changes": task.changes(number),
        }
        for task, number in _each(pairing)
    ]
