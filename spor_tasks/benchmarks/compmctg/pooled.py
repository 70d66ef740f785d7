"""The splits of a protocol as one: the published evaluation scores the texts of all together.

A mean over texts is then the mean over splits, weighed by their texts. A system that wrote its
texts once, and was read under all splits, has such a mean already. The gap is computed anew
from both accuracies. Distinct n-grams of all texts cannot be known from those of each split: they
are averaged, and the tables say so.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from spor_tasks.benchmarks.compmctg import sets
from spor_tasks.core.contracts import Gap, SetSpec
from spor_tasks.metrics.significance import over_seeds
from spor_tasks.results.comparisons import Cell, Comparison
from spor_tasks.results.evidence import Interval, scale_of

RELATIVE = {f"{name}_gap": Gap(f"{name}_acc_comp", f"{name}_acc_id") for name in ("mctg", "mini")}
"""The gaps in per cent, and the two accuracies of each."""


def pooled(rows: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Return a row for each model and score of one protocol, over the splits that it has."""
    models: dict[tuple[bool, str], dict[str, list[Comparison]]] = defaultdict(dict)
    for row in rows:
        models[row.published, row.name].setdefault(row.metric, []).append(row)
    splits = number_of_shown(rows)
    return tuple(row for scores in models.values() for row in _of_model(scores, splits))


def of_all_splits(spec: SetSpec) -> SetSpec:
    """Return a declaration that is about all splits of the protocol."""
    return replace(spec, name=spec.name._replace(part=None), part_title=None)


def number_of_splits(rows: Sequence[Comparison]) -> int:
    """Return how many splits the protocol of these rows has, as far as is known."""
    return max(1, len(sets.find(of_all_splits(rows[0].spec).name).splits), number_of_shown(rows))


def number_of_shown(rows: Sequence[Comparison]) -> int:
    """Return how many splits there are single results of."""
    return len({row.part for row in rows if row.part and not row.published})


def together(rows: Sequence[Comparison]) -> str:
    """Return which splits of the protocol are put together, in words; empty if it has only one."""
    splits, shown = number_of_splits(rows), number_of_shown(rows)
    if splits == 1:
        return ""
    return f"{shown} of {splits} splits" if 0 < shown < splits else f"all {splits} splits together"


def _of_model(scores: Mapping[str, Sequence[Comparison]], splits: int) -> Iterator[Comparison]:
    found = {metric: _mean_row(rows, splits) for metric, rows in scores.items()}
    for metric, row in found.items():
        needed = RELATIVE.get(metric) or Gap.of(metric)
        if needed is None or max(len(scores.get(name, ())) for name in needed) == 1:
            yield row
        elif {*needed} <= found.keys():
            comp, seen = (found[name] for name in needed)
            yield replace(
                comp,
                metric=metric,
                arms=tuple(
                    _gap(metric, *cells) for cells in zip(comp.arms, seen.arms, strict=True)
                ),
                as_is=_gap(metric, comp.as_is, seen.as_is),
            )


def _gap(metric: str, comp: Cell, seen: Cell) -> Cell:
    if not comp.values or len(comp.values) != len(seen.values):
        return Cell(reason=comp.reason or seen.reason or "not of the same runs")
    pairs = list(zip(comp.values, seen.values, strict=True))
    if metric in RELATIVE:
        if not all(one for _, one in pairs):
            return Cell(reason="no gap: no i.d. text has what it should")
        values = tuple(relative_gap(one, other) for other, one in pairs)
    else:
        values = tuple(other - one for other, one in pairs)
    return replace(comp, values=values, interval=_over_seeds(metric, values), counts=())


def relative_gap(seen: float, comp: float) -> float:
    """Return how much lower the compositional accuracy is, in per cent of the other one."""
    return 100 * (seen - comp) / seen


# --- Means over splits ----------------------------------------------------------------------------


def _mean_row(rows: Sequence[Comparison], splits: int) -> Comparison:
    first = rows[0]
    if first.published:
        return first
    arms = (_mean(rows, [row.arms[i] for row in rows], splits) for i in range(len(first.arms)))
    return replace(
        first,
        spec=of_all_splits(first.spec),
        n=sum(row.n for row in rows if row.part) or first.n,
        arms=tuple(arms),
        as_is=_mean(rows, [row.as_is for row in rows], splits),
        difference=None,
    )


def _mean(rows: Sequence[Comparison], cells: Sequence[Cell], splits: int) -> Cell:
    """Return the mean over splits for each seed that all of them have, else over all runs."""
    known = [(row.n, cell) for row, cell in zip(rows, cells, strict=True) if cell.values]
    under_all = [
        cell for row, cell in zip(rows, cells, strict=True) if not row.part and cell.values
    ]
    if not known or under_all:
        return (under_all or cells)[0]
    told = tuple(dict.fromkeys(note for _, cell in known for note in cell.notes))
    if len(known) < splits:
        told += (f"{len(known)} of {splits} splits",)
    if len(known) == 1:
        return replace(known[0][1], notes=told)
    seeds = sorted(
        set.intersection(*({*cell.seeds} for _, cell in known)), key=lambda seed: seed or 0
    )
    if any({*cell.seeds} > {*seeds} for _, cell in known):
        told += ("some splits were trained with more seeds",)
    values = tuple(
        _weighed([(_weight(n, cell), _of_seed(cell, seed)) for n, cell in known])
        for seed in seeds or [None]
    )
    metric = rows[0].metric
    runs = tuple(run for _, cell in known for run in cell.runs)
    return Cell(
        values=values,
        seeds=tuple(seeds) or (None,),
        runs=runs,
        interval=_over_seeds(metric, values),
        notes=told,
        counts=(sum(cell.counts[0] for _, cell in known),)
        if all(cell.counts for _, cell in known)
        else (),
    )


def _weight(n: int, cell: Cell) -> float:
    """Return the number of texts that the score is of; all splits of a protocol are alike."""
    return fmean(cell.counts) if cell.counts else n


def _of_seed(cell: Cell, seed: int | None) -> float:
    """Return the score of a seed; without a seed that all splits have, that of all runs."""
    own = [value for value, of in zip(cell.values, cell.seeds, strict=True) if of == seed]
    return fmean(own or cell.values)


def _weighed(pairs: Sequence[tuple[float, float]]) -> float:
    return sum(n * value for n, value in pairs) / sum(n for n, _ in pairs)


def _over_seeds(metric: str, values: Sequence[float]) -> Interval | None:
    found = over_seeds(values)
    if found is None:
        return None
    (low, high), (least, most) = found.interval(), scale_of(metric)
    return Interval.of(max(least, low), min(most, high), "seeds")
