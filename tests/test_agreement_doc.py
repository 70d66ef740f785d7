"""What docs/metrics.md says of people's judgements is what `spor metrics agreement` finds."""

import re
import shlex
from collections.abc import Mapping, Sequence
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from spor_tasks import cli
from spor_tasks.core.sample import Sample
from spor_tasks.evaluation import agreement
from spor_tasks.evaluation.agreement import Agreement, Correlation, Difference
from spor_tasks.evaluation.judged import MEASURES, Judged, Measure, read_judged
from spor_tasks.metrics.totals import Numbers
from spor_tasks.text import align
from tests.conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "metrics.md").read_text("utf-8")
SECTION = PAGE.partition("## What agrees with people\n")[2].partition("\n## ")[0]
JUDGEMENTS = {"webnlg2017": "semantics", "webnlg2020": "correctness", "e2e2017": "missing"}
LEVELS = ("texts", "systems")
METRICS = ("parent", "parent_full_table", "chrf", "bleu", "coverage", "fidelity")

Found = Mapping[str, Agreement]


def cells(first: str) -> list[str]:
    """The other cells of the row that begins with this one."""
    (row,) = re.findall(rf"^\| {re.escape(first)} \|(.*)\|$", SECTION, re.MULTILINE)
    return [cell.strip() for cell in row.split("|")]


def _strict(samples: Sequence[Sample], outputs: Sequence[str]) -> list[dict[str, float]]:
    places = (
        align.locate(sample.units, output, strict=True)
        for sample, output in zip(samples, outputs, strict=True)
    )
    return [{"strict": 100 - 100 * each.count(None) / len(each)} for each in places]


@pytest.fixture(scope="module")
def judged(human_dir: Path) -> tuple[Judged, ...]:
    return read_judged(
        [human_dir / f"{name}.jsonl" for name in JUDGEMENTS],
        metrics=(*METRICS, "strict"),
        measures=(*MEASURES, Measure(("strict",), _strict)),
    )


@pytest.fixture(scope="module")
def found(judged: tuple[Judged, ...]) -> Found:
    table = agreement.agreements(judged, judgements=tuple(JUDGEMENTS.values()))
    others = ("datacoverage", "relevance", "added", "quality")
    # Of these the page has no intervals.
    text = agreement.agreements(judged, judgements=others, resamples=1)
    return {each.judgement: each for each in (*table, *text)}


def correlation(found: Found, judgement: str, metric: str, over: str = "texts") -> Correlation:
    (row,) = (
        row for row in found[judgement].correlations if (row.metric, row.over) == (metric, over)
    )
    return row


def difference(found: Found, judgement: str, one: str, other: str, over: str) -> Difference:
    (row,) = (
        row
        for row in found[judgement].differences
        if (row.over, {row.metric, row.other}) == (over, {one, other})
    )
    return row


def test_the_command_is_one_and_names_the_metrics_of_the_table() -> None:
    (typed,) = re.findall(r"^spor (metrics agreement .*)$", SECTION, re.MULTILINE)
    options = cli.parser().parse_args(shlex.split(typed))
    assert [path.stem for path in options.files] == list(JUDGEMENTS)
    assert options.judgement == list(JUDGEMENTS.values())
    assert tuple(options.metric) == METRICS
    for metric in METRICS:
        assert len(cells(f"`{metric}`")) == 6


def test_the_example_of_a_file_is_one(tmp_path: Path) -> None:
    (rows,) = re.findall(r"^```jsonl\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)
    path = tmp_path / "judged.jsonl"
    path.write_text(rows, "utf-8")
    (table,) = read_judged([path])
    assert {"bleurt", "parent", "coverage"} <= table.scores.keys()
    assert np.isnan(table.judgements["fluency"]).tolist() == [False, True]
    assert np.isnan(table.scores["parent"]).tolist() == [False, True]


def test_there_are_as_many_texts_and_systems_as_the_page_says(found: Found) -> None:
    told = [
        cell
        for judgement in JUDGEMENTS.values()
        for each in [found[judgement]]
        for cell in (f"{each.texts:,} for {each.inputs:,} inputs", f"{each.systems:,}")
    ]
    assert cells("n") == told
    assert {each.left_out for each in found.values()} == {0}


@pytest.mark.parametrize("metric", METRICS)
def test_correlations_are_those_of_the_table(found: Found, metric: str) -> None:
    for cell, (judgement, over) in zip(
        cells(f"`{metric}`"), product(JUDGEMENTS.values(), LEVELS), strict=True
    ):
        rows = {(row.metric, row.over): row.pearson for row in found[judgement].correlations}
        if cell == "–":
            assert (metric, over) not in rows
            continue
        value, low, high = map(float, re.findall(r"-?\d\.\d{3}", cell))
        estimate = rows[metric, over]
        assert f"{estimate.value:.3f}" == f"{value:.3f}"
        # Another numpy may draw other resamples.
        assert (estimate.low, estimate.high) == pytest.approx((low, high), abs=0.02)


def test_chrf_is_ahead_on_single_texts(found: Found) -> None:
    for judgement in ("semantics", "correctness"):
        for other in ("parent", "parent_full_table", "bleu", "coverage"):
            row = difference(found, judgement, "chrf", other, "texts")
            assert row.p < 0.001
            assert row.difference.low * row.difference.high > 0
            assert found[judgement].strongest("texts") == "chrf"


def test_systems_do_not_tell_the_metrics_apart(found: Found) -> None:
    for judgement in ("semantics", "correctness"):
        for pair in combinations(("parent", "parent_full_table", "chrf", "coverage"), 2):
            assert difference(found, judgement, *pair, "systems").p > 0.18


def auc(score: Numbers, positive: NDArray[np.bool_]) -> float:
    of_pairs = stats.mannwhitneyu(score[positive], score[~positive]).statistic
    return float(of_pairs / positive.sum() / (~positive).sum())


def test_what_the_text_says_of_single_figures_is_so(
    judged: tuple[Judged, ...], found: Found
) -> None:
    figures = {
        "the published table, 2017": -difference(
            found, "semantics", "parent", "parent_full_table", "texts"
        ).difference.value,
        "the published table, 2020": -difference(
            found, "correctness", "parent", "parent_full_table", "texts"
        ).difference.value,
        "coverage of data, systems": correlation(
            found, "datacoverage", "coverage", "systems"
        ).pearson.value,
        "coverage of data": correlation(found, "datacoverage", "coverage").pearson.value,
        "chrF of data": correlation(found, "datacoverage", "chrf").pearson.value,
        "added": correlation(found, "added", "coverage").pearson.value,
        "relevance": correlation(found, "relevance", "chrf").pearson.value,
        "quality": correlation(found, "quality", "coverage").pearson.value,
        "quality, ranks": correlation(found, "quality", "coverage").spearman.value,
    }
    assert found["relevance"].strongest("texts") == "chrf"
    assert found["datacoverage"].strongest("systems") == "coverage"
    e2e = judged[2]
    missed = e2e.judgements["missing"] >= 0.5
    for name in ("coverage", "strict"):
        score = e2e.scores[name]
        incomplete = score < 100
        both = (incomplete & missed).sum()
        figures[f"{name}, recall"] = float(both / missed.sum())
        figures[f"{name}, precision"] = float(both / incomplete.sum())
        figures[f"{name}, area"] = auc(-score, missed)
    prose = " ".join(line for line in SECTION.splitlines() if not line.startswith("|"))
    told = set(re.findall(r"-?\d\.\d{3}", prose.replace("p < 0.001", "")))
    assert {what for what, value in figures.items() if f"{value:.3f}" not in told} == set()
    assert told == {f"{value:.3f}" for value in figures.values()}
    assert np.median(e2e.judgements["quality"]).round() == 93
    assert sorted(e2e.judgements["quality"])[-2:] == [27847, 37095]


def test_nothing_correlates_more_with_outputs_of_2020_than_the_page_says(
    human_dir: Path,
) -> None:
    found = agreement.agreements(read_judged([human_dir / "webnlg2020.jsonl"]), resamples=1)
    assert len(found) == 5
    for each in found:
        assert max(row.pearson.value for row in each.correlations if row.over == "texts") < 0.43
