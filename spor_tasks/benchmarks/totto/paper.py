"""The paper's own rows and those of the leaderboard, all on the hidden test set: `paper.json`."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from spor_tasks.benchmarks.totto.sets import BENCHMARK
from spor_tasks.core.contracts import Gap
from spor_tasks.results.comparisons import Cell, Comparison

_VARIANTS = ("", "beam4")  # checkpoints' scores; nobody has published others
_NO_VALUE = "not published"


@cache
def paper_facts() -> Mapping[str, Any]:
    """Return what was published: ``n``, and scores by part and model, and where from."""
    content: Mapping[str, Any] = json.loads(Path(__file__).with_name("paper.json").read_bytes())
    return content


def beside(rows: Iterable[Comparison]) -> tuple[Comparison, ...]:
    """Return the published rows for tasks of ours about the same inputs.

    They are of the test set, whose references are not public, and ours of the development set.
    """
    tasks = {row.task: row for row in rows}
    return tuple(
        found
        for row in tasks.values()
        if row.spec.benchmark == BENCHMARK
        and row.spec.name[1:3] == (BENCHMARK, "published")
        and row.variant in _VARIANTS
        for found in _rows(row)
    )


def _rows(like: Comparison) -> Iterator[Comparison]:
    facts = paper_facts()
    for model, told in facts["parts"][like.part or ""].items():
        for metric in like.spec.shown:
            if (value := _value(told, metric)) is not None:
                yield Comparison(
                    spec=like.spec,
                    variant=like.variant,
                    task=like.task,
                    model=model,
                    metric=metric,
                    n=int(facts["n"]),
                    arms=(Cell(values=(value,), seeds=(None,)),),
                    as_is=Cell(reason=_NO_VALUE),
                    difference=None,
                    published=True,
                )


def _value(told: Mapping[str, float], metric: str) -> float | None:
    gap = Gap.of(metric)
    if gap is None:
        return told.get(metric)
    return told[gap.one] - told[gap.other] if {*gap} <= told.keys() else None
