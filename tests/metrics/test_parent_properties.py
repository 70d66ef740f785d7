"""What holds of PARENT whatever the texts and the table."""

import string
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.sample import AttributeValue, DataUnit, Sample, Triple
from spor_tasks.metrics.parent import Parent, ParentEvidence
from spor_tasks.text.tokenize import tokens

# Few words, so that texts and tables overlap; some punctuation, some of it dropped.
words = st.sampled_from(["ann", "bob", "met", "old_mill", "u.s.", "2001", "n't", "'s", ",", "."])
texts = st.lists(words, max_size=9).map(" ".join)
values = st.lists(words, max_size=3).map(" ".join)
units = st.one_of(
    st.builds(Triple, values, st.sampled_from(["friend", "birth date"]), values),
    st.builds(AttributeValue, st.just("area"), values),
)
tables = st.lists(units, max_size=4)
references = st.lists(texts, min_size=1, max_size=4)
metrics = st.builds(
    Parent,
    weight=st.floats(0, 1),
    max_order=st.integers(1, 6),
    full_table=st.booleans(),
)


def measure(
    metric: Parent, table: list[DataUnit], references: list[str], output: str
) -> ParentEvidence:
    return metric.judge(Sample("x", "letters", tuple(table), tuple(references)), output)


@given(metrics, tables, references, texts)
def test_every_number_is_a_proportion(
    metric: Parent, table: list[DataUnit], references: list[str], output: str
) -> None:
    evidence = measure(metric, table, references, output)
    for value in (evidence.precision, evidence.recall, evidence.f):
        assert 0 <= value <= 1 + 1e-12


@given(metrics, tables, references, texts, st.randoms(use_true_random=False))
def test_neither_the_order_of_references_nor_of_units_matters(
    metric: Parent, table: list[DataUnit], references: list[str], output: str, rng: Random
) -> None:
    evidence = measure(metric, table, references, output)
    rng.shuffle(table)
    rng.shuffle(references)
    assert measure(metric, table, references, output) == evidence


@given(metrics, tables, references, texts, texts)
def test_another_reference_lowers_nothing(
    metric: Parent, table: list[DataUnit], references: list[str], other: str, output: str
) -> None:
    before = measure(metric, table, references, output)
    after = measure(metric, table, [*references, other], output)
    assert after.precision >= before.precision
    assert after.recall >= before.recall
    assert after.f >= before.f


@given(metrics, tables, texts)
def test_a_reference_repeated_has_full_precision(
    metric: Parent, table: list[DataUnit], text: str
) -> None:
    padding = " ".join("abcdef")  # one n-gram of each order at least
    assert measure(metric, table, [f"{text} {padding}"], f"{text} {padding}").precision == 1


@given(metrics, tables, references, texts)
def test_letter_case_is_nothing(
    metric: Parent, table: list[DataUnit], references: list[str], output: str
) -> None:
    upper = measure(metric, table, [text.upper() for text in references], output.upper())
    assert upper == measure(metric, table, references, output)


@given(metrics, st.lists(st.builds(AttributeValue, values, values)), references, texts)
def test_tables_of_attributes_are_never_filtered(
    metric: Parent, table: list[DataUnit], references: list[str], output: str
) -> None:
    full = Parent(metric.weight, metric.max_order, full_table=True)
    assert measure(metric, table, references, output) == measure(full, table, references, output)


@given(st.text())
def test_tokens_are_words_of_the_text_without_bare_punctuation(text: str) -> None:
    found = tokens(text)
    assert all(token not in string.punctuation for token in found)
    assert not any(char.isspace() for token in found for char in token)
    quotes = str.maketrans("", "", "\"'`")
    assert "".join(found).translate(quotes) in _subsequences("".join(text.lower().split()))


class _subsequences:  # noqa: N801 - reads as a set
    def __init__(self, text: str) -> None:
        self.text = text

    def __contains__(self, found: str) -> bool:
        rest = iter(self.text)
        return all(char in rest for char in found)
