"""Whatever a file holds, its outputs are scored or the line at fault is named."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.errors import CorpusError, SporError
from spor_tasks.core.files import read_rows
from spor_tasks.core.sample import AttributeValue, Hidden, Orders, Sample, Triple
from spor_tasks.evaluation import scoring
from spor_tasks.metrics import copy_rule
from spor_tasks.metrics.base import Metric, Texts
from spor_tasks.metrics.copy_rule import COPY_RULE
from spor_tasks.metrics.order import CWIO, ORDER_INVARIANCE
from spor_tasks.metrics.parent import Parent
from tests.support.scores import scores_of

# Halves of surrogate pairs included, which JSON can hold and UTF-8 cannot.
anything = st.text(st.characters(exclude_categories=()), max_size=40)
PHRASES = "Entity 1|Value A|2001|yes|low|family friendly|u.s.|can't|שלום|👍🏽"
texts = anything | st.lists(st.sampled_from(PHRASES.split("|")) | anything, max_size=8).map(
    " ".join
)
looping = st.builds(lambda text, times: text * times, texts, st.integers(1, 8))
triples = st.builds(Triple, texts, texts, texts)
attributes = st.builds(AttributeValue, texts, texts)
units = st.one_of(st.lists(unit, min_size=1, max_size=4) for unit in (triples, attributes))


@st.composite
def order_samples(draw: st.DrawFn) -> Sample:
    drawn = tuple(draw(units))
    orders = st.permutations(range(len(drawn))).map(tuple)
    references = tuple(draw(st.lists(texts, min_size=1, max_size=3)))
    challenge = Orders(draw(st.tuples(orders, orders)), tuple(draw(orders) for _ in references))
    context = draw(st.fixed_dictionaries({}, optional={"name": texts}))
    return Sample("drawn", "drawn", drawn, references, context, challenge)


@st.composite
def copy_samples(draw: st.DrawFn) -> Sample:
    drawn = tuple(draw(units))
    hides_values = isinstance(drawn[0], AttributeValue)
    hidden = st.sampled_from(["price range", "customer rating"]) if hides_values else texts
    phrases = tuple(draw(st.lists(st.tuples(hidden, texts), min_size=1, max_size=3)))
    return Sample("drawn", "drawn", drawn, (), challenge=Hidden(phrases))


def scores(metric: Metric, sample: Sample, *outputs: Texts) -> dict[str, float]:
    """Return the scores of outputs for one sample, which are counted and in range."""
    measured = scores_of(metric, metric.judge([sample] * len(outputs), outputs))
    for score in measured:
        assert score.n + score.unscored == len(outputs)
        assert math.isnan(score.value) if score.n == 0 else -1 <= score.value <= 100 + 1e-9
    return {score.name: score.value for score in measured}


@given(order_samples(), looping, looping)
def test_parent_order_and_cwio_score_any_output(sample: Sample, first: str, second: str) -> None:
    for full_table in (False, True):
        parent = scores(Parent(full_table=full_table), sample, (first,), (second,))
        assert min(parent.values()) >= 0
    if len(sample.units) < 2:
        for metric, output in ((ORDER_INVARIANCE, (first, second)), (CWIO, (first,))):
            with pytest.raises(CorpusError, match="fewer than two units"):
                metric.judge([sample], [output])
        return
    order = scores(ORDER_INVARIANCE, sample, (first, second))
    for name in ("fidelity", "ordering", "ordering_em", "faithful_ordering"):
        assert order[f"{name}_pbh"] + order[f"{name}_poh"] <= 100
    faithful = order["faithful_ordering_pbh"]
    assert faithful <= min(order["ordering_pbh"], order["fidelity_pbh"])
    scores(CWIO, sample, (first,), (second,))


@given(copy_samples(), looping, looping)
def test_the_copy_rule_scores_any_output(sample: Sample, first: str, second: str) -> None:
    cases = scores(COPY_RULE, sample, (first,), (second,))
    names = ("copy_rule_00", "copy_rule_01", "copy_rule", "copy_rule_11")
    assert math.isclose(sum(cases[name] for name in names), 100)


@given(looping | st.text("aİ Σ "))
def test_a_place_in_a_normalized_output_is_traced_back(output: str) -> None:
    length = len(copy_rule.normalized(output))
    for start, index in enumerate(copy_rule.origins(output)[:length]):
        before, upto = (len(copy_rule.normalized(output[: index + more])) for more in (0, 1))
        assert before <= start < upto


# --- Files ----------------------------------------------------------------------------------------

FIELDS = (
    "data texts name output output_1 output_2 output_order input_order_1 input_order_2 "
    "replaced_entity replaced_kv_pair category"
)
field = st.sampled_from(FIELDS.split())
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
ROWS: dict[str, dict[str, Any]] = {
    "parent webnlg": {"data": [["a", "b", "c"]], "texts": ["a c"], "output": "a"},
    "order e2e": {
        "name": "n",
        "data": [["food", "a"], ["area", "b"]],
        "texts": ["a b"],
        "input_order_1": [0, 1],
        "input_order_2": [1, 0],
        "output_order": [[0, 1]],
        "output_1": "a b",
        "output_2": "b",
    },
    "cwio webnlg": {"data": [["a", "b", "c"], ["c", "d", "e"]], "output": "a"},
    "copy_rule e2e": {
        "data": [["price range", "Value A"]],
        "replaced_kv_pair": {"price range": "Value A"},
        "output": "Value A",
    },
}
tasks = st.sampled_from(list(ROWS))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("outputs")


def score(folder: Path, task: str, line: bytes) -> None:
    """Score a file in which nothing but the second line may be at fault."""
    metric, corpus = task.split()
    file, evidence = folder / "outputs.jsonl", folder / "evidence.jsonl"
    file.write_bytes(json.dumps(ROWS[task]).encode() + b"\n" + line)
    evidence.unlink(missing_ok=True)
    try:
        result = scoring.score(file, metric, corpus, per_sample=evidence)
    except SporError as error:
        assert error.where == f"{file}:2"  # noqa: PT017 - most contents raise nothing
        assert not evidence.exists()
    else:
        assert len(list(read_rows(evidence))) == result.samples == 2


@given(tasks, st.dictionaries(field, values), st.sets(field, max_size=2))
def test_a_row_with_anything_in_its_fields_is_scored_or_named(
    folder: Path, task: str, changes: dict[str, Any], gone: set[str]
) -> None:
    row = {key: value for key, value in {**ROWS[task], **changes}.items() if key not in gone}
    score(folder, task, json.dumps(row).encode() + b"\n")


@given(tasks, st.data(), st.binary(max_size=3))
def test_a_cut_or_damaged_line_is_scored_or_named(
    folder: Path, task: str, data: st.DataObject, damage: bytes
) -> None:
    line = json.dumps(ROWS[task]).encode()
    start = data.draw(st.integers(1, len(line) - 1))
    rest = line[start + len(damage) :] + b"\n" if damage else b""  # nothing follows a cut
    score(folder, task, line[:start] + damage.replace(b"\n", b"") + rest)
