"""A sample has one id wherever it is read, and its document and its row give it back."""

import json
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.codec import doc_of, from_row, sample_of, to_row
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import (
    AttributeValue,
    Contrast,
    Hidden,
    Orders,
    SampleMaker,
    Triple,
    sides,
    views,
)

texts = st.text(st.characters(exclude_categories=()), max_size=8)  # halves of surrogate pairs too
values = st.recursive(
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


def items(drawn):
    return tuple(
        (key, value if isinstance(value, str) else tuple(value)) for key, value in drawn.items()
    )


@st.composite
def samples(draw):
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
        | st.builds(Contrast, (triples | pairs).map(tuple), texts, texts)
    )
    made = SampleMaker("drawn")(
        units, () if isinstance(challenge, Hidden) else references, **context
    )
    sample = replace(made, challenge=challenge)
    if isinstance(challenge, Contrast) or not draw(st.booleans()):
        return sample
    return replace(sample, twin=draw(twins_of(sample)))


def twins_of(sample):
    """Samples of the same form about something else."""
    unit = type(sample.units[0])
    units = st.tuples(*(st.builds(unit, *[texts] * len(unit._fields)) for _ in sample.units))
    references = st.tuples(*[texts] * len(sample.references))
    return st.builds(partial(replace, sample), units=units, references=references)


@given(samples())
def test_a_document_gives_its_sample_back(sample):
    doc = json.loads(json.dumps(doc_of(sample)))
    assert sample_of(doc) == sample
    assert ("context" in doc) == bool(sample.context.keys() - {"name", "category"})


@given(samples())
def test_a_row_gives_its_sample_back_without_its_category(sample):
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
        {"data": [["b", "c", "d"]], "texts": ["t"], "replaced_entity": {"b": "x"}},
    ],
)
def test_a_twin_of_another_form_is_an_error(twin):
    row = {"data": [["a", "b", "c"]], "texts": ["t"], "twin": twin}
    with pytest.raises(CorpusError) as caught:
        from_row(row, SampleMaker("drawn"), where="row 7")
    assert str(caught.value.where).startswith("row 7")


# --- Ids ------------------------------------------------------------------------------------------

SHIP = Triple("Gull", "home port", "Anholt")
CREW = Triple("Gull", "crew", "4")


def test_ids_are_these_in_every_version_and_depend_on_everything_but_the_category():
    cafe = SampleMaker("e2e")([AttributeValue("food", "fish")], ["Café Gull: fish."], name="Gull")
    assert cafe.id == "5a441f90a2a36db9"
    make, lies = SampleMaker("webnlg"), ["The Gull lies at Anholt."]
    ids = {
        make([SHIP], lies).id,
        make([SHIP], ["A"]).id,
        make([SHIP, CREW], ["A"]).id,
        make([CREW, SHIP], ["A"]).id,
        make([SHIP, CREW], ["A", "B"]).id,
        make([SHIP, CREW], ["A"], name="Gull").id,
        SampleMaker("mini")([SHIP, CREW], ["A"]).id,
    }
    assert len(ids) == 7
    assert "316202bcf595383e" in ids
    assert SampleMaker("webnlg")([SHIP, CREW], ["A"], category="Ship").id in ids


contents = st.lists(
    st.tuples(st.lists(st.sampled_from([SHIP, CREW]), min_size=1), st.lists(st.text(max_size=2))),
    min_size=1,
    max_size=4,
)


@given(contents, st.randoms())
def test_ids_depend_neither_on_the_order_of_a_source_nor_on_other_samples(contents, rng):
    straight, mixed, part = (SampleMaker("own") for _ in range(3))
    ids = [straight(*content).id for content in contents]
    assert len(set(ids)) == len(ids)  # equal samples are numbered
    assert {mixed(*content).id for content in rng.sample(contents, len(contents))} == set(ids)
    last = contents[-1]
    if contents.count(last) == 1:
        assert part(*last).id == ids[-1]


def test_every_prompt_of_a_likelihood_has_its_text():
    sample = SampleMaker("own")([SHIP], ["The Gull lies at Anholt."])
    contrast = replace(sample, challenge=Contrast((CREW,), "The Gull has a crew of 4."))
    assert contrast.texts == (sample.target, "The Gull has a crew of 4.")
    assert [view.units for view in views(contrast)] == [(SHIP,), (CREW,)]
