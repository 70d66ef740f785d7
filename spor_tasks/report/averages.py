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

from spor_tasks.core.sample import SetName
from spor_tasks.corpora.compmctg.spaces import PUBLISHED
from spor_tasks.report.grid import Grid, Line, Notes, Number, joined
from spor_tasks.report.published import lines
from spor_tasks.results.rows import Comparison

BENCHMARK = "compmctg"
_DATASETS = tuple(space.name for space in PUBLISHED)
_WITHOUT_ACD = frozenset(("amazon", "mixture"))  # which have too few combinations
_KINDS = ("original", "holdout_id", "holdout_comp", "acd_id", "acd_comp")
_FEW = ("fewshot_id", "fewshot_comp")
_TITLES = {
    "original": "Original",
    "holdout": "Hold-Out",
    "acd": "ACD",
    "fewshot": "Few-Shot",
    "id": "i.d.",
    "comp": "comp.",
    "ppl": "PPL",
}
_AVERAGES = {
    "acc": "Accuracy, average",
    "ppl": "PPL, average",
    "gap": "Gap, average",
    "fewshot_gap": "Few-Shot gap",
}
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
        own = [row for row in rows if row.variant == variant and row.kind != "published"]
        by_system = {system: averages(scores) for system, scores in _scores(own).items()}
        title = joined(", ", rows[0].spec.about.title, "averages", variant)
        whole = (*_with_ppl(_KINDS), "acc", "ppl", "gap")
        yield from _grid(title, whole, by_system)
        yield from _grid(f"{title}, Few-Shot", (*_with_ppl(_FEW), "fewshot_gap"), by_system)


def averages(scores: Mapping[tuple[str, str], float]) -> Averages:
    """Return the averages of one system from its scores by dataset and column.

    A column without the scores of all datasets is NaN, and so is what is made of it.
    """
    means = {
        column: fmean(scores.get((dataset, column), math.nan) for dataset in _DATASETS)
        for column in _with_ppl((*_KINDS, *_FEW))
    }
    return means | derived(means)


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


def _scores(rows: Sequence[Comparison]) -> Mapping[_System, Mapping[tuple[str, str], float]]:
    """Return the scores of each system by dataset and column, over all splits of a protocol."""
    by_system: dict[_System, dict[tuple[str, str], float]] = defaultdict(dict)
    for row in rows:
        dataset, protocol = row.spec.name.corpus, (row.spec.sets.split_of or row.spec.name).protocol
        for column in _columns(dataset, protocol, row.metric):
            for arm, cell in (("as is", row.as_is), *row.by_arm):
                if cell.mean is not None:
                    by_system[row.name, arm][dataset, column] = cell.mean
    return by_system


def _columns(dataset: str, protocol: str, metric: str) -> Iterator[str]:
    """Yield the columns that a score of a dataset and protocol is in."""
    for score, end in (("mctg_acc", ""), ("mctg_ppl", "_ppl")):
        for half in ("", "_id", "_comp"):
            if metric == f"{score}{half}" and bool(half) == (protocol != "original"):
                yield f"{protocol}{half}{end}"
                if protocol == "fewshot" and dataset in _WITHOUT_ACD:
                    yield f"acd{half}{end}"


def _with_ppl(kinds: Sequence[str]) -> tuple[str, ...]:
    return tuple(column for kind in kinds for column in (kind, f"{kind}_ppl"))


def _grid(
    title: str, columns: Sequence[str], by_system: Mapping[_System, Averages]
) -> Iterator[Grid]:
    runs: list[Line] = [
        (*system, *(_number(averaged[column]) for column in columns))
        for system, averaged in by_system.items()
        if not all(math.isnan(averaged[column]) for column in columns)
    ]
    if runs:
        paper, notes = _paper(columns)
        header = ("model", "arm", *map(_header, columns))
        yield Grid(title, _ABOUT, header, tuple(runs), paper, notes)


def _paper(columns: Sequence[str]) -> tuple[tuple[Line, ...], Mapping[str, str]]:
    """Return the printed rows, with notes on cells that are not what the paper's tables give."""
    notes, paper_lines = Notes(), list[Line]()
    of_averages = lines(BENCHMARK)[SetName(BENCHMARK, "", "averages")]
    for model, printed in groupby(of_averages, lambda line: line["model"]):
        cells = dict.fromkeys(columns, _number(math.nan))
        for line in printed:
            if line["metric"] in cells:
                letters = notes.letters(line["note"])
                cells[line["metric"]] = _number(float(line["value"]), letters)
        paper_lines.append((model, "", *cells.values()))
    return tuple(paper_lines), notes.texts


def _number(value: float, notes: tuple[str, ...] = ()) -> Number:
    return Number("" if math.isnan(value) else f"{value:.2f}", notes=notes)


def _header(column: str) -> str:
    return _AVERAGES.get(column) or " ".join(_TITLES[part] for part in column.split("_"))
