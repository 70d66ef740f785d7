"""Order invariance and CWIO, on an invented sample and on what the published evaluation says."""

import pytest
from scipy import stats

from spor_tasks.core.sample import AttributeValue, Orders, Sample, Triple
from spor_tasks.metrics.base import Values
from spor_tasks.metrics.order import CWIO, ORDER_INVARIANCE, kendall
from tests.support.scores import scores_of

# Told as harbour, then leader, then sea by its only reference.
SAMPLE = Sample(
    id="1",
    corpus="webnlg",
    units=(
        Triple("Ann Moss", "leader of", "Greyport"),
        Triple("Greyport", "harbour", "Old Basin"),
        Triple("Greyport", "sea", "Cold Sound"),
    ),
    references=("Old Basin is the harbour of Greyport, led by Ann Moss, on the Cold Sound.",),
    challenge=Orders(((0, 1, 2), (2, 1, 0)), ((1, 0, 2),)),
)
SAME = SAMPLE.references[0]
REVERSED = "On the Cold Sound, Ann Moss leads Greyport and its harbour Old Basin."
PARTIAL = "Old Basin is its harbour, Ann Moss its leader."


def _values(first: str, second: str) -> Values:
    return ORDER_INVARIANCE.judge_one(SAMPLE, first, second).values


def test_both_outputs_have_every_property() -> None:
    values = _values(SAME, SAME)
    assert {name for name, value in values.items() if value == 100.0} == {
        "fidelity_pbh",
        "ordering_pbh",
        "ordering_em_pbh",
        "faithful_ordering_pbh",
    }


def test_one_output_in_another_order_is_faithful_but_not_proper() -> None:
    values = _values(SAME, REVERSED)
    assert {name for name, value in values.items() if value == 100.0} == {
        "fidelity_pbh",
        "ordering_poh",
        "ordering_em_poh",
        "faithful_ordering_poh",
    }


def test_an_output_that_leaves_units_out_may_be_proper_as_published_but_not_faithfully() -> None:
    values = _values(SAME, PARTIAL)
    assert values["ordering_pbh"] == 100.0
    assert values["faithful_ordering_pbh"] == 0.0
    assert values["faithful_ordering_poh"] == 100.0
    assert values["fidelity_poh"] == 100.0


def test_scores_are_shares_of_samples() -> None:
    outputs = [(SAME, SAME), (SAME, REVERSED), ("", "")]
    judgements = ORDER_INVARIANCE.judge([SAMPLE] * 3, outputs)
    scores = {score.name: score for score in scores_of(ORDER_INVARIANCE, judgements)}
    assert scores["fidelity_pbh"].value == pytest.approx(200 / 3)
    assert scores["ordering_poh"].value == pytest.approx(100 / 3)
    assert {score.n for score in scores.values()} == {3}
    assert len(scores) == 8


def test_evidence_says_which_unit_is_not_located() -> None:
    details = ORDER_INVARIANCE.judge_one(SAMPLE, PARTIAL, SAME).details
    assert [position is None for position in details["pos_1"]] == [False, False, True]
    assert (details["missing_1"], details["missing_2"]) == ((2,), ())


@pytest.mark.parametrize(
    ("one", "other"), [((0, 1, 2), (0, 1, 2)), ((2, 0, 1), (0, 2, 1)), ((3, 1, 0, 2), (0, 1, 2, 3))]
)
def test_tau_compares_orders_and_not_index_lists(
    one: tuple[int, ...], other: tuple[int, ...]
) -> None:
    ranks = [[order.index(unit) for unit in range(len(order))] for order in (one, other)]
    assert kendall(one, other) == pytest.approx(stats.kendalltau(*ranks).statistic)


def test_one_unit_has_no_order_to_correlate() -> None:
    with pytest.raises(ValueError, match="fewer than two"):
        kendall((0,), (0,))


def test_an_empty_output_correlates_perfectly_as_published_and_has_no_order() -> None:
    details = CWIO.judge_one(SAMPLE, "").details
    assert (details["tau"], details["tau_located"]) == (1.0, None)


def test_cwio_averages_within_sizes_then_over_them() -> None:
    pair = Sample(
        id="2",
        corpus="e2e",
        units=(AttributeValue("area", "quayside"), AttributeValue("food", "Basque")),
        references=("unused",),
        context={"name": "The Gull"},
    )
    judgements = [
        CWIO.judge_one(pair, "The Gull, quayside, serves Basque food."),
        CWIO.judge_one(pair, "A Basque kitchen at the quayside."),
        CWIO.judge_one(SAMPLE, SAME),
        CWIO.judge_one(SAMPLE, ""),
    ]
    scores = {score.name: score for score in scores_of(CWIO, judgements)}
    assert scores["cwio"].value == pytest.approx((0 + 2 / 3) / 2)
    assert scores["cwio_located"].value == pytest.approx((0 + 1 / 3) / 2)
    assert (scores["cwio_located"].n, scores["cwio_located"].unscored) == (3, 1)
    assert scores["cwio_located_share"].value == 75.0
