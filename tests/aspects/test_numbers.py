"""Samples as numbers, and what is counted of all of them at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.aspects import divergence, numbers
from spor_tasks.aspects.numbers import Numbers
from spor_tasks.core.errors import SplitError
from tests.support.strategies import unit

counts = st.lists(st.tuples(st.integers(0, 500), st.integers(0, 500)), min_size=1)


def test_units_are_numbered_as_they_first_appear() -> None:
    pool = Numbers([[unit("a"), unit("b")], [], [unit("b"), unit("c"), unit("b")]])
    assert pool.of_unit == {unit("a"): 0, unit("b"): 1, unit("c"): 2}
    assert [units.tolist() for units in pool.units] == [[0, 1], [], [1, 2, 1]]
    assert pool.sizes.tolist() == [2, 0, 3]
    assert pool.counts([0, 2]).tolist() == [1, 3, 1]
    assert pool.sums(np.array([1, 10, 100])).tolist() == [11, 0, 120]


def test_equal_keys_stay_in_their_order() -> None:
    samples, keys = np.array([3, 1, 0, 2]), np.array([5, 0, 0, 5])
    assert numbers.sort(samples, keys).tolist() == [1, 2, 3, 0]


@given(counts)
def test_the_divergence_is_that_of_mappings_to_the_bit(drawn: list[tuple[int, int]]) -> None:
    p, q = (dict(enumerate(side)) for side in zip(*drawn, strict=True))
    arrays = (np.array(list(side.values())) for side in (p, q))
    try:
        expected = divergence.divergence(p, q)
    except SplitError:
        with pytest.raises(SplitError, match="without units"):
            numbers.divergence(*arrays)
    else:
        assert numbers.divergence(*arrays) == expected
