"""What holds of PARENT whatever the texts and the table."""

import string

from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.sample import AttributeValue, DataUnit, Sample, Triple
from spor_tasks.metrics.parent import Parent
from spor_tasks.metrics.totals import Value
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
) -> list[Value]:
    sample = Sample("x", "letters", tuple(table), tuple(references))
    return [*metric.judge_one(sample, output).values.values()]


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
