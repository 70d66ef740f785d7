"""Adv-Acc and perplexity, by hand and against a slow computation."""

import json
import math
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import AttributeValue, Contrast, Sample
from spor_tasks.metrics.adversarial import ADVERSARIAL
from spor_tasks.metrics.likelihood import GROUP_PERPLEXITY, Likelihood
from spor_tasks.metrics.perplexity import PERPLEXITY
from spor_tasks.metrics.totals import RATIO
from tests.support.scores import judge, scores_of

UNITS = (AttributeValue("city", "0"),)
LOW, SAME, BARE = Likelihood(-3.0, 3, 9), Likelihood(-6.0, 3, 9), Likelihood(-3.0, None, 9)


def scores(*pairs: tuple[str, tuple[Likelihood, ...]]) -> dict[str, float]:
    """Return the scores of likelihoods by the texts `true | false` that they are of."""
    metric = ADVERSARIAL if len(pairs[0][1]) > 1 else PERPLEXITY
    samples = []
    for texts, _ in pairs:
        true, _, false = texts.partition(" | ")
        challenge = Contrast(UNITS, false)
        samples.append(Sample(true, "logicnlg", UNITS, (true,), {"name": "1.csv"}, challenge))
    judgements = metric.judge(samples, [likelihoods for _, likelihoods in pairs])
    json.dumps([judgement.details for judgement in judgements])
    return {score.name: score.value for score in scores_of(metric, judgements)}


def test_the_length_of_a_side_decides_who_wins_by_which_mean() -> None:
    values = scores(("Most . | x", (Likelihood(-12.0, 6, 24), Likelihood(-10.0, 4, 24))))
    assert values["adv_acc"] == 100  # -2.0 against -2.5 by token
    assert values["adv_acc_byte"] == 0


def test_ties_lose_but_count_as_half_among_distinct_pairs() -> None:
    values = scores(
        ("a b | a b", (SAME, SAME)), ("a b | b a", (SAME, SAME)), ("c d | d c", (LOW, SAME))
    )
    assert values["adv_acc"] == pytest.approx(100 / 3)
    assert values["adv_acc_distinct"] == 75
    assert values["adv_identical"] == pytest.approx(100 / 3)


@pytest.mark.parametrize(
    ("contrast", "identical"),
    [
        (Contrast(UNITS, "a b"), 100),
        (Contrast(UNITS, "a b", "a template"), 0),
        (Contrast((AttributeValue("town", "1"),), "a b"), 0),
    ],
)
def test_pairs_are_identical_if_nothing_differs(contrast: Contrast, identical: float) -> None:
    sample = Sample("0", "logicnlg", UNITS, ("a b",), {}, contrast)
    assert judge(ADVERSARIAL, sample, SAME, SAME).values["adv_identical"] == identical


def test_without_a_tokenizer_scores_by_byte_alone_have_a_value() -> None:
    values = scores(("a | b", (BARE, Likelihood(-4.0, None, 9))))
    assert math.isnan(values["adv_acc"])
    assert values["adv_acc_byte"] == 100
    values = scores(("a | b", (BARE,)))
    assert math.isnan(values["ppl"])
    assert values["bpb"] == pytest.approx(3 / math.log(2) / 9)


def test_a_sample_without_a_false_text_is_refused() -> None:
    with pytest.raises(CorpusError):
        ADVERSARIAL.judge([Sample("a", "logicnlg", UNITS, ("a",))], [(LOW, LOW)])


LOSSES = st.lists(
    st.tuples(st.integers(0, 4), st.floats(0, 50), st.integers(1, 40)), min_size=1, max_size=20
)


@given(LOSSES)
def test_perplexity_is_that_of_the_mean_over_tables(rows: list[tuple[int, float, int]]) -> None:
    def mean(*tables: int) -> float:
        losses, tokens = zip(*(row[1:] for row in rows if row[0] in tables), strict=True)
        return sum(losses) / sum(tokens)

    tables = {table for table, _, _ in rows}
    assert GROUP_PERPLEXITY.value(rows) == pytest.approx(math.exp(fmean(map(mean, tables))))
    assert RATIO.value([row[1:] for row in rows]) == pytest.approx(mean(*tables))


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
