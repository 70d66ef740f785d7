"""Whatever a file holds, its outputs are scored or the line at fault is named."""

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.errors import SporError
from spor_tasks.core.files import read_rows
from spor_tasks.core.sample import AttributeValue, DataUnit, Hidden, Orders, Sample, Triple
from spor_tasks.evaluation import scoring
from spor_tasks.metrics import copy_rule
from spor_tasks.metrics.base import Metric
from spor_tasks.metrics.copy_rule import COPY_RULE
from spor_tasks.metrics.order import CWIO, ORDER_INVARIANCE
from spor_tasks.metrics.parent import PARENT, PARENT_FULL_TABLE
from tests.support.scores import scores_of

# Halves of surrogate pairs included, which JSON can hold and UTF-8 cannot.
anything = st.text(st.characters(exclude_categories=()), max_size=40)
PHRASES = "Entity 1|Value A|2001|yes|low|family friendly|u.s.|can't|שלום|👍🏽"
texts = anything | st.lists(st.sampled_from(PHRASES.split("|")) | anything, max_size=8).map(
    " ".join
)
looping = st.builds(lambda text, times: text * times, texts, st.integers(1, 8))
units = st.one_of(
    st.lists(st.builds(kind, *[texts] * len(kind._fields)), min_size=2, max_size=4)
    for kind in (Triple, AttributeValue)
)


def in_range(metric: Metric, sample: Sample, *outputs: str) -> dict[str, float]:
    """Return the scores of an output, which are in range or have no verdict."""
    scores = {score.name: score for score in scores_of(metric, metric.judge([sample], [outputs]))}
    for score in scores.values():
        assert math.isnan(score.value) if score.n == 0 else -1 <= score.value <= 100 + 1e-9
    return {name: score.value for name, score in scores.items()}


@given(units.map(tuple), looping, looping, st.lists(texts, min_size=1, max_size=3), st.data())
def test_any_output_for_any_units_is_scored(
    drawn: tuple[DataUnit, ...], first: str, second: str, references: list[str], data: st.DataObject
) -> None:
    orders = st.permutations(range(len(drawn))).map(tuple)
    both, hidden = data.draw(st.tuples(orders, orders)), texts
    challenge = Orders(both, tuple(data.draw(orders) for _ in references))
    sample = Sample("drawn", "drawn", drawn, tuple(references), {"name": first[:9]}, challenge)
    for metric in (PARENT, PARENT_FULL_TABLE, CWIO):
        in_range(metric, sample, first)
    order = in_range(ORDER_INVARIANCE, sample, first, second)
    assert order["faithful_ordering_pbh"] <= min(order["ordering_pbh"], order["fidelity_pbh"])
    if isinstance(drawn[0], AttributeValue):
        hidden = st.sampled_from(["price range", "customer rating"])
    phrases = data.draw(st.lists(st.tuples(hidden, texts), min_size=1, max_size=3))
    cases = in_range(COPY_RULE, replace(sample, challenge=Hidden(tuple(phrases))), first)
    names = ("copy_rule_00", "copy_rule_01", "copy_rule", "copy_rule_11")
    assert sum(cases[name] for name in names) == 100


@given(looping | st.text("aİ Σ "))
def test_a_place_in_a_normalized_output_is_traced_back(output: str) -> None:
    length = len(copy_rule.normalized(output))
    for start, index in enumerate(copy_rule.origins(output)[:length]):
        before, upto = (len(copy_rule.normalized(output[: index + more])) for more in (0, 1))
        assert before <= start < upto


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
CAFE: dict[str, Any] = {"name": "n", "data": [["food", "a"], ["area", "b"]], "texts": ["a b"]}
ORDERS = {"input_order_1": [0, 1], "input_order_2": [1, 0], "output_order": [[0, 1]]}
PHRASE = {"data": [["food", "Value A"]], "replaced_kv_pair": {"food": "Value A"}}
ROWS = {
    "parent": {**CAFE, "output": "a"},
    "order": {**CAFE, **ORDERS, "output_1": "a b", "output_2": "b"},
    "cwio": {**CAFE, "output": "a"},
    "copy_rule": {**PHRASE, "possible_values": {"food": ["a"]}, "output": "Value A"},
}
FIELDS = sorted({"replaced_entity", "category", "twin"}.union(*ROWS.values()))
field = st.sampled_from(FIELDS)


@given(
    st.sampled_from([*ROWS]),
    st.dictionaries(field, values),
    st.sets(field, max_size=2),
    st.none() | st.tuples(st.integers(1, 300), st.binary(max_size=3)),
)
def test_a_line_with_anything_in_it_is_scored_or_named(
    tmp_path_factory: pytest.TempPathFactory,
    metric: str,
    changes: dict[str, Any],
    gone: set[str],
    damage: tuple[int, bytes] | None,
) -> None:
    folder = tmp_path_factory.mktemp("outputs")
    file, evidence = folder / "outputs.jsonl", folder / "evidence.jsonl"
    row = {key: value for key, value in {**ROWS[metric], **changes}.items() if key not in gone}
    line = json.dumps(row).encode()
    if damage:
        start, put = damage
        start = 1 + start % (len(line) - 1)
        rest = line[start + len(put) :] + b"\n" if put else b""  # nothing follows a cut
        line = line[:start] + put.replace(b"\n", b"") + rest
    file.write_bytes(json.dumps(ROWS[metric]).encode() + b"\n" + line)
    try:
        result = scoring.score(file, metric, "e2e", per_sample=evidence)
    except SporError as error:
        assert error.where == f"{file}:2"  # noqa: PT017 - most contents raise nothing
        assert not evidence.exists()
    else:
        assert len(list(read_rows(evidence))) == result.samples == 2
