"""The counts that a search keeps up to date, against counting all of it anew."""

import random
from itertools import combinations
from math import sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.aspects.search.annealing import Goal
from spor_tasks.aspects.search.sets import SCALE, Pool, Sets
from spor_tasks.core.sample import Sample
from tests.support.strategies import pools

seeds = st.integers(0, 1_000)


def recount(sets: Sets) -> dict[str, Any]:
    """The totals from nothing but the allowed pairs and what was chosen."""
    pool = sets.pool
    items = range(len(pool.units))
    allowed = {
        two
        for units, pairs in zip(pool.units, pool.pairs, strict=True)
        for two, pair in zip(combinations(units, 2), pairs, strict=True)
        if sets.allowed[pair]
    }
    pairs = [set(combinations(units, 2)) for units in pool.units]
    test = [item for item in items if pairs[item] and pairs[item] <= allowed]
    tested = set().union(*(pairs[item] for item in test))
    atoms = {unit for item in test for unit in pool.units[item]}
    atom = [
        item for item in items if atoms & set(pool.units[item]) and pairs[item].isdisjoint(tested)
    ]
    in_atom = dict.fromkeys(atoms, 0)
    in_combination = dict.fromkeys(atoms, 0)
    for counts, members in ((in_atom, atom), (in_combination, items)):
        for item in members:
            copies = pool.copies[item] if counts is in_atom else sets.chosen[item]
            for unit in atoms.intersection(pool.units[item]):
                counts[unit] += copies
    return {
        "test": sorted(test),
        "atom": sorted(atom),
        "test_units": sum(pool.copies[item] * len(pool.units[item]) for item in test),
        "atom_samples": sum(pool.copies[item] for item in atom),
        "pairs": sum(sets.chosen[item] * len(pairs[item] & tested) for item in items),
        "atom_occurrences": sum(in_atom.values()),
        "combination_occurrences": sum(in_combination.values()),
        "uncovered_in_atom": sum(not count for count in in_atom.values()),
        "uncovered_in_combination": sum(not count for count in in_combination.values()),
        "affinity": sum(sqrt(in_atom[unit] * in_combination[unit]) for unit in atoms),
    }


def assert_counts_are_right(sets: Sets) -> None:
    expected = recount(sets)
    items = range(len(sets.pool.units))
    assert [item for item in items if not sets.forbidden[item]] == expected.pop("test")
    assert [item for item in items if sets.in_atom(item)] == expected.pop("atom")
    assert sets.affinity / SCALE == pytest.approx(expected.pop("affinity"), abs=1e-4)
    assert {name: getattr(sets, name) for name in expected} == expected


def make_a_move(sets: Sets, rng: random.Random) -> list[int]:
    """Switch some pairs, which are returned, or change what is chosen of an item."""
    pairs = range(len(sets.pool.with_pair))
    if pairs and rng.random() < 0.6:
        switched = rng.sample(pairs, min(len(pairs), rng.choice([1, 1, 2, 5])))
        sets.switch(switched)
        return switched
    item = rng.randrange(len(sets.pool.units))
    if sets.forbidden[item]:
        sets.choose(item, rng.randint(0, sets.pool.copies[item]))
    return []


@given(pools(always=["ab"]), seeds)
def test_after_any_moves_all_counts_are_right(samples: tuple[Sample, ...], seed: int) -> None:
    rng = random.Random(seed)
    sets = Sets(Pool(samples))
    for _ in range(12):
        make_a_move(sets, rng)
        sets.settle()
        assert_counts_are_right(sets)


def everything(sets: Sets) -> list[object]:
    """All that a search can read, for comparing."""
    return [
        list(value) if isinstance(value := getattr(sets, name), list) else value
        for name in vars(sets)
        if name not in ("_displaced", "_changed", "pool")
    ]


@given(pools(always=["ab"]), seeds)
def test_a_move_taken_back_leaves_no_trace(samples: tuple[Sample, ...], seed: int) -> None:
    rng = random.Random(seed)
    sets = Sets(Pool(samples))
    for _ in range(8):
        make_a_move(sets, rng)
    sets.settle()
    before = everything(sets)
    pairs = range(len(sets.pool.with_pair))
    switched = rng.sample(pairs, min(len(pairs), 4))
    sets.switch(switched)
    sets.settle()
    sets.switch_back(switched)
    sets.settle()
    assert everything(sets) == before


@given(st.lists(st.tuples(st.floats(0.01, 10), st.floats(0, 10), st.floats(-100, 100)), min_size=1))
def test_a_gap_is_charged_as_the_method_of_multipliers_says(
    terms: list[tuple[float, float, float]],
) -> None:
    stiffness, start, gaps = zip(*terms, strict=True)
    goal = Goal(Sets(Pool(())), lambda: 0, lambda: gaps, stiffness, start)
    expected = -sum(max(0, p + s * g) ** 2 / (2 * s) for s, p, g in terms)
    assert goal() == pytest.approx(expected)
    goal.adapt()
    for now, (s, p, g) in zip(goal.prices, terms, strict=True):
        assert now == pytest.approx(0.9 * p + 0.1 * max(0, p + s * g))
