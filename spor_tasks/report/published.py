"""Published scores, to stand beside ours: `published.csv`.

A line is a score of a system after an arm; ``mark`` is the printed one of the difference between
the arms. Gaps that are not printed follow from the two printed scores. ``n`` is the number of test
samples, where it is published. Lines of the task `averages` are means over corpora.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TypeAlias

from spor_tasks.results.rows import Cell, Comparison, Size
from spor_tasks.results.stats import Estimate

_NO_VALUE = "not published"

PublishedRow: TypeAlias = Mapping[str, str]
"""The fields of a line by the names in the header."""


@cache
def lines(benchmark: str) -> Mapping[str, Sequence[PublishedRow]]:
    """Return the lines of a benchmark by the task of their sets, in the order of the file."""
    by_task: dict[str, list[PublishedRow]] = {}
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
    found = []
    for (benchmark, task, variant), like in sets.items():
        spec, split = like.spec, like.spec.sets.split
        if split:
            spec = replace(spec, sets=replace(spec.sets, part=None, part_title=None))
        is_asked_so = variant in {"", *spec.sets.decodings}
        printed = lines(benchmark).get(task, ()) if is_asked_so else ()
        for (model, metric), of_arms in groupby(printed, itemgetter("model", "metric")):
            by_arm = {line["arm"]: line for line in of_arms}
            if metric not in spec.scores:
                continue
            values = [float(by_arm[arm]["value"]) for arm in spec.arms]
            first, gap = by_arm[spec.arms[0]], None
            if len(values) > 1:
                gap = Estimate(values[0] - values[1], mark=first["mark"], reason=_NO_VALUE)
            found.append(
                Comparison(
                    spec=spec,
                    variant=variant,
                    task=task if split else like.task,
                    model=model,
                    metric=metric,
                    size=Size(int(first["n"] or like.size.n)),
                    arms=tuple(Cell(values=(value,)) for value in values),
                    as_is=Cell(reason=_NO_VALUE),
                    difference=gap,
                    kind="published",
                )
            )
    return tuple(found)
