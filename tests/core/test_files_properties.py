"""Whatever samples hold, the published form gives them back, ids and all."""

import random

from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core import codec, files
from spor_tasks.core.sample import AttributeValue, SampleMaker, Triple
from spor_tasks.corpora import jsonl

# What UTF-8 can hold: no lone surrogates.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
lists_of_texts = st.lists(texts, min_size=1, max_size=3)
triples = st.lists(st.builds(Triple, texts, texts, texts), min_size=1, max_size=4)
pairs = st.lists(st.builds(AttributeValue, texts, texts), min_size=1, max_size=4)


@given(
    st.lists(st.tuples(triples, lists_of_texts, st.none()), min_size=1, max_size=4)
    | st.lists(st.tuples(pairs, lists_of_texts, texts), min_size=1, max_size=4)
)
def test_samples_come_back_from_the_published_form(
    contents: list[tuple[list[Triple] | list[AttributeValue], list[str], str | None]],
) -> None:
    make = SampleMaker("own")
    samples = [make(units, references, name=name) for units, references, name in contents]
    content = b"".join(files.encode_row(codec.to_row(sample)) for sample in samples)
    assert list(jsonl.parse_samples(content, "own", where="memory")) == samples


@given(st.lists(st.tuples(triples, lists_of_texts), min_size=1, max_size=4), st.randoms())
def test_the_ids_of_a_source_do_not_depend_on_its_order(
    contents: list[tuple[list[Triple], list[str]]], rng: random.Random
) -> None:
    straight, mixed = SampleMaker("own"), SampleMaker("own")
    shuffled = list(contents)
    rng.shuffle(shuffled)
    assert {straight(*content).id for content in contents} == {
        mixed(*content).id for content in shuffled
    }
