"""Atom, Combination and their test set, on corpora of a word per sample and a unit per letter."""

import random
from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.aspects import check
from spor_tasks.aspects.systematicity import Overlaps, _largest_first, build
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.sample import DataUnit, Sample
from spor_tasks.corpora.embedded import MINI
from tests.support.strategies import pool, pools, sets, words_of


def built(words: Sequence[str], *, limit: float = 0.02) -> tuple[list[str], ...]:
    """The words that came into Atom, Combination and the test set."""
    return words_of(build(pool(words), random.Random(0), limit=limit))


@pytest.mark.parametrize(
    ("words", "limit", "atom", "combination", "test"),
    [
        # Nothing else shows a pair.
        ("a b ab", 0.02, "a b", "a b", "ab"),
        # abx could only replace ay, and then nothing would show y.
        ("ay b ab abx yz z", 0.02, "ay b z", "ay b z", "ab yz"),
        # Only a, a can make room for abx: with bc or d gone, nothing would show c or d.
        ("a a bc d ab cd abx", 0.04, "a a bc d", "bc d abx", "ab cd"),
        ("a a bc d ab cd abx", 0.03, "a a bc d", "a a bc d", "ab cd"),
        # Both samples of a could make room for cdx, but one must stay.
        ("a a b c d ab cd cdx", 1, "a a b c d", "a b d cdx", "ab cd"),
    ],
)
def test_samples_of_sets(words: str, limit: float, atom: str, combination: str, test: str) -> None:
    expected = tuple(each.split() for each in (atom, combination, test))
    assert built(words.split(), limit=limit) == expected


@pytest.mark.parametrize("words", [[], ["a", "b"], ["ab", "cd"]])
def test_a_pool_without_a_possible_test_sample_is_an_error(words: list[str]) -> None:
    with pytest.raises(SplitError, match="no sample can be tested"):
        built(words)
    with pytest.raises(ConfigError, match="restarts: must be at least 1"):
        build(pool(words), random.Random(0), restarts=0)


def test_more_restarts_never_make_the_test_set_smaller() -> None:
    samples = MINI.everything()
    pairs = [build(samples, random.Random(0), restarts) for restarts in (1, 4, 16)]
    sizes = [sum(len(sample.units) for sample in pair.test.samples) for pair in pairs]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


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
    assert {name: counts[name] for name in counts if name not in ("divergence", "limit")} == {
        "missing_atoms": (len(atoms - set().union(*a)), len(atoms - set().union(*c))),
        "test_samples_shown": (sum(y in t for y in a), sum(y in t for y in c)),
        "pairs_in_atom": len(known),
        "atom_samples_with_pairs": sum(any(len(y & x) > 1 for x in t) for y in a),
        "test_samples_touched": sum(any(len(y & x) > 1 for y in a) for x in t),
        "test_samples_given_away": sum(
            len(x) > 1 and all(any({u, v} <= y for y in a) for u, v in combinations(x, 2))
            for x in t
        ),
        "occurrences": (sum(len(y & atoms) for y in a), sum(len(y & atoms) for y in c)),
        "pairs_in_combination": sum(two <= y for y in c for two in pairs),
    }
