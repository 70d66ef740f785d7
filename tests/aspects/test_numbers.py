"""Samples as numbers, and what is counted of all of them at once."""

import numpy as np

from spor_tasks.aspects import numbers
from spor_tasks.aspects.numbers import Numbers
from tests.support.strategies import unit


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
