"""Adv-Acc and perplexity, by hand and against a slow computation."""

import json
import math
import pickle
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import AttributeValue, Contrast, Sample
from spor_tasks.metrics.adversarial import ADVERSARIAL
from spor_tasks.metrics.base import Tally
from spor_tasks.metrics.likelihood import GROUP_PERPLEXITY, Likelihood
from spor_tasks.metrics.perplexity import PERPLEXITY
from spor_tasks.metrics.totals import RATIO

UNITS = (AttributeValue("city", "0"),)


def pair(true: str, false: str, table: str = "1.csv") -> Sample:
    return Sample(true, "logicnlg", UNITS, (true,), {"name": table}, Contrast(UNITS, false))


def scores(samples: list[Sample], likelihoods: list[tuple[Likelihood, ...]]) -> dict[str, float]:
    metric = ADVERSARIAL if len(likelihoods[0]) > 1 else PERPLEXITY
    tally = Tally(metric.scores)
    for judgement in metric.judge(samples, likelihoods):
        assert pickle.loads(pickle.dumps(judgement)) == judgement  # noqa: S301
        json.dumps(judgement.details)
        tally.add(judgement.values)
    return {score.name: score.value for score in tally.scores(metric.signature)}


def test_the_length_of_a_side_decides_who_wins_by_which_mean() -> None:
    long, short = Likelihood(-12.0, 6, 24), Likelihood(-10.0, 4, 24)
    found = scores([pair("The most people .", "x")], [(long, short)])
    assert found["adv_acc"] == 100  # -2.0 against -2.5 by token
    assert found["adv_acc_byte"] == 0


def test_ties_lose_but_count_as_half_among_distinct_pairs() -> None:
    same = Likelihood(-6.0, 3, 9)
    samples = [pair("a b", "a b"), pair("a b", "b a"), pair("c d", "d c")]
    found = scores(samples, [(same, same), (same, same), (Likelihood(-3.0, 3, 9), same)])
    assert found["adv_acc"] == pytest.approx(100 / 3)
    assert found["adv_acc_distinct"] == 75
    assert found["adv_identical"] == pytest.approx(100 / 3)


def test_without_a_tokenizer_only_what_needs_no_tokens_is_scored() -> None:
    one, other = Likelihood(-3.0, None, 9), Likelihood(-4.0, None, 9)
    found = scores([pair("a", "b")], [(one, other)])
    assert math.isnan(found["adv_acc"])
    assert found["adv_acc_byte"] == 100
    found = scores([pair("a", "b")], [(one,)])
    assert math.isnan(found["ppl"])
    assert found["bpb"] == pytest.approx(3 / math.log(2) / 9)


def test_a_sample_without_a_false_text_is_refused() -> None:
    alone = Sample("a", "logicnlg", UNITS, ("a",))
    with pytest.raises(CorpusError):
        ADVERSARIAL.judge([alone], [(Likelihood(-1.0, 1, 1),) * 2])


LOSSES = st.lists(
    st.tuples(st.integers(0, 4), st.floats(0, 50), st.integers(1, 40)), min_size=1, max_size=20
)


@given(LOSSES)
def test_perplexity_is_that_of_the_mean_over_tables(rows: list[tuple[int, float, int]]) -> None:
    tables = {group for group, _, _ in rows}
    means = [
        sum(loss for group, loss, _ in rows if group == table)
        / sum(tokens for group, _, tokens in rows if group == table)
        for table in tables
    ]
    assert GROUP_PERPLEXITY.value(rows) == pytest.approx(math.exp(fmean(means)))
    sums = [
        sum(column) for column in zip(*((loss, tokens) for _, loss, tokens in rows), strict=True)
    ]
    assert RATIO.value([row[1:] for row in rows]) == pytest.approx(sums[0] / sums[1])


@given(LOSSES)
def test_tables_drawn_twice_count_twice(rows: list[tuple[int, float, int]]) -> None:
    """The statistics of whole tables add up to those of a corpus that has these tables."""
    statistics = GROUP_PERPLEXITY.statistics(rows)
    first = np.array([row[0] == rows[0][0] for row in rows])
    drawn = statistics.sum(axis=0) + statistics[first].sum(axis=0)
    copies = [(9, loss, tokens) for group, loss, tokens in rows if group == rows[0][0]]
    assert GROUP_PERPLEXITY.score(drawn) == pytest.approx(GROUP_PERPLEXITY.value([*rows, *copies]))


def test_a_missing_verdict_has_no_statistics() -> None:
    assert math.isnan(GROUP_PERPLEXITY.value([None]))
    assert GROUP_PERPLEXITY.value([None, (1, 2.0, 2)]) == pytest.approx(math.e)
    assert math.isnan(RATIO.value([None]))
