"""The splits of a protocol as one: a row of the samples of all splits together.

The published evaluation of CompMCTG scores all texts together, so a score of the concatenated
samples is the published one, a gap included. A system that was read under all splits at once has
such a score already.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from spor_tasks.aspects.named import place_of
from spor_tasks.metrics.base import score_info
from spor_tasks.results.comparisons import Cell, Comparison, Table
from spor_tasks.results.evidence import Evidence, Run, over_seeds

_NO_SAMPLES = "splits are put together from their samples: evaluate with --log_samples"
_NO_SEED = "no training seed has all these splits"
_NO_VERDICT = "no score: no sample has what it needs"

_Splits = Mapping[str | None, Mapping[str, Comparison]]
"""The rows of a model by split and metric; None are the rows of all splits at once."""


def tables(rows: Iterable[Comparison], evidence: Evidence) -> tuple[Table, ...]:
    """Return the rows by benchmark and aspect, in their order."""
    by_aspect: dict[tuple[str, str], list[Comparison]] = defaultdict(list)
    for row in rows:
        by_aspect[row.spec.benchmark, row.aspect].append(row)
    return tuple(
        Table(*key, tuple(by_aspect[key]), pooled(by_aspect[key], evidence))
        for key in sorted(by_aspect, key=lambda key: place_of(*key))
    )


def pooled(rows: Iterable[Comparison], evidence: Evidence) -> tuple[Comparison, ...]:
    """Return the rows with one for each model, protocol and score in place of those of splits."""
    pooled_rows = list[Comparison]()
    protocols: dict[tuple[object, ...], dict[str, dict[str | None, dict[str, Comparison]]]]
    protocols = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    for row in rows:
        if row.published or not row.spec.is_pooled:
            pooled_rows.append(row)
        else:
            key = (row.spec.name._replace(part=None), row.variant)
            protocols[key][row.name][row.part][row.metric] = row
    for models in protocols.values():
        number = len({part for splits in models.values() for part in splits if part is not None})
        for splits in models.values():
            pooled_rows += _of_model(splits, number, evidence)
    return tuple(pooled_rows)


def _of_model(splits: _Splits, number: int, evidence: Evidence) -> Iterator[Comparison]:
    rows = [row for by_metric in splits.values() for row in by_metric.values()]
    example = splits[None][rows[0].metric] if None in splits else rows[0]
    spec = replace(example.spec, name=example.spec.name._replace(part=None), part_title=None)
    n = sum(next(iter(of.values())).n for part, of in splits.items() if part is not None)
    metrics = {row.metric for row in rows}
    for metric in filter(metrics.__contains__, spec.shown):
        arms = tuple(
            _cell(splits, metric, place, number, evidence) for place in range(len(spec.arms))
        )
        yield replace(
            example,
            spec=spec,
            metric=metric,
            n=n or example.n,
            clusters=evidence.clusters(run for row in rows for run in _runs(row)),
            arms=arms,
            as_is=_cell(splits, metric, None, number, evidence),
            difference=None,
            splits=number,
        )


def _runs(row: Comparison) -> Iterator[Run]:
    for cell in (*row.arms, row.as_is):
        yield from cell.runs


def _of_arm(row: Comparison, place: int | None) -> Cell:
    return row.as_is if place is None else row.arms[place]


def _cell(splits: _Splits, metric: str, place: int | None, number: int, evidence: Evidence) -> Cell:
    """Return the cell of all splits for the arm at a place; None is the model as it is."""
    whole = splits.get(None, {}).get(metric)
    if whole and _of_arm(whole, place).values:
        return _of_arm(whole, place)
    cells = {
        part: max(
            (_of_arm(row, place) for row in by_metric.values()), key=lambda cell: len(cell.runs)
        )
        for part, by_metric in splits.items()
        if part is not None
    }
    runs = {
        part: dict(zip(cell.seeds, cell.runs, strict=True))
        for part, cell in cells.items()
        if cell.runs and (_is_averaged(metric) or evidence.is_logged(cell.runs, metric))
    }
    if not runs:
        unlogged = any(cell.runs and not evidence.is_logged(cell.runs) for cell in cells.values())
        reasons = (cell.reason for cell in cells.values())
        return Cell(reason=_NO_SAMPLES if unlogged else next(filter(None, reasons), "no result"))
    notes = list(dict.fromkeys(note for part in runs for note in cells[part].notes))
    if len(runs) < number:
        notes.append(f"{len(runs)} of {number} splits")
    seeds = sorted(set.intersection(*map(set, runs.values())), key=lambda seed: seed or 0)
    if not seeds:
        return Cell(reason=_NO_SEED, notes=tuple(notes))
    if any(len(by_seed) > len(seeds) for by_seed in runs.values()):
        notes.append("some splits were trained with more seeds")
    cell = Cell(
        seeds=tuple(seeds),
        runs=tuple(run for by_seed in runs.values() for run in by_seed.values()),
        notes=tuple(notes),
    )
    if _is_averaged(metric):
        by_split = [_by_seed(splits[part].get(metric), place) for part in runs]
        return replace(cell, values=tuple(_mean(by_split, seed) for seed in seeds))
    runs_by_seed = [[by_seed[seed] for by_seed in runs.values()] for seed in seeds]
    columns = [evidence.column(runs_of_seed, metric) for runs_of_seed in runs_by_seed]
    values = tuple(column.value for column in columns)
    if any(map(math.isnan, values)):
        return replace(cell, seeds=(), reason=_NO_VERDICT)
    estimate = evidence.estimate(metric, runs_by_seed)
    example = next(iter(splits[next(iter(runs))].values()))
    is_of_some = metric in example.spec.breakdown
    return replace(
        cell,
        values=values,
        interval=estimate.interval if estimate else over_seeds(metric, values),
        counts=tuple(int(column.scored.sum()) for column in columns) if is_of_some else (),
    )


def _is_averaged(metric: str) -> bool:
    """Return whether logged values do not give the score: then splits are averaged."""
    return not score_info(metric).totals.is_logged


def _by_seed(row: Comparison | None, place: int | None) -> Mapping[int | None, float]:
    cell = _of_arm(row, place) if row else Cell()
    return dict(zip(cell.seeds, cell.values, strict=True))


def _mean(by_split: Sequence[Mapping[int | None, float]], seed: int | None) -> float:
    return fmean(scores_of_seed[seed] for scores_of_seed in by_split if seed in scores_of_seed)
