"""Algorithm 1 and the invariants against the paper's words, taken literally and slowly."""

import random
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.aspects import check
from spor_tasks.aspects.systematicity import Overlaps, _largest_first
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import DataUnit, Sample
from tests.support.strategies import pools, sets


def algorithm_1(x: list[frozenset[DataUnit]], order: list[int]) -> tuple[set[int], set[int]]:
    """The paper's pseudocode, with indices for samples; returns Atom and the test set."""
    s, t, a, b = set(range(len(x))), set[int](), set[int](), set[int]()
    for i in order:
        if i not in s:
            continue
        s = s - {i}
        r = {y for y in a | s if y not in b and len(x[y] & x[i]) == 1}
        covered = x[i] <= {unit for y in r for unit in x[y]}
        if covered and max((len(x[y] & x[i]) for y in a), default=0) <= 1:
            t = t | {i}
            s = s - r
            a = a | r
            b = b | {y for y in s if len(x[y] & x[i]) > 1}
    return a, t


@given(pools(), st.integers(0, 100))
def test_atom_and_test_set_are_those_of_the_pseudocode(pool: tuple[Sample, ...], seed: int) -> None:
    units = [frozenset(sample.units) for sample in pool]
    several = [i for i, held in enumerate(units) if len(held) > 1]
    order = _largest_first(several, units, random.Random(seed))
    assert Overlaps(units).atom_and_test(order) == algorithm_1(units, order)


@given(pools(), pools(), pools())
def test_the_invariants_are_counted_as_by_comparing_all_with_all(
    atom: tuple[Sample, ...], combination: tuple[Sample, ...], test: tuple[Sample, ...]
) -> None:
    pair = sets("systematicity", test, atom=atom, combination=combination)
    try:
        counts = check.systematicity(pair).counts
    except SplitError:
        return
    a, c, t = ([set(sample.units) for sample in samples] for samples in (atom, combination, test))
    pairs = {frozenset(two) for x in t for two in combinations(x, 2)}
    known = {two for two in pairs if any(two <= y for y in a)}
    atoms = set().union(*t)
    assert counts["missing_atoms"] == (
        len(atoms - set().union(*a)),
        len(atoms - set().union(*c)),
    )
    assert counts["test_samples_shown"] == (sum(y in t for y in a), sum(y in t for y in c))
    assert counts["pairs_in_atom"] == len(known)
    assert counts["atom_samples_with_pairs"] == sum(any(len(y & x) > 1 for x in t) for y in a)
    assert counts["test_samples_touched"] == sum(any(len(y & x) > 1 for y in a) for x in t)
    assert counts["test_samples_given_away"] == sum(
        len(x) > 1 and all(any({u, v} <= y for y in a) for u, v in combinations(x, 2)) for x in t
    )
    assert counts["occurrences"] == (
        sum(len(y & atoms) for y in a),
        sum(len(y & atoms) for y in c),
    )
    assert counts["pairs_in_combination"] == sum(two <= y for y in c for two in pairs)
