"""Published scores, to stand beside ours: `published.csv`.

A line is a score of a system after an arm; ``mark`` is the printed one of the difference between
the arms. Gaps that are not printed follow from the two printed scores. ``n`` is the number of test
samples, where it is published. Lines of the task `averages` are means over corpora.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TypeAlias

from spor_tasks.results.rows import Cell, Comparison, Size
from spor_tasks.results.stats import Estimate

_NO_VALUE = "not published"

Line: TypeAlias = Mapping[str, str]
"""The fields of a line by the names in the header."""


@cache
def lines(benchmark: str) -> Mapping[str, Sequence[Line]]:
    """Return the lines of a benchmark by the task of their sets, in the order of the file."""
    by_task: dict[str, list[Line]] = {}
    with Path(__file__).with_name("published.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            if line["benchmark"] == benchmark:
                by_task.setdefault(line["task"], []).append(line)
    return by_task


def published_rows(rows: Iterable[Comparison]) -> tuple[Comparison, ...]:
    """Return the published rows for the sets of ours, of all splits together.

    Systems wrote as the task does without demonstrations, greedily or as its paper decodes.
    """
    sets = {(row.spec.benchmark, row.spec.task, row.variant): row for row in rows}
    return tuple(
        published
        for (benchmark, task, variant), row in sets.items()
        if variant in {"", *row.spec.sets.decodings}
        for published in _rows(row, lines(benchmark).get(task, ()))
    )


def _rows(like: Comparison, printed: Sequence[Line]) -> Iterator[Comparison]:
    spec = like.spec
    if spec.sets.split:
        spec = replace(spec, sets=replace(spec.sets, part=None, part_title=None))
    for (model, metric), of_arms in groupby(printed, lambda line: (line["model"], line["metric"])):
        if metric not in spec.scores:
            continue
        by_arm = {line["arm"]: line for line in of_arms}
        values = [float(by_arm[arm]["value"]) for arm in spec.arms]
        first = by_arm[spec.arms[0]]
        yield Comparison(
            spec=spec,
            variant=like.variant,
            task=spec.task if spec.sets.split else like.task,
            model=model,
            metric=metric,
            size=Size(int(first["n"] or like.size.n)),
            arms=tuple(Cell(values=(value,)) for value in values),
            as_is=Cell(reason=_NO_VALUE),
            difference=Estimate(values[0] - values[1], mark=first["mark"], reason=_NO_VALUE)
            if len(values) > 1
            else None,
            kind="published",
        )
