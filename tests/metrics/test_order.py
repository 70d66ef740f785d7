"""Order invariance and CWIO: an invented sample, and their definitions written down slowly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from spor_tasks.core.sample import AttributeValue, DataUnit, Orders, Sample, Triple
from spor_tasks.metrics.order import CWIO, ORDER_INVARIANCE, kendall
from tests.oracles import order as slow_order
from tests.support.scores import scores_of

# Its only reference mentions harbour, leader and sea, in this order.
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


@pytest.mark.parametrize(
    ("first", "second", "scores"),
    [
        (SAME, SAME, "fidelity_pbh ordering_pbh ordering_em_pbh faithful_ordering_pbh"),
        (SAME, REVERSED, "fidelity_pbh ordering_poh ordering_em_poh faithful_ordering_poh"),
        # An output that leaves units out may be proper as published, but not faithfully.
        (SAME, PARTIAL, "fidelity_poh ordering_pbh ordering_em_pbh faithful_ordering_poh"),
    ],
)
def test_a_property_holds_for_both_outputs_or_for_one(first: str, second: str, scores: str) -> None:
    values, details = ORDER_INVARIANCE.judge_one(SAMPLE, first, second)
    assert {name for name, value in values.items() if value} == {*scores.split()}
    assert set(values.values()) == {0.0, 100.0}
    for number, output in enumerate((first, second), start=1):
        assert details[f"missing_{number}"] == ((2,) if output == PARTIAL else ())


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (3, 1, 0, 2)])
def test_tau_compares_orders_and_not_index_lists(order: tuple[int, ...]) -> None:
    for reference in (tuple(range(len(order))), order[::-1]):
        ranks = [[each.index(unit) for unit in range(len(order))] for each in (order, reference)]
        assert kendall(order, reference) == pytest.approx(stats.kendalltau(*ranks).statistic)


def test_one_unit_has_no_order() -> None:
    with pytest.raises(ValueError, match="fewer than two"):
        kendall((0,), (0,))


def test_an_empty_output_correlates_perfectly_as_published_and_has_no_order() -> None:
    details = CWIO.judge_one(SAMPLE, "").details
    assert (details["tau"], details["tau_located"]) == (1.0, None)


# Few words, near and far, so that outputs mention units in part, twice, or not at all.
words = st.sampled_from(["gull", "gulls", "pier", "old pier", "a b", "7", "turkish", "yes", "no"])
texts = st.lists(st.sampled_from(["gull", "pier", "old", "a", "b", "7", "turkey", "yes", "area"]))
outputs = texts.map(" ".join)


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    triples = st.builds(Triple, words, st.just("is"), words)
    attributes = st.builds(AttributeValue, st.sampled_from(["area", "near"]), words)
    unit: st.SearchStrategy[DataUnit] = draw(st.sampled_from([triples, attributes]))
    units = tuple(draw(st.lists(unit, min_size=2, max_size=4)))
    orders = st.permutations(range(len(units))).map(tuple)
    references = tuple(draw(st.lists(orders, min_size=1, max_size=3)))
    context = draw(st.fixed_dictionaries({}, optional={"name": words}))
    challenge = Orders((draw(orders), draw(orders)), references)
    return Sample("drawn", "drawn", units, ("unread",), context, challenge)


@given(samples(), outputs, outputs)
def test_verdicts_are_those_of_the_definition(sample: Sample, first: str, second: str) -> None:
    details = ORDER_INVARIANCE.judge_one(sample, first, second).details
    for number, output in enumerate((first, second), start=1):
        assert details[f"pos_{number}"] == slow_order.located(sample, output)
        verdict = tuple(details[f"{key}_{number}"] for key in ("fidelity", "proper", "em"))
        assert verdict == slow_order.judge(sample, output)


@given(st.lists(st.tuples(samples(), outputs), min_size=1, max_size=5))
def test_cwio_is_that_of_the_definition(drawn: list[tuple[Sample, str]]) -> None:
    judgements = [CWIO.judge_one(sample, output) for sample, output in drawn]
    scores = {score.name: score.value for score in scores_of(CWIO, judgements)}
    expected = slow_order.cwio(*zip(*drawn, strict=True))
    names = ("cwio", "cwio_located", "cwio_located_share")
    assert [scores[name] for name in names] == pytest.approx(expected, nan_ok=True)
