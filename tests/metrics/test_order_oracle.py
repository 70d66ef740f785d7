"""Order invariance and CWIO are what their definitions, written down slowly, give."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.sample import AttributeValue, DataUnit, Orders, Sample, Triple
from spor_tasks.metrics.order import CWIO, ORDER_INVARIANCE
from tests.oracles import order as slow_order
from tests.support.scores import scores_of

# Few words, near and far, so that outputs mention units in part, twice, or not at all.
words = st.sampled_from(["gull", "gulls", "pier", "old pier", "a b", "7", "turkish", "yes", "no"])
texts = st.lists(st.sampled_from(["gull", "pier", "old", "a", "b", "7", "turkey", "yes", "area"]))


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    unit: st.SearchStrategy[DataUnit] = draw(
        st.sampled_from(
            [
                st.builds(Triple, words, st.just("is"), words),
                st.builds(AttributeValue, st.sampled_from(["area", "near"]), words),
            ]
        )
    )
    units = tuple(draw(st.lists(unit, min_size=2, max_size=4)))
    orders = st.permutations(range(len(units))).map(tuple)
    return Sample(
        id="drawn",
        corpus="drawn",
        units=units,
        references=("unread",),
        context=draw(st.fixed_dictionaries({}, optional={"name": words})),
        challenge=Orders(
            (draw(orders), draw(orders)), tuple(draw(st.lists(orders, min_size=1, max_size=3)))
        ),
    )


outputs = texts.map(" ".join)


@given(samples(), outputs, outputs)
def test_every_verdict_on_order_is_that_of_the_definition(
    sample: Sample, one: str, other: str
) -> None:
    details = ORDER_INVARIANCE.judge_one(sample, one, other).details
    for number, output in enumerate((one, other), start=1):
        assert details[f"pos_{number}"] == slow_order.located(sample, output)
        found = tuple(details[f"{key}_{number}"] for key in ("fidelity", "proper", "em"))
        assert found == slow_order.judge(sample, output)


@given(st.lists(st.tuples(samples(), outputs), min_size=1, max_size=5))
def test_cwio_is_that_of_the_definition(drawn: list[tuple[Sample, str]]) -> None:
    judgements = [CWIO.judge_one(sample, output) for sample, output in drawn]
    scores = {score.name: score.value for score in scores_of(CWIO, judgements)}
    expected = slow_order.cwio(*zip(*drawn, strict=True))
    names = ("cwio", "cwio_located", "cwio_located_share")
    assert [scores[name] for name in names] == pytest.approx(expected, nan_ok=True)
