"""Systematicity, built and searched, on corpora of a word per sample and a unit per letter."""

import random
from functools import partial
from itertools import combinations
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.aspects import check, systematicity
from spor_tasks.aspects.search import ROUNDS
from spor_tasks.aspects.search import systematicity as search
from spor_tasks.aspects.search.sets import SCALE, SearchPool, SearchSets
from spor_tasks.aspects.systematicity import SharedUnits, build
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.corpora.embedded import MINI
from tests.support.strategies import pool, pools, sets, words_of


def test_a_unit_stays_in_combination_and_room_is_made_within_the_limit():
    for words, limit, combination in (
        # abx could only replace ay, and then nothing would show y.
        ("ay b ab abx yz z", 0.02, "ay b z"),
        # Only a, a can make room for abx: with bc or d gone, nothing would show c or d.
        ("a a bc d ab cd abx", 0.04, "bc d abx"),
        ("a a bc d ab cd abx", 0.03, "a a bc d"),
        # Both samples of a could make room for cdx, but one must stay.
        ("a a b c d ab cd cdx", 1, "a b d cdx"),
    ):
        pair = build(pool(words.split()), random.Random(0), limit=limit)
        assert words_of(pair)[1] == combination.split()


@pytest.mark.parametrize("words", [[], ["a", "b"], ["ab", "cd"]])
def test_a_pool_without_a_possible_test_sample_is_an_error(words):
    with pytest.raises(SplitError, match="no sample can be tested"):
        build(pool(words), random.Random(0))
    with pytest.raises(ConfigError, match="restarts: must be at least 1"):
        build(pool(words), random.Random(0), restarts=0)
    for too_few in (words, ["a", "b", "ab"]):
        with pytest.raises(SplitError, match="found no test sample"):
            search(pool(too_few), 0)


def test_more_restarts_never_make_the_test_set_smaller():
    samples = MINI.everything()
    pairs = [build(samples, random.Random(0), restarts) for restarts in (1, 4, 16)]
    sizes = [sum(len(sample.units) for sample in pair.test) for pair in pairs]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]


def algorithm_1(x, order):
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
def test_atom_and_test_set_are_those_of_the_pseudocode(pool, seed):
    units = [frozenset(sample.units) for sample in pool]
    several = [i for i, held in enumerate(units) if len(held) > 1]
    random.Random(seed).shuffle(several)
    order = sorted(several, key=lambda i: -len(units[i]))
    assert SharedUnits(units).atom_and_test(order) == algorithm_1(units, order)


@given(pools(), pools(), pools())
def test_the_invariants_are_counted_as_by_comparing_all_with_all(atom, combination, test):
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
        "test_pairs": len(pairs),
        "share_shown_in_combination": sum(any(two <= y for y in c) for two in pairs)
        / max(len(pairs), 1),
        "test_samples_without_one": sum(not any(len(y & x) > 1 for y in c) for x in t),
    }


def test_a_combination_that_shows_few_pairs_is_a_warning():
    atom, test = pool(["a", "b", "c", "d"]), pool(["abc", "cd"])
    few, enough = (
        check.check(sets("systematicity", test, atom=atom, combination=pool(words)))
        for words in (["ab", "c", "d"], ["ab", "cd"])
    )
    assert few.holds
    assert "shows 25% of the test samples' pairs, below the floor" in str(few.warnings)
    assert "no pair of 1 of 2 samples" in str(few.warnings)
    assert enough.warnings == ()


@pytest.fixture(scope="module")
def samples():
    return tuple(MINI.everything())


def test_a_search_finds_these_very_sets_and_more_rounds_larger_ones(samples):
    # Other sets on another machine or Python would mean that a search cannot be repeated.
    pair = search(samples, 4, rounds=2).pair
    assert str(pair.facts) == "systematicity mini strict"
    digests = [digest(samples)[:8] for samples in pair.all.values()]
    assert digests == ["c55387ce", "1c799fc8", "433187f2"]
    # More rounds find more than the paper's construction.
    built = systematicity.build(samples, random.Random(0))
    found = search(samples, 0, rounds=3)
    assert found.rounds == 3
    assert check.check(found.pair).holds
    assert len(found.pair.test) > len(built.test)


def test_time_and_interrupts_end_a_search_with_its_best_round(samples):
    def interrupt(_, __, best, needed=None):
        if best or needed is None:
            raise KeyboardInterrupt

    first = search(samples, 4, rounds=1)
    timed = search(samples, 4, seconds=0.1)
    assert timed.rounds < ROUNDS
    assert timed == (first if timed.rounds == 1 else search(samples, 4, rounds=timed.rounds))
    interrupted = search(samples, 4, progress=partial(interrupt, needed="a best"))
    assert (interrupted.interrupted, interrupted.rounds) == (True, 1)
    assert interrupted.pair == first.pair
    with pytest.raises(KeyboardInterrupt):
        search(samples, 4, progress=interrupt)


def recount(sets):
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


def assert_counts_are_right(sets):
    expected = recount(sets)
    items = range(len(sets.pool.units))
    assert [item for item in items if not sets.forbidden[item]] == expected.pop("test")
    assert [item for item in items if sets.in_atom(item)] == expected.pop("atom")
    assert sets.affinity / SCALE == pytest.approx(expected.pop("affinity"), abs=1e-4)
    assert {name: getattr(sets, name) for name in expected} == expected


def make_a_move(sets, rng):
    """Switch some pairs, or change the copies of an item in Combination."""
    pairs = range(len(sets.pool.with_pair))
    if pairs and rng.random() < 0.6:
        switched = rng.sample(pairs, min(len(pairs), rng.choice([1, 1, 2, 5])))
        sets.switch(switched)
        return
    item = rng.randrange(len(sets.pool.units))
    if sets.forbidden[item]:
        sets.choose(item, rng.randint(0, sets.pool.copies[item]))


def everything(sets):
    """All that a search can read, for comparing."""
    return [
        list(value) if isinstance(value := getattr(sets, name), list) else value
        for name in vars(sets)
        if name not in ("_displaced", "_changed", "pool")
    ]


@given(pools(always=["ab"]), st.integers(0, 1_000))
def test_counts_are_right_after_moves_and_a_move_back(samples, seed):
    rng, sets = random.Random(seed), SearchSets(SearchPool(samples))
    for _ in range(12):
        make_a_move(sets, rng)
        sets.settle()
        assert_counts_are_right(sets)
    before, pairs = everything(sets), range(len(sets.pool.with_pair))
    switched = rng.sample(pairs, min(len(pairs), 4))
    sets.switch(switched)
    sets.settle()
    sets.switch_back(switched)
    sets.settle()
    assert everything(sets) == before
