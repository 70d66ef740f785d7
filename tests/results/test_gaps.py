"""Gaps: the difference of a score between two kinds of samples, with its interval."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spor_tasks.core.contracts import Gap
from spor_tasks.core.errors import ConfigError
from spor_tasks.metrics.base import Column, score_info
from spor_tasks.metrics.totals import GROUP_MEANS, MEAN, RATIO, Totals, Value
from spor_tasks.results.comparisons import comparisons
from spor_tasks.results.evidence import Evidence, Logged, read_values
from spor_tasks.results.runs import Run
from spor_tasks.results.runs import collect as collect_runs
from spor_tasks.results.samples import find
from spor_tasks.results.statistics import (
    clusters_of,
    over_runs,
    percentile_interval,
    resampled_scores,
)
from spor_tasks.results.tables import label
from tests.support.intervals import interval
from tests.support.result_files import distinct, sample_row, write_result, write_samples

GAP = Gap("chrf", "coverage")


@pytest.mark.parametrize(
    ("totals", "values", "gap"),
    [
        (MEAN, [10.0, 20.0, None, 40.0], -25.0),
        (RATIO, [(1.0, 2.0), (2.0, 2.0), None, (9.0, 4.0)], 0.75 - 2.25),
        (GROUP_MEANS, [(2, 0.5), (3, 1.0), None, (4, -1.0)], 1.75),
    ],
)
def test_a_column_less_another_is_scored_as_their_difference(
    totals: Totals, values: list[Value], gap: float
) -> None:
    first = Column.of([*values[:2], None, None], totals)
    found = first.less(Column.of([None, None, *values[2:]], totals))
    assert found.value == pytest.approx(gap)
    assert found.scored.tolist() == [True, True, False, True]


def test_two_halves_without_a_sample_in_one_have_no_gap() -> None:
    none = Column.of([None, None])
    assert math.isnan(Column.of([1.0, 2.0]).less(none).value)
    assert interval(none.less(none), np.array([0, 1]), seed=0) is None


def test_what_is_known_of_a_gap_follows_from_its_scores() -> None:
    assert Gap.parse(GAP.name) == GAP
    assert Gap.parse("chrf") is None
    info = score_info(GAP.name)
    assert (info.low, info.high, info.higher_is_better) == (-100, 100, None)
    with pytest.raises(ConfigError):
        score_info(Gap("chrf", "unheard").name)


def halves(rng: np.random.Generator, pages: int, runs: int) -> tuple[list[Column], np.ndarray]:
    """Return gaps of runs that are as good on both halves, of pages that may be in both."""
    clusters = np.repeat(np.arange(pages), rng.integers(1, 5, pages))
    mixed, side = rng.random(pages) < 0.2, rng.random(pages) < 0.5
    is_first = np.where(mixed[clusters], rng.random(len(clusters)) < 0.5, side[clusters])
    common = 50 + rng.normal(0, 12, pages)[clusters]
    gaps = []
    for _ in range(runs):
        values = common + rng.normal(0, 15, len(clusters)) + rng.normal(0, 5)
        one, other = (
            Column.of([float(v) if kept else None for v, kept in zip(values, mask, strict=True)])
            for mask in (is_first, ~is_first)
        )
        gaps.append(one.less(other))
    return gaps, clusters


def test_halves_of_equal_quality_show_a_gap_about_as_often_as_the_interval_says() -> None:
    rng = np.random.default_rng(0)
    missed = {1: 0, 3: 0}
    for _ in range(200):
        for runs in missed:
            gaps, clusters = halves(rng, 120, runs)
            if runs == 1:
                scores = resampled_scores(gaps, clusters, seed=0, resamples=500)[:, 0]
                low, high = percentile_interval(scores) or (math.nan, math.nan)
            else:
                found = over_runs([gaps], clusters)
                assert found is not None
                low, high = found.interval()
            missed[runs] += not low <= 0 <= high
    assert max(missed.values()) <= 20  # of 200; 5 % are 10, with a standard deviation of 3
    assert min(missed.values()) >= 2


def test_a_seed_that_is_better_on_both_halves_does_not_widen_their_gap() -> None:
    values = np.random.default_rng(0).normal(50, 5, 100)
    runs = [
        Column.of([*(values[:50] + shift), *[None] * 50]).less(
            Column.of([*[None] * 50, *(values[50:] + shift)])
        )
        for shift in (0.0, 10.0)
    ]
    clusters = np.arange(100)
    both, one = over_runs([runs], clusters), over_runs([runs[:1]], clusters)
    assert both is not None
    assert one is not None
    assert both.error == pytest.approx(one.error)


def of_files(folder: Path, *, with_samples: bool = True) -> tuple[Run, ...]:
    """Write two runs of twenty samples, ten with one score and ten with the other; read them."""
    for seed in (0, 1):
        one, other = ([40.0 + seed + 2 * n for n in range(10)], [float(30 + n) for n in range(10)])
        file = write_result(
            folder / f"results_{seed}.json",
            n=20,
            seed=seed,
            scores={"parent": 50.0, "chrf": sum(one) / 10, "coverage": sum(other) / 10},
        )
        values = [{"chrf": value} for value in one] + [{"coverage": value} for value in other]
        rows = [
            sample_row(distinct(number), ["A text."], {"parent": 50.0, **scores})
            for number, scores in enumerate(values)
        ]
        if with_samples:
            write_samples(file, "spor_systematicity_mini", rows)
    return tuple(
        replace(
            result,
            spec=replace(
                result.spec, reported=("parent",), breakdown=("chrf", "coverage"), gaps=(GAP,)
            ),
            scores={**result.scores, GAP.name: result.scores["chrf"] - result.scores["coverage"]},
            stderrs={**result.stderrs, GAP.name: 3.0},
        )
        for result in collect_runs([folder]).runs
    )


def evidence_of(results: tuple[Run, ...]) -> Evidence:
    files = filter(None, map(find, results))
    names = ["parent", "chrf", "coverage"]
    return Evidence({file.run.id: read_values(file, names, {}) for file in files})


def test_a_gap_is_a_row_with_an_interval_and_without_a_test(tmp_path: Path) -> None:
    results = of_files(tmp_path)
    rows, _ = comparisons(results, evidence_of(results))
    (row,) = (row for row in rows if row.metric == GAP.name)
    cell = row.arms[0]
    assert cell.values == (14.5, 15.5)
    assert (row.is_tested, row.difference, cell.counts) == (False, None, ())
    assert cell.interval is not None
    assert cell.interval.source == "runs"
    assert cell.interval.low < 15 < cell.interval.high


def test_a_gap_of_one_run_has_a_bootstrap_over_the_samples_of_both(tmp_path: Path) -> None:
    results = of_files(tmp_path)[:1]
    found = evidence_of(results).interval(results, GAP.name)
    assert found is not None
    assert found.source == "samples"
    # Standard errors of 5.74 / √10 and 2.87 / √10, together 2.03.
    assert found.low == pytest.approx(14.5 - 1.96 * 2.03, abs=0.4)
    assert found.high == pytest.approx(14.5 + 1.96 * 2.03, abs=0.4)


def test_without_samples_the_standard_errors_of_both_scores_count(tmp_path: Path) -> None:
    results = of_files(tmp_path, with_samples=False)[:1]
    found = Evidence({}).interval(results, GAP.name)
    assert found is not None
    assert found.source == "stderr"
    assert found.low == pytest.approx(14.5 - 1.959964 * 3, abs=1e-5)


# --- Samples and their twins ----------------------------------------------------------------------


def test_the_gap_to_twins_is_paired_so_that_hard_samples_do_not_widen_it() -> None:
    rng = np.random.default_rng(0)
    hard = rng.normal(50, 25, 200)
    own, twin = (Column.of([*(hard + rng.normal(shift, 1, 200))]) for shift in (2, 0))
    found = interval(own.less(twin), np.arange(200), seed=0)
    assert found is not None
    low, high = found
    assert 1.5 < low < own.value - twin.value < high < 2.5


@pytest.mark.parametrize("owed", [0.0, 6.0])
def test_a_system_with_a_prior_on_known_entities_is_told_from_one_without(
    owed: float, tmp_path: Path
) -> None:
    """Two arms of one run each; the first owes points to having read the facts."""
    rng = np.random.default_rng(1)
    for arm, gap in (("atom", owed), ("combination", 0.0)):
        own = rng.normal(60, 5, 60)
        values = {"parent": own + gap, "parent_twin": own + rng.normal(0, 1, 60)}
        file = write_result(
            tmp_path / f"results_{arm}.json",
            n=60,
            arm=arm,
            seed=0,
            scores={name: float(np.mean(of)) for name, of in values.items()},
        )
        rows = [
            sample_row(distinct(n), ["A text."], {k: float(of[n]) for k, of in values.items()})
            for n in range(60)
        ]
        write_samples(file, "spor_systematicity_mini", rows)
    gap_of = Gap("parent", "parent_twin")
    results = tuple(
        replace(
            each,
            spec=replace(each.spec, reported=("parent", "parent_twin"), gaps=(gap_of,)),
            scores={
                **each.scores,
                gap_of.name: each.scores["parent"] - each.scores["parent_twin"],
            },
        )
        for each in collect_runs([tmp_path]).runs
    )
    files = filter(None, map(find, results))
    evidence = Evidence({f.run.id: read_values(f, ["parent", "parent_twin"], {}) for f in files})
    found, problems = comparisons(results, evidence)
    assert problems == ()
    (row,) = (row for row in found if row.metric == gap_of.name)
    assert label(row.metric) == "PARENT, original − twin"
    assert row.difference is not None
    assert row.difference.value == pytest.approx(owed, abs=0.6)
    assert row.difference.interval is not None
    assert (row.difference.interval.low > 0) == (owed > 0)
    assert row.difference.p is not None
    assert (row.difference.p < 0.01) == (owed > 0)


def test_runs_on_different_samples_have_no_samples_in_common() -> None:
    runs = [(Path(str(number)), "task") for number in range(3)]
    ids = [("a", "b"), ("a", "b"), ("a", "c")]
    keys = ("one", "one")
    evidence = Evidence(
        {
            run: Logged(each, clusters_of(keys), {}, keys)
            for run, each in zip(runs, ids, strict=True)
        }
    )
    assert evidence.has_samples(runs[:2])
    assert not evidence.has_samples(runs)
    assert not evidence.has_samples(())
