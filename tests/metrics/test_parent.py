"""PARENT: its table, and its definition written down slowly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks import __version__
from spor_tasks.core.sample import AttributeValue, DataUnit, Sample, Triple
from spor_tasks.metrics.parent import PARENT, Parent, ParentEvidence
from tests.oracles import parent as slow_parent


def measure(of: Sample, output: str, metric: Parent = PARENT) -> ParentEvidence:
    details = metric.judge_one(of, output).details
    suffix = "_full_table" if metric.full_table else ""
    return ParentEvidence(*(details[f"{side}{suffix}"] for side in ParentEvidence._fields))


def sample(*references: str, units: tuple[DataUnit, ...] = ()) -> Sample:
    return Sample("0" * 16, "letters", units, references)


ANN = Triple("Ann", "friend", "Bob")


def test_the_published_table_leaves_out_dates_and_countries() -> None:
    text = "Ann met Bob"
    without = measure(sample(text, units=(ANN,)), text)
    for unit, is_published in (
        (Triple("Ann", "birth date", "May"), False),
        (Triple("Ann", "house", "12345"), False),
        (Triple("2001", "founder", "123 456"), True),
        (AttributeValue("date country", "2001"), True),
    ):
        both = sample(text, units=(ANN, unit))
        full = measure(both, text, Parent(full_table=True))
        assert full != without
        assert measure(both, text) == (full if is_published else without)


def test_the_signature_holds_every_setting() -> None:
    tok, version = "tok:nltk3.9-punkt-en", f"v:{__version__}"
    assert PARENT.signature == f"parent|lambda:0.5|order:4|{tok}|table:published|{version}"
    other = Parent(weight=0.25, max_order=2, full_table=True).signature
    assert other == f"parent_full_table|lambda:0.25|order:2|{tok}|table:full|{version}"


letters = st.sampled_from("abcdefg")
letter_texts = st.lists(letters, max_size=12)


@given(
    output=letter_texts,
    references=st.lists(letter_texts, min_size=1, max_size=4),
    table=st.lists(st.lists(letters, min_size=1, max_size=5), max_size=4),
    weight=st.floats(0, 1),
    max_order=st.integers(1, 6),
)
def test_every_number_is_that_of_the_definition(
    output: list[str],
    references: list[list[str]],
    table: list[list[str]],
    weight: float,
    max_order: int,
) -> None:
    units = tuple(AttributeValue("is", " ".join(value)) for value in table)
    drawn = sample(*map(" ".join, references), units=units)
    evidence = measure(drawn, " ".join(output), Parent(weight, max_order))
    expected = slow_parent.parent(output, references, table, weight, max_order)
    assert evidence == pytest.approx(expected, abs=1e-12)


words = st.sampled_from(["ann", "2001", "country", "'s", "."])
values = st.lists(words, max_size=3).map(" ".join)


@given(st.lists(st.builds(AttributeValue, values, values)), values, values)
def test_attributes_are_unfiltered(
    table: list[AttributeValue], reference: str, output: str
) -> None:
    drawn = sample(reference, units=tuple(table))
    assert measure(drawn, output) == measure(drawn, output, Parent(full_table=True))
