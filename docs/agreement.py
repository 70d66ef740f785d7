"""Correlate metrics with human judgements: the table of validity.md, and agreement.svg.

Run `SPOR_HUMAN_DIR=… python docs/agreement.py`; it takes a minute. The folder has three files of
JSON Lines, one judged output per row: `data` and `texts` as for `spor score`, the `output`, its
`input` and `system`, and `judgements`, which are numbers by name.
"""

import os
from collections.abc import Mapping
from itertools import product
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sacrebleu.metrics.bleu import BLEU
from scipy import stats

from spor_tasks.core.codec import SampleMaker, from_row
from spor_tasks.core.files import read_rows
from spor_tasks.core.sample import Sample
from spor_tasks.metrics.chrf import CHRF
from spor_tasks.metrics.coverage import COVERAGE
from spor_tasks.metrics.order import is_strict
from spor_tasks.metrics.parent import PARENT, PARENT_FULL_TABLE
from spor_tasks.metrics.slot_errors import CORPORA, SLOT_ERRORS
from spor_tasks.text import align
from spor_tasks.text.filters import first_line

TITLES = {"webnlg2017": "WebNLG 2017", "webnlg2020": "WebNLG 2020", "e2e2017": "E2E 2017"}
JUDGEMENTS = (
    *(("webnlg2017", "semantics"), ("webnlg2020", "correctness"), ("e2e2017", "missing")),  # drawn
    *(("webnlg2020", "datacoverage"), ("webnlg2020", "relevance"), ("e2e2017", "added")),
)
METRICS = ("parent", "parent_full_table", "chrf", "bleu", "coverage", "slot_errors", "fidelity")
LISTS = ("slots_missing", "slots_wrong", "slots_added")
LOOKS = {
    "texts": {"label": "texts", "color": "#0072b2", "marker": "o", "linestyle": ""},
    "systems": {"label": "systems", "color": "#d55e00", "marker": "s", "linestyle": ""},
}
LEADS = (("parent_full_table", "parent"), ("chrf", "parent"), ("fidelity", "coverage"))
RESAMPLES, SEED = 1_000, 0
MAJORITY, ALL = 0.5, 100
_BLEU = BLEU(effective_order=True)  # as sacrebleu advises for sentences


def scores(sample: Sample, output: str) -> dict[str, float]:
    """Return the scores of one output by metric, in the order of the table, and what is listed."""
    located = align.locate(sample.units, output, strict=is_strict(sample))
    scores = {"fidelity": 100.0 * (None not in located)}
    metrics = [COVERAGE]
    if sample.references:  # E2E's rows have none
        scores["bleu"] = _BLEU.sentence_score(output, list(sample.references)).score
        metrics += [PARENT, PARENT_FULL_TABLE, CHRF]
    for metric in metrics:
        ((values, _),) = metric.judge([sample], [(output,)])
        scores |= values
    if sample.corpus in CORPORA:
        ((_, details),) = SLOT_ERRORS.judge([sample], [(output,)])
        scores |= {name: float(bool(each)) for name, each in details.items()} | {
            "slot_errors": -details["slot_errors"]  # the fewer the better, unlike every other score
        }
    return {name: scores[name] for name in (*METRICS, *LISTS) if name in scores}


def read(file: Path) -> pd.DataFrame:
    """Return a row for each output: its input and system, its judgements, and its scores."""
    maker = SampleMaker(file.stem.rstrip("0123456789"))
    return pd.DataFrame(
        {"input": str(row["input"]), "system": row["system"], "letters": letters(row["output"])}
        | row["judgements"]
        | scores(from_row(row, maker, where=where, needs_texts=False), first_line(row["output"]))
        for where, row in read_rows(file)
    )


def letters(output: str) -> str:
    """Return a text as people read it: without case, and without spaces before punctuation."""
    return "".join(filter(str.isalnum, output.lower()))


def precision_and_recall(table: pd.DataFrame, judgement: str) -> pd.DataFrame:
    """Return precision and recall of what at least half of the people say, by what finds it.

    People are compared with other people on outputs that are equal but for case and punctuation.
    """
    judged = table[judgement] >= MAJORITY
    lists = ("slots_missing",) if judgement == "missing" else ("slots_wrong", "slots_added")
    findings = {
        " or ".join(lists): table[[*lists]].any(axis=1),
        "coverage": table["coverage"] < ALL,
    }
    rows = {}
    for name, finding in findings.items():
        both = (finding & judged).sum()
        rows[name] = {"precision": both / finding.sum(), "recall": both / judged.sum()}
    others = (
        table.assign(judged=judged).groupby(["input", "letters"])["judged"].agg(["sum", "size"])
    )
    pairs = (others["sum"] * (others["size"] - 1)).sum()
    agreed = (others["sum"] * (others["sum"] - 1)).sum()
    rows["other people"] = {"precision": agreed / pairs, "recall": agreed / pairs}
    return pd.DataFrame.from_dict(rows, orient="index")


def weights(inputs: int) -> np.ndarray:
    """Return how often each resample has each input; the first row is the data itself."""
    rng = np.random.default_rng(SEED)
    drawn = rng.multinomial(inputs, np.full(inputs, 1 / inputs), RESAMPLES)
    return np.vstack([np.ones((1, inputs)), drawn])


def pearson(x: np.ndarray, y: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the weighted correlation of each row."""
    total = counts.sum(axis=1, keepdims=True)
    x, y = (each - (counts * each).sum(axis=1, keepdims=True) / total for each in (x, y))
    covariance, first, second = ((counts * each).sum(axis=1) for each in (x * y, x**2, y**2))
    return covariance / np.sqrt(first * second)


def correlate(table: pd.DataFrame, metric: str, judgement: str, level: str) -> np.ndarray:
    """Return Pearson's r of the data, then of resamples of whole inputs with all their outputs."""
    inputs = pd.factorize(table["input"], sort=True)[0]
    drawn = weights(inputs.max() + 1)[:, inputs]
    scores, judgements = table[metric].to_numpy(float), table[judgement].to_numpy(float)
    if level == "texts":
        return pearson(scores, judgements, drawn)
    systems = pd.get_dummies(table["system"]).to_numpy(float)
    means = [(drawn * each) @ systems / (drawn @ systems) for each in (scores, judgements)]
    return pearson(*means, np.ones_like(means[0]))


def williams(table: pd.DataFrame, first: str, second: str, judgement: str) -> float:
    """Return p that two metrics correlate alike (Williams, 1959, as in Steiger, 1980, eq. 7)."""
    r = table[[first, second, judgement]].corr().to_numpy()
    (first, second, shared), n = (r[0, 2], r[1, 2], r[0, 1]), len(table)
    rest = 1 - first**2 - second**2 - shared**2 + 2 * first * second * shared
    spread = 2 * rest * (n - 1) / (n - 3) + (first + second) ** 2 / 4 * (1 - shared) ** 3
    t = (first - second) * np.sqrt((n - 1) * (1 + shared) / spread)
    return 2 * float(stats.t.sf(abs(t), n - 3))


def lead(
    table: pd.DataFrame, first: str, second: str, judgement: str, level: str
) -> tuple[float, float, float]:
    """Return by how much the first metric correlates more, and the ends of the 95 % interval."""
    one, other = (correlate(table, metric, judgement, level) for metric in (first, second))
    value, *resamples = one - other
    low, high = np.percentile(resamples, (2.5, 97.5))
    return value, low, high


def study(table: pd.DataFrame, judgement: str) -> pd.DataFrame:
    """Return r, its 95 % interval, and p against chrF or coverage, by level and metric."""
    means = table.groupby("system").mean(numeric_only=True)
    best = "chrf" if "chrf" in table else "coverage"
    rows = {}
    for level, metric in product(LOOKS, table.columns.intersection(METRICS, sort=False)):
        r, *resamples = correlate(table, metric, judgement, level)
        low, high = np.percentile(resamples, (2.5, 97.5))
        points = table if level == "texts" else means
        p = None if metric == best else williams(points, metric, best, judgement)
        rows[level, metric] = {"r": r, "low": low, "high": high, "p": p}
    return pd.DataFrame.from_dict(rows, orient="index")


def plot(studies: Mapping[str, pd.DataFrame], file: Path) -> None:
    """Draw a panel for each study, with a point and an interval per level and metric."""
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": file.name})  # small, and the same
    figure, panels = plt.subplots(1, len(studies), figsize=(9.3, 2.8), layout="constrained")
    for axes, (title, rows) in zip(panels, studies.items(), strict=True):
        for level, look in LOOKS.items():
            chosen = rows.loc[level]
            axes.errorbar(
                chosen["r"],
                chosen.index,
                xerr=[chosen["r"] - chosen["low"], chosen["high"] - chosen["r"]],
                **look,
            )
        axes.set(title=title, xlabel="Pearson's r")
        axes.set_ylim(len(METRICS) - 0.5, -0.5)
        axes.grid(axis="x", alpha=0.3)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.savefig(file, metadata={"Date": None})


if __name__ == "__main__":
    folder = Path(os.environ["SPOR_HUMAN_DIR"])
    tables = {name: read(folder / f"{name}.jsonl") for name in TITLES}
    studies = {f"{TITLES[name]}: {each}": study(tables[name], each) for name, each in JUDGEMENTS}
    for title, rows in studies.items():
        print(f"\n{title}\n{rows.round(3).to_string(na_rep='')}")
    for judgement in ("missing", "added"):
        rows = precision_and_recall(tables["e2e2017"], judgement)
        print(f"\n{judgement}\n{rows.round(3).to_string()}")
    for (name, judgement), (first, second) in product(JUDGEMENTS, LEADS):
        if not {first, second} - {*tables[name]}:
            leads = [lead(tables[name], first, second, judgement, level) for level in LOOKS]
            shown = "; ".join(f"{v:.3f} [{low:.3f}, {high:.3f}]" for v, low, high in leads)
            print(f"{TITLES[name]}, {judgement}: {first} - {second}, texts; systems: {shown}")
    plot(dict(list(studies.items())[:3]), Path(__file__).with_suffix(".svg"))
