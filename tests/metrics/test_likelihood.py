"""Adv-Acc and perplexity: by hand, and as their definitions."""

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
from spor_tasks.metrics.totals import MEAN, RATIO, Less
from tests.support.scores import judge, scores_of

UNITS = (AttributeValue("city", "0"),)
LOW, SAME, BARE = Likelihood(-3.0, 3, 9), Likelihood(-6.0, 3, 9), Likelihood(-3.0, None, 9)


def scores(*pairs):
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


def test_means_over_tokens_and_bytes_differ_and_ties_lose_but_count_as_half_if_distinct():
    values = scores(("Most . | x", (Likelihood(-12.0, 6, 24), Likelihood(-10.0, 4, 24))))
    assert (values["adv_acc"], values["adv_acc_byte"]) == (100, 0)  # -2.0 against -2.5 by token
    values = scores(
        ("a b | a b", (SAME, SAME)), ("a b | b a", (SAME, SAME)), ("c d | d c", (LOW, SAME))
    )
    assert values["adv_acc"] == values["adv_identical"] == pytest.approx(100 / 3)
    assert values["adv_acc_distinct"] == 75
    for contrast, identical in (
        (Contrast(UNITS, "a b"), 100),
        (Contrast(UNITS, "a b", "a template"), 0),
        (Contrast((AttributeValue("town", "1"),), "a b"), 0),
    ):
        one = Sample("0", "logicnlg", UNITS, ("a b",), {}, contrast)
        assert judge(ADVERSARIAL, one, SAME, SAME).values["adv_identical"] == identical


def test_without_a_tokenizer_scores_by_byte_alone_have_a_value():
    values = scores(("a | b", (BARE, Likelihood(-4.0, None, 9))))
    assert math.isnan(values["adv_acc"])
    assert values["adv_acc_byte"] == 100
    values = scores(("a | b", (BARE,)))
    assert math.isnan(values["ppl"])
    assert values["bpb"] == pytest.approx(3 / math.log(2) / 9)
    with pytest.raises(CorpusError):  # without a false text
        ADVERSARIAL.judge([Sample("a", "logicnlg", UNITS, ("a",))], [(LOW, LOW)])


LOSSES = st.lists(
    st.tuples(st.integers(0, 4), st.floats(0, 50), st.integers(1, 40)), min_size=1, max_size=20
)


@given(LOSSES)
def test_perplexity_is_that_of_the_mean_over_tables(rows):
    def mean(*tables):
        losses, tokens = zip(*(row[1:] for row in rows if row[0] in tables), strict=True)
        return sum(losses) / sum(tokens)

    tables = {table for table, _, _ in rows}
    assert GROUP_PERPLEXITY.value(rows) == pytest.approx(math.exp(fmean(map(mean, tables))))
    assert RATIO.value([row[1:] for row in rows]) == pytest.approx(mean(*tables))
    # The statistics of whole tables add up to those of a corpus that has these tables.
    statistics = GROUP_PERPLEXITY.statistics(rows)
    first = np.array([row[0] == rows[0][0] for row in rows])
    drawn = statistics.sum(axis=0) + statistics[first].sum(axis=0)
    copies = [(9, loss, tokens) for group, loss, tokens in rows if group == rows[0][0]]
    assert GROUP_PERPLEXITY.score(drawn) == pytest.approx(GROUP_PERPLEXITY.value([*rows, *copies]))
    assert GROUP_PERPLEXITY.value([None, *rows]) == GROUP_PERPLEXITY.value(rows)
    assert math.isnan(GROUP_PERPLEXITY.value([None]))
    assert math.isnan(RATIO.value([None]))


def test_the_gap_has_an_error_of_both_halves():
    totals = Less(MEAN, MEAN)
    seen, unseen = [(100.0, 1, 0, 0)] * 6 + [(0.0, 1, 0, 0)] * 4, [(0, 0, 100.0, 1)] * 3
    rows = [*seen, *unseen, *[(0, 0, 0.0, 1)] * 7]
    assert totals.value(rows) == pytest.approx(30)
    spread = math.sqrt(100 * (60 * 40 / 1000 + 30 * 70 / 1000))
    assert totals.stderr(rows) == pytest.approx(spread, rel=0.06)
