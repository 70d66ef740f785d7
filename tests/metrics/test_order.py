"""Order invariance and CWIO are those of their definitions, written down slowly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.sample import AttributeValue, DataUnit, Orders, Sample, Triple
from spor_tasks.metrics.order import CWIO, ORDER_INVARIANCE, kendall
from tests.oracles import order as slow_order
from tests.support.scores import scores_of


def test_one_unit_has_no_order() -> None:
    with pytest.raises(ValueError, match="fewer than two"):
        kendall((0,), (0,))


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
    values, details = ORDER_INVARIANCE.judge_one(sample, first, second)
    properties = []
    for number, output in enumerate((first, second), start=1):
        positions = slow_order.located(sample, output)
        assert details[f"pos_{number}"] == positions
        lost = tuple(unit for unit, position in enumerate(positions) if position is None)
        assert details[f"missing_{number}"] == lost
        faithful, proper, exact = verdict = slow_order.judge(sample, output)
        assert tuple(details[f"{key}_{number}"] for key in ("fidelity", "proper", "em")) == verdict
        properties.append((faithful, proper, exact, proper and faithful))
    names = ("fidelity", "ordering", "ordering_em", "faithful_ordering")
    for name, one, other in zip(names, *properties, strict=True):
        assert values.pop(f"{name}_pbh") == 100 * (one and other)
        assert values.pop(f"{name}_poh") == 100 * (one != other)
    assert values == {}


@given(st.lists(st.tuples(samples(), outputs), min_size=1, max_size=5))
def test_cwio_is_that_of_the_definition(drawn: list[tuple[Sample, str]]) -> None:
    judgements = [CWIO.judge_one(sample, output) for sample, output in drawn]
    scores = {score.name: score.value for score in scores_of(CWIO, judgements)}
    expected = slow_order.cwio(*zip(*drawn, strict=True))
    names = ("cwio", "cwio_located", "cwio_located_share")
    assert [scores[name] for name in names] == pytest.approx(expected, nan_ok=True)
