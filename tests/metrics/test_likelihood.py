"""Adv-Acc, perplexity and discrimination: by hand, and as their definitions."""

import itertools
import json
import math
from collections import defaultdict
from dataclasses import replace
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import AttributeValue, Contrast, Rivals, Sample
from spor_tasks.metrics.adversarial import ADVERSARIAL
from spor_tasks.metrics.base import Tally, score_info
from spor_tasks.metrics.discrimination import DISCRIMINATION
from spor_tasks.metrics.groups import HALVES
from spor_tasks.metrics.likelihood import GROUP_PERPLEXITY, Likelihood
from spor_tasks.metrics.perplexity import PERPLEXITY
from spor_tasks.metrics.totals import RATIO
from tests.support.scores import judge, scores_of, values_of

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


ASPECTS = {"sentiment": ("Negative", "Positive"), "topic": ("Books", "Music", "Movies")}
COMBINATIONS = tuple(itertools.product(*ASPECTS.values()))
SEEN = {COMBINATIONS[number] for number in (0, 2, 4)}
NAMES = ("disc_acc", "disc_acc_within", "disc_aspects")
OVER_HALVES = [f"{name}_{half}" for name in NAMES for half in HALVES]


def units(combination):
    return tuple(map(AttributeValue, ASPECTS, combination))


def sample(own, *, halves=True):
    rivals = [each for each in COMBINATIONS if each != own]
    alike = tuple((each in SEEN) == (own in SEEN) for each in rivals)
    context = {"unseen": own not in SEEN} if halves else {}
    challenge = Rivals(tuple(map(units, rivals)), alike)
    return Sample(" ".join(own), "amazon", units(own), ("a text",), context, challenge)


def shares(*cases):
    """Return the scores of texts by their log likelihoods after each combination."""
    tally = Tally((*DISCRIMINATION.scores, *map(score_info, OVER_HALVES)))
    for each, logs in cases:
        asked = (tuple(unit[-1] for unit in of) for of in (each.units, *each.challenge.units))
        likelihoods = (Likelihood(logs[combination], None, 6) for combination in asked)
        judgement = judge(DISCRIMINATION, each, *likelihoods)
        json.dumps(judgement.details)
        tally.add(values_of(DISCRIMINATION, each, judgement, OVER_HALVES))
    return {score.name: score.value for score in tally.scores(DISCRIMINATION.signature)}


def won(own, weights):
    """Return 100 of the likeliest, shared by those that are as likely."""
    best = max(weights.values())
    return 100 * (weights[own] == best) / [*weights.values()].count(best)


def by_aspect(own, logs):
    """Return the mean over aspects: a value is as likely as all combinations with it."""
    possible = max(logs.values()) > -math.inf
    found = []
    for number, values in enumerate(ASPECTS.values()):
        sums = {
            value: math.fsum(
                math.exp(log) if possible else 1
                for each, log in logs.items()
                if each[number] == value
            )
            for value in values
        }
        found.append(won(own[number], sums))
    return fmean(found)


LIKELY = st.sampled_from([-math.inf, -9.0, -1.2, -1.1, -1.0])
LOGS = st.fixed_dictionaries(dict.fromkeys(COMBINATIONS, LIKELY))


@given(st.lists(st.tuples(st.sampled_from(COMBINATIONS), LOGS), min_size=1, max_size=6))
def test_shares_of_texts_are_those_of_the_definition(drawn):
    expected = defaultdict(list)
    for own, logs in drawn:
        half = {each: log for each, log in logs.items() if (each in SEEN) == (own in SEEN)}
        of_text = (won(own, logs), won(own, half), by_aspect(own, logs))
        for name, value in zip(NAMES, of_text, strict=True):
            expected[name].append(value)
            expected[f"{name}_{'id' if own in SEEN else 'comp'}"].append(value)
    means = {name: fmean(values) for name, values in expected.items()}
    found = shares(*((sample(own), logs) for own, logs in drawn))
    gap = means.get("disc_acc_id", math.nan) - means.get("disc_acc_comp", math.nan)
    assert found == pytest.approx({**means, "disc_gap": gap}, nan_ok=True)
    whole = shares(*((sample(own, halves=False), logs) for own, logs in drawn))
    assert whole == pytest.approx({name: means[name] for name in NAMES})


def test_without_rivals_of_its_half_or_numbers_there_is_no_verdict():
    first, same = sample(COMBINATIONS[0]), dict.fromkeys(COMBINATIONS, -1.0)
    alone = replace(first, challenge=Rivals(tuple(map(units, COMBINATIONS[1:])), (False,) * 5))
    assert "disc_acc_within" not in shares((alone, same))
    broken = shares((first, dict.fromkeys(COMBINATIONS, math.nan)))
    assert all(math.isnan(broken[name]) for name in ("disc_acc", "disc_aspects"))


def test_the_gap_has_an_error_of_both_halves():
    totals = score_info("disc_gap").totals
    seen, unseen = [(100.0, 1, 0, 0)] * 6 + [(0.0, 1, 0, 0)] * 4, [(0, 0, 100.0, 1)] * 3
    rows = [*seen, *unseen, *[(0, 0, 0.0, 1)] * 7]
    assert totals.value(rows) == pytest.approx(30)
    spread = math.sqrt(100 * (60 * 40 / 1000 + 30 * 70 / 1000))
    assert totals.stderr(rows) == pytest.approx(spread, rel=0.06)
