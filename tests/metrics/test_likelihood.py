"""Adv-Acc, perplexity and discrimination: by hand, and of invented systems."""

import itertools
import json
import math
from collections.abc import Callable, Iterable
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


ASPECTS = {"sentiment": ("Negative", "Positive"), "topic": ("Books", "Music", "Movies")}
COMBINATIONS = tuple(itertools.product(*ASPECTS.values()))
SEEN = {COMBINATIONS[number] for number in (0, 2, 4)}
OVER_HALVES = [
    f"{name}_{half}" for name in ("disc_acc", "disc_acc_within", "disc_aspects") for half in HALVES
]

Combination = tuple[str, ...]
System = Callable[[Combination], float]


def units(combination: Combination) -> tuple[AttributeValue, ...]:
    return tuple(map(AttributeValue, ASPECTS, combination))


def sample(own: Combination, *, halves: bool = True) -> Sample:
    rivals = [each for each in COMBINATIONS if each != own]
    alike = tuple((each in SEEN) == (own in SEEN) for each in rivals)
    context = {"unseen": own not in SEEN} if halves else {}
    challenge = Rivals(tuple(map(units, rivals)), alike)
    return Sample(" ".join(own), "amazon", units(own), ("a text",), context, challenge)


FIRST = sample(COMBINATIONS[0])


def shares(cases: Iterable[tuple[Sample, System]]) -> dict[str, float]:
    """Return the scores of systems, which give the log likelihood of a text by combination."""
    tally = Tally((*DISCRIMINATION.scores, *map(score_info, OVER_HALVES)))
    for each, log_of in cases:
        assert isinstance(each.challenge, Rivals)
        combinations = (
            tuple(unit[-1] for unit in of) for of in (each.units, *each.challenge.units)
        )
        logs = tuple(Likelihood(log_of(combination), None, 6) for combination in combinations)
        judgement = judge(DISCRIMINATION, each, *logs)
        json.dumps(judgement.details)
        tally.add(values_of(DISCRIMINATION, each, judgement, OVER_HALVES))
    return {score.name: score.value for score in tally.scores(DISCRIMINATION.signature)}


def system(*logs: float) -> System:
    return dict(zip(COMBINATIONS, logs, strict=True)).__getitem__


def test_the_likeliest_combination_and_value_win() -> None:
    values = shares([(FIRST, system(-1.0, -1.2, -9.0, -9.0, -1.1, -9.0))])
    assert (values["disc_acc"], values["disc_acc_id"]) == (100, 100)
    assert values["disc_aspects"] == 50  # two combinations with Music are likely
    assert "disc_acc_comp" not in values
    assert math.isnan(values["disc_gap"])


def test_only_rivals_of_its_own_half_count_within_the_half() -> None:
    values = shares([(FIRST, system(-2.0, -1.0, -3.0, -9.0, -9.0, -9.0))])
    assert values["disc_acc"] == 0
    assert values["disc_acc_within"] == values["disc_acc_within_id"] == 100
    alone = replace(FIRST, challenge=Rivals(tuple(map(units, COMBINATIONS[1:])), (False,) * 5))
    assert "disc_acc_within" not in shares([(alone, lambda _: -1.0)])


def test_a_system_that_reads_no_code_scores_chance_to_the_last_digit() -> None:
    whole = shares((sample(own, halves=False), lambda _: -30.1) for own in COMBINATIONS)
    assert not [name for name in whole if name.endswith(("_id", "_comp"))]
    assert math.isnan(whole.get("disc_gap", math.nan))
    values = shares((sample(own), lambda _: -30.1) for own in COMBINATIONS)
    for end in ("", "_id", "_comp"):
        assert values[f"disc_acc{end}"] == pytest.approx(100 / 6, abs=1e-12)
        assert values[f"disc_acc_within{end}"] == pytest.approx(100 / 3, abs=1e-12)
        assert values[f"disc_aspects{end}"] == pytest.approx((50 + 100 / 3) / 2, abs=1e-12)
    assert values["disc_gap"] == pytest.approx(0, abs=1e-12)


def test_the_gap_is_of_a_system_that_knows_seen_combinations_alone() -> None:
    """Its preference for seen combinations decides all but what is within a half."""
    own_first = [(sample(own), lambda each, own=own: float(each == own)) for own in COMBINATIONS]
    assert shares(own_first)["disc_gap"] == 0
    values = shares(
        (sample(own), lambda each, own=own: (each == own) + 9.0 * (each in SEEN))
        for own in COMBINATIONS
    )
    assert (values["disc_acc_id"], values["disc_acc_comp"], values["disc_gap"]) == (100, 0, 100)
    assert values["disc_acc_within_id"] == values["disc_acc_within_comp"] == 100


def test_no_number_has_no_verdict_and_an_impossible_text_loses() -> None:
    broken = shares([(FIRST, lambda _: math.nan)])
    assert all(math.isnan(broken[name]) for name in ("disc_acc", "disc_aspects"))
    lost = shares([(FIRST, lambda each: -math.inf if each == COMBINATIONS[0] else -4.0)])
    assert lost["disc_acc"] == 0
    assert shares([(FIRST, lambda _: -math.inf)])["disc_acc"] == pytest.approx(100 / 6)


def test_the_gap_has_an_error_of_both_halves() -> None:
    totals = score_info("disc_gap").totals
    seen, unseen = [(100.0, 1, 0, 0)] * 6 + [(0.0, 1, 0, 0)] * 4, [(0, 0, 100.0, 1)] * 3
    rows = [*seen, *unseen, *[(0, 0, 0.0, 1)] * 7]
    assert totals.value(rows) == pytest.approx(30)
    spread = math.sqrt(100 * (60 * 40 / 1000 + 30 * 70 / 1000))
    assert totals.stderr(rows) == pytest.approx(spread, rel=0.06)
