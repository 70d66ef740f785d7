"""Gaps: the difference of a score between two kinds of samples, with its interval."""

import math
from dataclasses import replace

import numpy as np
import pytest

from spor_tasks.core.contracts import Gap, Score
from spor_tasks.core.errors import ConfigError
from spor_tasks.metrics.scores import info_of, score_of
from spor_tasks.metrics.tally import Column
from spor_tasks.metrics.totals import GROUP_MEANS, MEAN, RATIO
from spor_tasks.results.compare import comparisons
from spor_tasks.results.compare import interval as interval_of
from spor_tasks.results.facts import KeyGap
from spor_tasks.results.logged import Logged, Reader, same_samples
from spor_tasks.results.runs import collect
from spor_tasks.results.stats import over_runs
from tests.support.result_files import declaring, distinct, rows_of, write_rows
from tests.support.scores import interval

GAP = KeyGap("chrf", "coverage")


@pytest.mark.parametrize(
    ("totals", "values", "gap"),
    [
        (MEAN, [10.0, 20.0, None, 40.0], -25.0),
        (RATIO, [(1.0, 2.0), (2.0, 2.0), None, (9.0, 4.0)], 0.75 - 2.25),
        (GROUP_MEANS, [(2, 0.5), (3, 1.0), None, (4, -1.0)], 1.75),
    ],
)
def test_columns_have_a_difference(totals, values, gap):
    first, none = Column.of([*values[:2], None, None], totals), Column.of([None] * 4, totals)
    found = first.less(Column.of([None, None, *values[2:]], totals))
    assert found.value == pytest.approx(gap)
    assert found.scored.tolist() == [True, True, False, True]
    assert math.isnan(first.less(none).value)
    assert interval(none.less(none), np.arange(4)) is None


def test_what_is_known_of_a_gap_follows_from_its_scores():
    info = info_of(Gap(*map(score_of, GAP)))
    assert (info.low, info.high, info.higher_is_better) == (-100, 100, None)
    with pytest.raises(ConfigError):
        info_of(Gap(Score("chrf"), Score("unheard")))


def test_a_seed_that_is_better_on_both_halves_does_not_widen_their_gap():
    values, nothing = np.random.default_rng(0).normal(50, 5, 100), [None] * 50
    one, other = (
        Column.of([*values[:50] + more, *nothing]).less(Column.of([*nothing, *values[50:] + more]))
        for more in (0.0, 10.0)
    )
    both, alone = (over_runs([runs], np.arange(100)) for runs in ([one, other], [one]))
    assert both.error == pytest.approx(alone.error)


def write(folder, name, values, **run):
    """Write a run whose samples have these values by score, or some of them."""
    logged = [
        {score: value for score, value in zip(values, each, strict=True) if value is not None}
        for each in zip(*values.values(), strict=True)
    ]
    rows = rows_of(map(distinct, range(len(logged))), [["A text."]] * len(logged), logged)
    write_rows(folder / f"results_{name}.json", rows, task="spor_systematicity_mini", **run)


def runs_in(folder, gap, **declared):
    """Read the runs as if their task declared a gap."""
    return tuple(
        replace(
            run,
            spec=declaring(run, gaps=(gap,), **declared).spec,
            scores={**run.scores, gap.name: run.scores[gap[0]] - run.scores[gap[1]]},
            log=replace(run.log, stderrs={**run.log.stderrs, gap.name: 3.0}),
        )
        for run in collect([folder]).runs
    )


@pytest.fixture
def runs(tmp_path):
    """Two runs of twenty samples, ten with one score and ten with the other."""
    nothing = [None] * 10
    for seed in (0, 1):
        values = {
            "parent": [50.0] * 20,
            "chrf": [*(40.0 + seed + 2 * n for n in range(10)), *nothing],
            "coverage": [*nothing, *(30.0 + n for n in range(10))],
        }
        write(tmp_path, str(seed), values, seed=seed)
    return runs_in(tmp_path, GAP, reported=("parent",), breakdown=("chrf", "coverage"))


def test_a_gap_is_a_row_with_an_interval_and_without_a_test(runs):
    rows, _ = comparisons(runs, Reader().read(runs)[0])
    (row,) = (row for row in rows if row.metric == GAP.name)
    cell = row.arms[0]
    assert cell.values == (14.5, 15.5)
    assert (row.is_tested, row.difference, cell.counts) == (False, None, ())
    assert cell.interval.source == "runs"
    assert cell.interval.low < 15 < cell.interval.high


def test_a_gap_of_one_run_has_a_bootstrap_over_the_samples_of_both(runs):
    found = interval_of(Reader().read(runs[:1])[0], GAP.name, runs[:1])
    assert found.source == "samples"
    reach = 1.96 * 2.03  # standard errors of 5.74 / √10 and 2.87 / √10, together 2.03
    assert (found.low, found.high) == pytest.approx((14.5 - reach, 14.5 + reach), abs=0.4)
    alone = interval_of({}, GAP.name, runs[:1])  # without samples, by the errors of both scores
    assert alone.source == "stderr"
    assert alone.low == pytest.approx(14.5 - 1.959964 * 3, abs=1e-5)


def test_the_gap_to_twins_is_paired_so_that_hard_samples_do_not_widen_it():
    rng = np.random.default_rng(0)
    hard = rng.normal(50, 25, 200)
    own, twin = (Column.of([*(hard + rng.normal(shift, 1, 200))]) for shift in (2, 0))
    low, high = interval(own.less(twin), np.arange(200))
    assert 1.5 < low < own.value - twin.value < high < 2.5


@pytest.mark.parametrize("prior", [0.0, 6.0])
def test_a_prior_on_known_entities_is_seen(prior, tmp_path):
    """Two arms of one run each; the first scores more because it has read the facts."""
    rng = np.random.default_rng(1)
    for arm, more in (("atom", prior), ("combination", 0.0)):
        own = rng.normal(60, 5, 60)
        values = {"parent": own + more, "parent_twin": own + rng.normal(0, 1, 60)}
        write(tmp_path, arm, {name: [*map(float, of)] for name, of in values.items()}, arm=arm)
    gap = KeyGap("parent", "parent_twin")
    runs = runs_in(tmp_path, gap, reported=(*gap,))
    found, problems = comparisons(runs, Reader().read(runs)[0])
    assert problems == ()
    (row,) = (row for row in found if row.metric == gap.name)
    assert row.score.label == "PARENT, original − twin"
    difference = row.difference
    assert difference.value == pytest.approx(prior, abs=0.6)
    assert (difference.interval.low > 0) == (difference.p < 0.01) == (prior > 0)


@pytest.mark.parametrize(("long", "noted"), [(20, False), (2000, True)])
def test_a_few_outputs_with_most_of_the_words_are_named_beside_the_score(long, noted, tmp_path):
    """Of forty outputs three are long; BLEU is of all words."""
    lengths = np.array([long] * 3 + [20] * 37)[:, None] - np.arange(4)
    for seed in (0, 1):
        found = lengths - lengths // (3 + seed)
        values = np.hstack([found, lengths, lengths[:, :1], lengths[:, :1]]).tolist()
        write(tmp_path, str(seed), {"totto_bleu": values}, seed=seed)
    runs = [declaring(run, reported=("totto_bleu",)) for run in collect([tmp_path]).runs]
    (row,), _ = comparisons(runs, Reader().read(runs)[0])
    assert any("as 4 equal clusters" in note for note in row.arms[0].notes) == noted


def test_runs_on_different_samples_have_no_samples_in_common(runs):
    first, second, other, without = (replace(runs[0], key=key) for key in "0123")
    logged = {
        run.id: Logged((*ids,), np.array([0, 0]), {}, ("one", "one"))
        for run, ids in ((first, "ab"), (second, "ab"), (other, "ac"))
    }
    assert same_samples(logged, [first, second]) == [logged[first.id], logged[second.id]]
    assert same_samples(logged, [first, other]) is None
    assert same_samples(logged, [first, without]) is None
    assert same_samples(logged, []) is None
