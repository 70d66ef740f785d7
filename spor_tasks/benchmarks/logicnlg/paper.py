"""The paper's own rows (Table 2, on the test set), to stand beside ours: `paper.json`."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from spor_tasks.benchmarks.logicnlg.sets import BENCHMARK
from spor_tasks.results.comparisons import Cell, Comparison

_NO_VALUE = "not in the paper"


@cache
def paper_facts() -> Mapping[str, Any]:
    """Return what the paper's table says, and where from: ``n``, and scores by part and model."""
    content: Mapping[str, Any] = json.loads(Path(__file__).with_name("paper.json").read_bytes())
    return content


def beside(rows: Iterable[Comparison]) -> tuple[Comparison, ...]:
    """Return the paper's rows for the published tasks of ours, decoded greedily.

    Every system of the paper was trained on the training set.
    """
    tasks = {row.task: row for row in rows}
    return tuple(
        found
        for row in tasks.values()
        if row.spec.benchmark == BENCHMARK
        and row.spec.name[1:3] == (BENCHMARK, "published")
        and not row.variant
        for found in _rows(row)
    )


def _rows(like: Comparison) -> Iterator[Comparison]:
    facts = paper_facts()
    for model, told in facts["parts"].get(like.part or "", {}).items():
        for metric, value in told.items():
            yield Comparison(
                spec=like.spec,
                variant=like.variant,
                task=like.task,
                model=model,
                metric=metric,
                n=int(facts["n"]),
                arms=(Cell(values=(float(value),), seeds=(None,)),),
                as_is=Cell(reason=_NO_VALUE),
                difference=None,
                published=True,
            )
