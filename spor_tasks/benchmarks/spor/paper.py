"""The paper's own rows, to stand beside ours: `paper.json`."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from spor_tasks.benchmarks.spor.sets import BENCHMARK
from spor_tasks.results.comparisons import Cell, Comparison, Difference

_SETS = (BENCHMARK, "published")
_VARIANTS = ("", "beam5")  # adapters' scores; the paper has no others
_NO_VALUE = "not in the paper"

_CASES = {
    "copy_rule_00": "0,0",
    "copy_rule_01": "0,1",
    "copy_rule": "1,0",
    "copy_rule_11": "1,1",
}


@cache
def paper_facts() -> Mapping[str, Any]:
    """Return what the paper's Tables 2, 4, 5 and 6 say, and where from.

    By aspect, model, then as each table has it; ``n`` is the number of test samples.
    """
    content: Mapping[str, Any] = json.loads(Path(__file__).with_name("paper.json").read_bytes())
    return content


def beside(rows: Iterable[Comparison]) -> tuple[Comparison, ...]:
    """Return the paper's rows for the tasks of ours that ask the same, on the same sets.

    What corrects a metric has no row: the paper knows none.
    """
    tasks = {row.task: row for row in rows}
    return tuple(
        found
        for row in tasks.values()
        if (row.spec.benchmark, row.spec.name.protocol) == _SETS
        and row.variant in _VARIANTS
        and (n := _samples(row)) is not None
        for model in paper_facts()[row.aspect]
        for found in _rows(row, model, n)
    )


def _samples(row: Comparison) -> int | None:
    """Return the number of test samples that the paper's row is of, None where it has none."""
    n = paper_facts()["n"][row.aspect].get(row.spec.name.corpus)
    if isinstance(n, dict):
        n = n.get(row.part)
    elif row.part is not None:
        n = None
    return None if n is None else int(n)


def _rows(like: Comparison, model: str, n: int) -> Iterator[Comparison]:
    for metric in like.spec.reported:
        told = [_value(like, model, arm, metric) for arm in like.spec.arms]
        values = [value for value in told if value is not None]
        if len(values) == len(told):
            yield Comparison(
                spec=like.spec,
                variant=like.variant,
                task=like.task,
                model=model,
                metric=metric,
                n=n,
                arms=tuple(Cell(values=(value,), seeds=(None,)) for value in values),
                as_is=Cell(reason=_NO_VALUE),
                difference=_difference(like, model, values),
                published=True,
            )


def _value(like: Comparison, model: str, arm: str, metric: str) -> float | None:
    told = paper_facts()[like.aspect][model]
    match like.aspect:
        case "systematicity":
            found = told[like.spec.name.corpus].get(arm) if metric == "parent" else None
        case "productivity":
            found = told[like.spec.name.corpus][like.part].get(arm) if metric == "parent" else None
        case "order_invariance":
            found = told[arm][like.spec.name.corpus].get(metric)
        case _:
            found = told[like.spec.name.corpus].get(_CASES.get(metric))
    return None if found is None else float(found)


def _difference(like: Comparison, model: str, values: Sequence[float]) -> Difference | None:
    first, *others = values
    if not others:
        return None
    # Of order invariance arms come before corpora: the paper has no marks there.
    told = paper_facts()[like.aspect][model].get(like.spec.name.corpus, {})
    mark = told.get(like.part, told).get("mark", "")
    return Difference(first - others[0], mark=mark, reason=_NO_VALUE)
