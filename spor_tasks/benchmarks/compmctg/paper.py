"""The paper's own results: of each dataset and protocol, and averaged over datasets."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from spor_tasks.benchmarks.compmctg import sets
from spor_tasks.benchmarks.compmctg.pooled import (
    RELATIVE,
    number_of_splits,
    of_all_splits,
    relative_gap,
)
from spor_tasks.core.contracts import Gap
from spor_tasks.results.comparisons import Cell, Comparison

_NO_VALUE = "not published"


@cache
def paper_facts() -> Mapping[str, Any]:
    """Return what was published.

    ``protocols`` are the scores of each dataset and protocol by model (Tables 3 and 4).
    ``averages`` are those over datasets as they are printed (Tables 1 and 2), and ``recomputed``
    what some of them are by the paper's own tables of single datasets, or by its own rows.
    """
    content: Mapping[str, Any] = json.loads(Path(__file__).with_name("paper.json").read_bytes())
    return content


def beside(rows: Iterable[Comparison]) -> tuple[Comparison, ...]:
    """Return the published rows for the protocols that ours are about, each over all its splits."""
    asked: dict[tuple[str, str, str], list[Comparison]] = {}
    for row in rows:
        if row.spec.benchmark == sets.BENCHMARK:
            key = (row.spec.name.corpus, row.spec.name.protocol, row.variant)
            asked.setdefault(key, []).append(row)
    return tuple(
        found
        for (corpus, protocol, variant), own in asked.items()
        if not variant
        for found in _rows(f"{corpus} {protocol.removesuffix(sets.PUBLISHED)}", own)
    )


def _rows(protocol: str, own: list[Comparison]) -> Iterator[Comparison]:
    first = own[0]
    spec = of_all_splits(first.spec)
    each = max(row.n for row in own)
    for model, told in paper_facts()["protocols"].get(protocol, {}).items():
        for metric in spec.shown:
            if (value := _value(told, metric)) is not None:
                yield Comparison(
                    spec=spec,
                    variant=first.variant,
                    task=spec.task,
                    model=model,
                    metric=metric,
                    n=each * number_of_splits(own),
                    arms=(Cell(values=(value,), seeds=(None,)),),
                    as_is=Cell(reason=_NO_VALUE),
                    difference=None,
                    published=True,
                )


def _value(told: Mapping[str, float], metric: str) -> float | None:
    if metric in RELATIVE and {*RELATIVE[metric]} <= told.keys():
        comp, seen = (told[name] for name in RELATIVE[metric])
        return relative_gap(seen, comp)
    if gap := Gap.of(metric):
        return told[gap.one] - told[gap.other] if {*gap} <= told.keys() else None
    return told.get(metric)
