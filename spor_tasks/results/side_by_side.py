"""Two runs of a test as the two arms of a row, whatever they are runs of."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np

from spor_tasks.metrics.tally import Column
from spor_tasks.results.compare import NO_VERDICT, comparisons
from spor_tasks.results.logged import Logged, resampled
from spor_tasks.results.rows import Cell, Comparison
from spor_tasks.results.runs import Problem, Run
from spor_tasks.results.samples import Record

SIDES = ("before", "after")


def side_by_side(
    runs: tuple[Run, Run], pairs: Sequence[tuple[Record, Record]], metrics: Sequence[str]
) -> tuple[tuple[Comparison, ...], tuple[Problem, ...]]:
    """Return what a report says of two arms with these runs, and the problems that it names.

    The ``pairs`` are the samples that both have. Each score, and its number of samples, is of those
    that are scored in both. The runs may differ in everything but the test.
    """
    first, by_side = runs[0], [*zip(*pairs, strict=True)]
    spec = replace(first.spec, arms=SIDES[::-1], gaps=())  # the first arm less the second
    columns: list[dict[str, Column]] = [{}, {}]
    for metric in metrics:
        totals = first.spec.totals(metric)
        own = [Column.of([each.scores.get(metric) for each in side], totals) for side in by_side]
        both = own[0].scored & own[1].scored
        for of_side, column in zip(columns, own, strict=True):
            if both.any():
                of_side[metric] = Column(np.where(both[:, None], column.statistics, np.nan), totals)
    ids = [record.sample.id for record, _ in pairs]
    keys = [record.sample.cluster for record, _ in pairs]
    sides = [
        replace(
            run,
            key=side,
            spec=spec,
            model=" → ".join(dict.fromkeys(run.model for run in runs)),
            asked=run.asked._replace(comparison=first.comparison, shown_arm=side),
            adapter=run.adapter and msgspec.structs.replace(run.adapter, arm=side),
            signature=first.signature,
            training={},
            scores={metric: column.value for metric, column in of_side.items()},
            n=len(pairs),
            documents=first.documents if len(pairs) < (first.documents or 0) else None,
        )
        for side, run, of_side in zip(SIDES, runs, columns, strict=True)
    ]
    logged = {
        side.id: Logged.of(spec, ids, keys, of_side)
        for side, of_side in zip(sides, columns, strict=True)
    }
    rows, problems = comparisons(sides, resampled(logged))
    scored = []
    for row in rows:
        if row.metric in metrics:
            found = row.difference
            n, clusters = (found.n or 0, found.clusters) if found else (0, None)
            arms = row.arms if found else (Cell(reason=NO_VERDICT),) * len(SIDES)
            size = row.size._replace(n=n, clusters=clusters)
            scored.append(replace(row, arms=arms, size=size))
    return tuple(scored), problems
