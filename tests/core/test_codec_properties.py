"""The document and the row of any sample give it back."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.codec import cluster_of, doc_of, from_row, sample_of, to_row
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import (
    AttributeValue,
    Hidden,
    Json,
    Orders,
    Rivals,
    Sample,
    SampleMaker,
    Triple,
    sides,
)

texts = st.text(st.characters(exclude_categories=()), max_size=8)  # halves of surrogate pairs too
values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
contexts = st.dictionaries(
    st.sampled_from(["title", "code"])
    | texts.filter(lambda key: key not in {"name", "category", "table"}),
    values.filter(lambda value: value is not None),
    max_size=3,
)
triples = st.lists(st.builds(Triple, texts, texts, texts), min_size=1, max_size=4)
pairs = st.lists(st.builds(AttributeValue, texts, texts), min_size=1, max_size=4)


def items(drawn: Mapping[str, str | list[str]]) -> tuple[tuple[str, str | tuple[str, ...]], ...]:
    return tuple(
        (key, value if isinstance(value, str) else tuple(value)) for key, value in drawn.items()
    )


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    """Samples of any corpus, without a challenge or with one."""
    units = draw(triples | pairs)
    named = {"category": texts} if isinstance(units[0], Triple) else {"name": texts}
    context = draw(contexts) | draw(st.fixed_dictionaries({}, optional=named))
    references = draw(st.lists(texts, min_size=1, max_size=3))
    orders = st.permutations(range(len(units))).map(tuple)
    hidden = st.dictionaries(texts, texts, min_size=1, max_size=3)
    possible = st.dictionaries(texts, st.lists(texts, min_size=1, max_size=3), max_size=2)
    challenge = draw(
        st.none()
        | st.builds(Orders, st.tuples(orders, orders), st.tuples(*[orders] * len(references)))
        | st.builds(Hidden, hidden.map(items), possible.map(items))
        | st.lists(
            st.tuples((triples | pairs).map(tuple), st.booleans()), min_size=1, max_size=3
        ).map(lambda drawn: Rivals(*map(tuple, zip(*drawn, strict=True))))
    )
    made = SampleMaker("drawn")(
        units, () if isinstance(challenge, Hidden) else references, **context
    )
    sample = replace(made, challenge=challenge)
    if isinstance(challenge, Rivals) or not draw(st.booleans()):
        return sample
    return replace(sample, twin=draw(twins_of(sample)))


def twins_of(sample: Sample) -> st.SearchStrategy[Sample]:
    """Samples of the same form about something else."""
    unit = type(sample.units[0])
    units = st.tuples(*(st.builds(unit, *[texts] * len(unit._fields)) for _ in sample.units))
    references = st.tuples(*[texts] * len(sample.references))
    return st.builds(partial(replace, sample), units=units, references=references)


@given(samples())
def test_a_document_gives_its_sample_back(sample: Sample) -> None:
    doc = json.loads(json.dumps(doc_of(sample)))
    assert sample_of(doc) == sample
    assert cluster_of(doc) == sample.cluster
    assert ("context" in doc) == bool(sample.context.keys() - {"name", "category"})


@given(samples())
def test_a_row_gives_its_sample_back_without_its_category(sample: Sample) -> None:
    row = json.loads(json.dumps(to_row(sample)))
    context = {key: value for key, value in sample.context.items() if key != "category"}
    found = from_row(row, SampleMaker(sample.corpus), where="row")
    both = [replace(side, context=context) for side in sides(sample)]
    assert sides(found) == tuple(both)


@pytest.mark.parametrize(
    "twin",
    [
        "a text",
        {},
        {"data": [["b", "c"]], "texts": ["t"]},
        {"data": [["b", "c", "d"]], "texts": ["t", "u"]},
        {"data": [["b", "c", "d"]] * 2, "texts": ["t"]},
        {"data": [["b", "c", "d"]], "texts": ["t"], "twin": {}},
        {"data": [["b", "c", "d"]], "texts": ["t"], "rivals": [{"data": [["b", "c"]], "alike": 1}]},
    ],
)
def test_a_twin_of_another_form_is_an_error(twin: object) -> None:
    row = {"data": [["a", "b", "c"]], "texts": ["t"], "twin": twin}
    with pytest.raises(CorpusError) as caught:
        from_row(row, SampleMaker("drawn"), where="row 7")
    assert str(caught.value.where).startswith("row 7")
