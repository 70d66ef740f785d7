"""PARENT against its definition written down, on texts and tables that overlap."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.sample import AttributeValue, Sample
from spor_tasks.metrics.parent import Parent
from tests.oracles import parent as slow_parent

words = st.sampled_from("abcdefg")
texts = st.lists(words, max_size=12)
values = st.lists(words, min_size=1, max_size=5)


@given(
    output=texts,
    references=st.lists(texts, min_size=1, max_size=4),
    table=st.lists(values, max_size=4),
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
    sample = Sample(
        "x",
        "letters",
        tuple(AttributeValue("is", " ".join(value)) for value in table),
        tuple(" ".join(text) for text in references),
    )
    details = Parent(weight, max_order).judge_one(sample, " ".join(output)).details
    expected = slow_parent.parent(output, references, table, weight, max_order)
    assert [details[side] for side in ("precision", "recall", "f")] == pytest.approx(
        [*expected], abs=1e-12
    )
