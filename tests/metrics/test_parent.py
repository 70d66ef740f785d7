"""PARENT by hand, against its definition written down, and its properties."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks import __version__
from spor_tasks.core.errors import CorpusError
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


# --- By hand --------------------------------------------------------------------------------------


def test_the_reference_itself_with_a_table_it_covers_is_perfect() -> None:
    evidence = measure(sample("Ann is friends with Bob.", units=(ANN,)), "ann is friends with bob")
    assert evidence == ParentEvidence(1.0, 1.0, 2 / (2 + 1e-8))


def test_precision_counts_what_the_reference_or_the_table_supports() -> None:
    # Unigrams: ann and bob by the table, "met" by the reference, "once" by neither. Bigrams:
    # "ann met" by the reference, "met bob" and "bob once" half by the table. Trigrams: 2/3, 1/3.
    evidence = measure(sample("Ann met Jo", units=(ANN,)), "Ann met Bob once", Parent(max_order=3))
    assert evidence.precision == pytest.approx((3 / 4 * 2 / 3 * 1 / 2) ** (1 / 3))


@pytest.mark.parametrize(
    ("unit", "is_published"),
    [
        (Triple("Ann", "birth date", "May"), False),
        (Triple("Ann", "country", "Chile"), False),
        (Triple("Ann", "nationality", "Chilean"), False),
        (Triple("Ann", "house", "12345"), False),
        (Triple("2001", "founder", "123 456"), True),
        (AttributeValue("date country", "2001"), True),
    ],
)
def test_the_published_table_leaves_out_dates_countries_and_years(
    unit: DataUnit,
    is_published: bool,  # noqa: FBT001
) -> None:
    text, both = "Ann met Bob", sample("Ann met Bob", units=(ANN, unit))
    without = measure(sample(text, units=(ANN,)), text)
    full = measure(both, text, Parent(full_table=True))
    assert full != without
    assert measure(both, text) == (full if is_published else without)


def test_the_table_is_in_display_form_and_the_texts_are_not() -> None:
    pair, table_alone = sample("x", units=(Triple('"Ann_Lee"', "friend", "Bob"),)), Parent(weight=1)
    assert measure(pair, "Ann Lee, Bob", table_alone).recall == 1
    assert measure(pair, "Ann_Lee, Bob", table_alone).recall == pytest.approx(1 / 3)


def test_a_value_without_a_word_is_ignored() -> None:
    blank = AttributeValue("rating", "?!")
    with_blank, without = (sample("Ann", units=units) for units in ((ANN, blank), (ANN,)))
    assert measure(with_blank, "Ann") == measure(without, "Ann")


def test_a_sample_without_references_is_refused() -> None:
    with pytest.raises(CorpusError, match="needs a reference"):
        measure(sample(units=(ANN,)), "Ann")


def test_the_signature_holds_every_setting() -> None:
    tail = f"|v:{__version__}"
    assert PARENT.signature == (
        f"parent|lambda:0.5|order:4|tok:nltk3.9-punkt-en|table:published{tail}"
    )
    other = Parent(weight=0.25, max_order=2, full_table=True)
    assert other.signature == (
        f"parent_full_table|lambda:0.25|order:2|tok:nltk3.9-punkt-en|table:full{tail}"
    )


# --- The definition -------------------------------------------------------------------------------

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


# --- Properties -----------------------------------------------------------------------------------

# Few words, so that texts and tables overlap; some punctuation, some of it dropped.
words = st.sampled_from(["ann", "bob", "met", "old_mill", "u.s.", "2001", "n't", "'s", ",", "."])
texts = st.lists(words, max_size=9).map(" ".join)
values = st.lists(words, max_size=3).map(" ".join)
triples = st.builds(Triple, values, st.sampled_from(["friend", "birth date"]), values)
attributes = st.builds(AttributeValue, st.just("area"), values)
references = st.lists(texts, min_size=1, max_size=4)
metrics = st.builds(
    Parent, weight=st.floats(0, 1), max_order=st.integers(1, 6), full_table=st.booleans()
)


@given(metrics, st.lists(triples | attributes, max_size=4), references, texts)
def test_letter_case_changes_nothing(
    metric: Parent, table: list[DataUnit], references: list[str], output: str
) -> None:
    upper = sample(*(text.upper() for text in references), units=tuple(table))
    expected = measure(sample(*references, units=tuple(table)), output, metric)
    assert measure(upper, output.upper(), metric) == expected


@given(metrics, st.lists(attributes), references, texts)
def test_tables_of_attributes_are_never_filtered(
    metric: Parent, table: list[DataUnit], references: list[str], output: str
) -> None:
    given, full = sample(*references, units=tuple(table)), replace(metric, full_table=True)
    assert measure(given, output, metric) == measure(given, output, full)
