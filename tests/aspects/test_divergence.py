import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.aspects.divergence import divergence
from spor_tasks.core.errors import SplitError

counts = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 50)).filter(
    lambda drawn: any(drawn.values())
)


def test_it_is_one_minus_the_sum_of_the_roots_of_the_products() -> None:
    expected = 1 - (math.sqrt(3 / 4 * 1 / 2) + math.sqrt(1 / 4 * 1 / 2))
    assert divergence({"a": 3, "b": 1}, {"a": 1, "b": 1}) == pytest.approx(expected, abs=1e-15)


def test_datasets_that_share_nothing_are_one_apart() -> None:
    assert divergence({"a": 3}, {"b": 2}) == 1


def test_a_dataset_without_units_is_refused() -> None:
    with pytest.raises(SplitError, match="without units"):
        divergence({"a": 1}, {"a": 0})


@given(counts, counts)
def test_it_lies_between_0_and_1_and_is_symmetric(p: dict[str, int], q: dict[str, int]) -> None:
    assert 0 <= divergence(p, q) <= 1
    assert divergence(p, q) == divergence(q, p)


@given(counts)
def test_a_dataset_diverges_from_itself_by_exactly_nothing(p: dict[str, int]) -> None:
    assert divergence(p, p) == 0
