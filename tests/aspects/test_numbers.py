"""Samples as numbers, what is counted of all of them at once, and the divergence of two sets."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.aspects import numbers
from spor_tasks.aspects.numbers import Numbers, divergence_of_counts
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import DataUnit
from tests.support.strategies import unit

counts = st.dictionaries(st.sampled_from([*map(unit, "abcdef")]), st.integers(0, 50)).map(Counter)
datasets = counts.filter(Counter.total)


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


def test_the_divergence_is_one_minus_the_sum_of_the_roots_of_the_products() -> None:
    a, b = unit("a"), unit("b")
    expected = 1 - (math.sqrt(3 / 4 * 1 / 2) + math.sqrt(1 / 4 * 1 / 2))
    distance = divergence_of_counts(Counter({a: 3, b: 1}), Counter({a: 1, b: 1}))
    assert distance == pytest.approx(expected, abs=1e-15)
    assert divergence_of_counts(Counter({a: 3}), Counter({b: 2})) == 1
    with pytest.raises(SplitError, match="without units"):
        divergence_of_counts(Counter({a: 1}), Counter({a: 0}))


@given(datasets, datasets)
def test_a_divergence_is_symmetric_and_nothing_between_equal_sets(
    p: Counter[DataUnit], q: Counter[DataUnit]
) -> None:
    assert 0 <= divergence_of_counts(p, q) <= 1
    assert divergence_of_counts(p, q) == divergence_of_counts(q, p)
    assert divergence_of_counts(p, p) == 0
    tripled = Counter({unit: 3 * count for unit, count in p.items()})
    assert 0 <= divergence_of_counts(p, tripled) < 1e-15
