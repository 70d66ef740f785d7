"""Whatever a file holds, its outputs are scored or the line at fault is named."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks import scoring
from spor_tasks.errors import CorpusError, SporError
from spor_tasks.metrics import copy_rule
from spor_tasks.metrics.base import Metric, Score
from spor_tasks.metrics.copy_rule import CopyRule
from spor_tasks.metrics.order import Cwio, OrderInvariance
from spor_tasks.metrics.parent import Parent
from spor_tasks.samples import AttributeValue, CopySample, OrderSample, Triple
from spor_tasks.store import read_rows

# Halves of surrogate pairs included, which JSON can hold and UTF-8 cannot.
anything = st.text(st.characters(exclude_categories=()), max_size=40)
told = st.sampled_from(
    [
        "Entity 1",
        "Value A",
        "2001",
        "yes",
        "low",
        "family friendly",
        "u.s.",
        "can't",
        "שלום",
        "👍🏽",
    ]
)
texts = st.one_of(anything, st.lists(told | anything, max_size=8).map(" ".join))
looping = st.builds(lambda text, times: text * times, texts, st.integers(1, 8))
units = st.one_of(
    st.lists(st.builds(Triple, texts, texts, texts), min_size=1, max_size=4),
    st.lists(st.builds(AttributeValue, texts, texts), min_size=1, max_size=4),
)


@st.composite
def order_samples(draw: st.DrawFn) -> OrderSample:
    drawn = draw(units)
    orders = st.permutations(range(len(drawn))).map(tuple)
    references = draw(st.lists(texts, min_size=1, max_size=3))
    return OrderSample(
        id="drawn",
        corpus="drawn",
        units=tuple(drawn),
        references=tuple(references),
        name=draw(st.none() | texts),
        input_orders=draw(st.tuples(orders, orders)),
        reference_orders=tuple(draw(orders) for _ in references),
    )


@st.composite
def copy_samples(draw: st.DrawFn) -> CopySample:
    drawn = draw(units)
    hides_values = isinstance(drawn[0], AttributeValue)
    hidden = st.sampled_from(["price range", "customer rating"]) if hides_values else texts
    return CopySample(
        id="drawn",
        corpus="drawn",
        units=tuple(drawn),
        references=(),
        hidden=tuple(draw(st.lists(st.tuples(hidden, texts), min_size=1, max_size=3))),
    )


def check(metric: Metric[Any, Any, Any], sample: object, *outputs: Any) -> tuple[Score, ...]:  # noqa: ANN401 - one text or two
    evidence = [metric.measure(sample, output) for output in outputs]
    scores = metric.reduce(evidence)
    for score in scores:
        assert score.n + score.unscored == len(outputs)
        assert math.isnan(score.value) if score.n == 0 else -1 <= score.value <= 100 + 1e-9
    return scores


@given(order_samples(), looping, looping)
def test_parent_scores_any_output(sample: OrderSample, one: str, other: str) -> None:
    for full_table in (False, True):
        for score in check(Parent(full_table=full_table), sample, one, other):
            assert score.value >= 0


@given(order_samples(), looping, looping)
def test_order_and_cwio_score_any_output_of_two_units_or_more(
    sample: OrderSample, one: str, other: str
) -> None:
    if len(sample.units) < 2:
        for metric, output in ((OrderInvariance(), (one, other)), (Cwio(), one)):
            with pytest.raises(CorpusError, match="fewer than two units"):
                check(metric, sample, output)
        return
    scores = {score.name: score.value for score in check(OrderInvariance(), sample, (one, other))}
    for name in ("fidelity", "ordering", "ordering_em", "faithful_ordering"):
        assert scores[f"{name}_pbh"] + scores[f"{name}_poh"] <= 100
    assert scores["faithful_ordering_pbh"] <= scores["ordering_pbh"]
    assert scores["faithful_ordering_pbh"] <= scores["fidelity_pbh"]
    check(Cwio(), sample, one, other)


@given(copy_samples(), looping, looping)
def test_the_copy_rule_scores_any_output(sample: CopySample, one: str, other: str) -> None:
    scores = {score.name: score.value for score in check(CopyRule(), sample, one, other)}
    cases = ("copy_rule_00", "copy_rule_01", "copy_rule", "copy_rule_11")
    assert math.isclose(sum(scores[name] for name in cases), 100)


@given(looping | st.text("aİ Σ "))
def test_a_place_in_a_normalized_output_is_traced_back(output: str) -> None:
    length = len(copy_rule.normalized(output))
    for start, index in enumerate(copy_rule.origins(output)[:length]):
        before, upto = (len(copy_rule.normalized(output[: index + more])) for more in (0, 1))
        assert before <= start < upto
