"""Published scores, to stand beside ours: `published.csv`.

A line is a score of a system after an arm; ``mark`` is the printed one of the difference between
the arms. Gaps that are not printed follow from the two printed scores. ``n`` is the number of test
samples, where it is published. Lines of the protocol `averages` are means over corpora.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TypeAlias

from msgspec.structs import replace as changed

from spor_tasks.core.sample import SetName
from spor_tasks.results.rows import Cell, Comparison, Size
from spor_tasks.results.stats import Estimate

_NO_VALUE = "not published"

Line: TypeAlias = Mapping[str, str]
"""The fields of a line by the names in the header."""


@cache
def lines(benchmark: str) -> Mapping[SetName, Sequence[Line]]:
    """Return the lines of a benchmark by their sets, in the order of the file."""
    by_sets: dict[SetName, list[Line]] = {}
    with Path(__file__).with_name("published.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            if line["benchmark"] == benchmark:
                name = SetName(
                    line["aspect"], line["corpus"], line["protocol"], line["part"] or None
                )
                by_sets.setdefault(name, []).append(line)
    return by_sets


def published_rows(rows: Iterable[Comparison]) -> tuple[Comparison, ...]:
    """Return the published rows for the sets of ours, of all splits together.

    Systems wrote as the task does without demonstrations, greedily or as its paper decodes.
    """
    sets = {
        (row.spec.benchmark, row.spec.sets.split_of or row.spec.name, row.variant): row
        for row in rows
    }
    return tuple(
        published
        for (benchmark, name, variant), row in sets.items()
        if variant in {"", *row.spec.sets.decodings}
        for published in _rows(row, lines(benchmark).get(name, ()))
    )


def _rows(like: Comparison, printed: Sequence[Line]) -> Iterator[Comparison]:
    spec = like.spec
    if spec.sets.split_of:
        spec = replace(
            spec,
            name=spec.name._replace(part=None),
            sets=changed(spec.sets, part_title=None),
        )
    for (model, metric), of_arms in groupby(printed, lambda line: (line["model"], line["metric"])):
        if metric not in spec.scores:
            continue
        by_arm = {line["arm"]: line for line in of_arms}
        values = [float(by_arm[arm]["value"]) for arm in spec.arms]
        first = by_arm[spec.arms[0]]
        yield Comparison(
            spec=spec,
            variant=like.variant,
            task=spec.task if spec.sets.split_of else like.task,
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
