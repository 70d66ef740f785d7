"""CompMCTG's averages over datasets, with the paper's arithmetic: its Tables 1 and 2.

First a score is averaged over the datasets, then over the kinds of texts. So the average gap is
that of averaged accuracies, not the mean of the datasets' gaps.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from statistics import fmean
from typing import TypeAlias

from spor_tasks.core.words import joined
from spor_tasks.corpora.compmctg.spaces import PUBLISHED
from spor_tasks.report.grid import Grid, Line, Notes, Number
from spor_tasks.report.published import lines
from spor_tasks.results.rows import Comparison

BENCHMARK = "compmctg"
_DATASETS = tuple(space.name for space in PUBLISHED)
_WITHOUT_ACD = frozenset(("amazon", "mixture"))  # which have too few combinations
_KINDS = {
    "original": "Original",
    "holdout_id": "Hold-Out i.d.",
    "holdout_comp": "Hold-Out comp.",
    "acd_id": "ACD i.d.",
    "acd_comp": "ACD comp.",
}
_FEW = {"fewshot_id": "Few-Shot i.d.", "fewshot_comp": "Few-Shot comp."}
_AVERAGES = {"acc": "Accuracy, average", "ppl": "PPL, average", "gap": "Gap, average"}
_ENDS = {"mctg_acc": "", "mctg_ppl": "_ppl"}
_ABOUT = (
    "means over the four datasets; the ACD of Amazon and Mixture is their Few-Shot, as in the paper"
)

Averages: TypeAlias = Mapping[str, float]
"""Scores by column, NaN if unknown: a kind of texts for accuracy, with `_ppl` for perplexity."""

_System: TypeAlias = tuple[str, str]
"""A row of a table: a model and an arm."""


def averaged(rows: Sequence[Comparison]) -> Iterator[Grid]:
    """Yield both tables for each way of asking, if some score is there of all four datasets."""
    for variant in dict.fromkeys(row.variant for row in rows):
        scores: dict[_System, dict[tuple[str, str], float]] = defaultdict(dict)
        for row in rows:
            name, half = row.spec.score(row.metric)
            if row.variant != variant or row.kind == "published" or name not in _ENDS:
                continue
            dataset = row.spec.sets.corpus
            protocol = row.spec.sets.facets["protocol"]
            is_acd = protocol == "fewshot" and dataset in _WITHOUT_ACD
            for of in [protocol, "acd"] if is_acd else [protocol]:
                column = f"{joined('_', of, half)}{_ENDS[name]}"
                for arm, cell in (("as is", row.as_is), *row.by_arm):
                    if cell.mean is not None:
                        scores[row.name, arm][dataset, column] = cell.mean
        by_system: dict[_System, Averages] = {}
        for system, of_system in scores.items():
            means = {
                column: fmean(of_system.get((dataset, column), math.nan) for dataset in _DATASETS)
                for column in _with_ppl(_KINDS | _FEW)
            }
            by_system[system] = means | derived(means)
        title = joined(", ", rows[0].spec.about.title, "averages", variant)
        yield from _grid(title, _with_ppl(_KINDS) | _AVERAGES, by_system)
        few = _with_ppl(_FEW) | {"fewshot_gap": "Few-Shot gap"}
        yield from _grid(f"{title}, Few-Shot", few, by_system)


def derived(scores: Averages) -> dict[str, float]:
    """Return A, P and G over all kinds of texts, and Few-Shot's G."""
    holdout, acd, fewshot = (
        relative_gap(scores[f"{protocol}_id"], scores[f"{protocol}_comp"])
        for protocol in ("holdout", "acd", "fewshot")
    )
    return {
        "acc": fmean(scores[kind] for kind in _KINDS),
        "ppl": fmean(scores[f"{kind}_ppl"] for kind in _KINDS),
        "gap": fmean([holdout, acd]),
        "fewshot_gap": fewshot,
    }


def relative_gap(in_training: float, comp: float) -> float:
    """Return how much lower the compositional accuracy is, in per cent of the other one."""
    return 100 * (in_training - comp) / in_training if in_training else math.nan


def _with_ppl(kinds: Mapping[str, str]) -> dict[str, str]:
    """Return the columns of kinds of texts with their headers, those of perplexity too."""
    ends = {"": "", "_ppl": " PPL"}
    return {
        f"{kind}{end}": f"{title}{more}"
        for kind, title in kinds.items()
        for end, more in ends.items()
    }


def _grid(
    title: str, columns: Mapping[str, str], by_system: Mapping[_System, Averages]
) -> Iterator[Grid]:
    """Yield a table, unless it is empty, with the printed rows.

    Notes stand on printed cells that are not what the paper's tables give.
    """
    notes, paper = Notes(), list[Line]()
    runs: list[Line] = [
        (*system, *(_number(averaged[column]) for column in columns))
        for system, averaged in by_system.items()
        if not all(math.isnan(averaged[column]) for column in columns)
    ]
    of_averages = lines(BENCHMARK)["averages"] if runs else ()
    for model, printed in groupby(of_averages, lambda line: line["model"]):
        cells = dict.fromkeys(columns, Number(""))
        for line in printed:
            if line["metric"] in cells:
                letters = notes.letters(line["note"])
                cells[line["metric"]] = _number(float(line["value"]), letters)
        paper.append((model, "", *cells.values()))
    if runs:
        header = ("model", "arm", *columns.values())
        yield Grid(title, _ABOUT, header, {"run": runs, "published": paper}, notes.texts)


def _number(value: float, notes: tuple[str, ...] = ()) -> Number:
    return Number("" if math.isnan(value) else f"{value:.2f}", notes=notes)
