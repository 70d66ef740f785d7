"""Sets of any small corpus meet the requirements of their aspect, and an error says why not."""

import random
from collections import Counter
from itertools import chain

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from spor_tasks.aspects import build, check, order_invariance, productivity, search, systematicity
from spor_tasks.aspects.productivity import exchanged
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import (
    AttributeValue,
    CorpusSamples,
    Hidden,
    Orders,
    SampleMaker,
    Sets,
    Triple,
    challenge_of,
)
from spor_tasks.corpora import own
from tests.conftest import EXAMPLES
from tests.oracles.productivity import published
from tests.oracles.requirements import broken
from tests.support.strategies import pools

# --- Corpora: triples whose texts mention all, and slots with values in each other's way ----------

NAMES = ("Auk", "Bittern", "Crane", "Dunlin_2", '"Egret"', "Fulmar", "Great_Auk", "Heron")
BIRDS = dict(zip("abcdefgh", NAMES, strict=True))


def of_birds(letters):
    """Samples whose texts mention all that their units are about, in two orders."""
    make = SampleMaker("birds")
    names = [[BIRDS[unit[0]] for unit in sample.units] for sample in letters]
    return tuple(
        make(
            [Triple(name, "eats", "herring") for name in each],
            [f"{' and '.join(each)} eat herring.", f"Herring for {' and '.join(each[::-1])}."],
        )
        for each in names
    )


VALUES = {"hull": ("oak", "red, blue"), "length": ("4", "£20–25"), "deck": ("Oak 4", "yes", "pine")}
VALUES |= {"value": ("a", "Value A", "")}
SLOTS = [AttributeValue(what, value) for what, values in VALUES.items() for value in values]


def of_boats(boats):
    """Samples of units, with texts that mention the first so many of them, and of a name."""
    make = SampleMaker("boats")
    return tuple(
        make(
            units,
            [f"A boat: {' and '.join(unit.value for unit in units[:n])}." for n in mentioned],
            name=name,
        )
        for units, mentioned, name in boats
    )


boats = st.lists(
    st.tuples(
        st.lists(st.sampled_from([*SLOTS, *SLOTS[:5]]), min_size=1, max_size=4, unique=True),
        st.sampled_from([(4,), (4, 4), (4, 1)]),
        st.sampled_from([None, "Gull", "The Oak"]),
    ),
    max_size=6,
)
# There is something to build of every aspect, and more that comes in the way.
a, b, c, d, e = SLOTS[:5]
ALWAYS = [([slot], (4,), None) for slot in SLOTS * 2]
ALWAYS += [(units, (4,), None) for units in ([a, b, d], [a, b, e], [a, b], [b, c])]
trains_of_boats = boats.map(lambda drawn: of_boats([*ALWAYS, *drawn]))
tests_of_boats = boats.map(lambda drawn: of_boats([([a, c, d], (4, 4), None), *drawn]))
corpora = st.builds(
    CorpusSamples,
    st.just("birds"),
    pools(always=[*"abcdefgh" * 2, "abd", "abe", "ab", "bc"]).map(of_birds),
    pools(always=["ab", "abc", "acdeg"]).map(of_birds),
) | st.builds(
    CorpusSamples,
    st.just("boats"),
    trains_of_boats | tests_of_boats,
    tests_of_boats | boats.map(of_boats),
)
SETS = (
    ("systematicity", None),
    *(("productivity", part) for part in ("n1", "n2")),
    *(("order_invariance", part) for part in ("main", "cwio", "performance")),
    ("rule_learnability", None),
)


@pytest.mark.parametrize(("aspect", "part"), SETS)
@settings(max_examples=EXAMPLES // 2)
@given(corpora, st.integers(0, 3), st.lists(st.sampled_from([*VALUES]), max_size=2, unique=True))
def test_sets_of_any_corpus_meet_all_requirements_or_an_error_says_what_it_lacks(
    aspect, part, corpus, seed, hide
):
    hide = hide if corpus.name == "boats" else []
    pair = built(lambda: build.build(corpus, aspect, part, seed=seed, restarts=1, hide=hide))
    event(f"{aspect}: {type(pair).__name__}")
    if isinstance(pair, SplitError):
        assert pair.what
        assert pair.remedy
        return
    assert broken(pair) == []
    tested = pair.test
    if aspect != "systematicity":
        assert len(tested) + sum(count for _, count in pair.untested) == len(corpus.test)
    if aspect == "rule_learnability":
        assert_phrases_alone_are_shown(tested, hide)


def built(build):
    try:
        return build()
    except SplitError as error:
        return error


def assert_phrases_alone_are_shown(tested, hide):
    for sample in tested:
        hidden = challenge_of(sample, Hidden)
        assert {what for what, _ in hidden.phrases} <= {*hide} or not hide
        prompt = own.linearize(sample, "instruction")
        assert all(phrase in prompt for _, phrase in hidden.phrases)


def assert_taken_in_order(pair, pool):
    order = {sample: place for place, sample in enumerate(pool)}
    for samples in pair.all.values():
        places = [order[sample] for sample in samples]
        assert places == sorted(set(places))
    for samples in pair.arms.values():
        assert set(samples).isdisjoint(pair.test)


# With ab and its units apart there is always something to test.
@given(pools(always=["a", "b", "ab"]), st.floats(0, 1), st.integers(0, 3))
def test_systematicity_is_within_any_limit(pool, limit, seed):
    pair = systematicity.build(pool, random.Random(seed), 3, limit)
    assert check.systematicity(pair, limit=limit).holds
    assert_taken_in_order(pair, pool)


@settings(max_examples=EXAMPLES // 3)
@given(pools(always=["a", "b", "ab", "abx"]), st.integers(0, 100))
def test_a_search_meets_all_requirements_with_the_largest_atom(pool, seed):
    pair = built(lambda: search.systematicity(pool, seed, rounds=1).pair)
    assume(isinstance(pair, Sets))  # a small pool may hide a solution
    assert check.check(pair).holds
    assert_taken_in_order(pair, pool)
    atoms = set(chain.from_iterable(sample.units for sample in pair.test))
    assert all(
        atoms.intersection(sample.units) for samples in pair.arms.values() for sample in samples
    )
    assert list(pair.arms["atom"]) == [
        sample
        for sample in pool
        if atoms.intersection(sample.units)
        and all(len({*tested.units} & {*sample.units}) < 2 for tested in pair.test)
    ]


@given(
    # Units so common that one long sample always fits, and something to test on them.
    pools(always=[*"abcdefgh" * 2, "abcde", "cdefgh", "ab", "bc", "bcd", "abd"]),
    pools(always=["aceg", "abcfg"]),
    st.integers(1, 3),
    st.floats(0, 1),
    st.sampled_from((exchanged, published("scarcest"), published("longest"))),
)
def test_arms_and_test_set_of_productivity_are_all_that_they_can_be(
    train, test, threshold, limit, choose
):
    pair = built(lambda: productivity.build(train, test, threshold, limit, choose))
    assume(isinstance(pair, Sets))
    assert check.productivity(pair, threshold, limit=limit).holds
    invisible, visible = pair.arms.values()
    long = [sample for sample in test if len(sample.units) > threshold]
    tested = {frozenset(sample.units) for sample in long}
    assert invisible == tuple(
        s for s in train if len(s.units) <= threshold and frozenset(s.units) not in tested
    )
    assert len(set(visible)) == len(visible)
    assert set(train).issuperset(visible)
    shown = [set(chain.from_iterable(s.units for s in samples)) for samples in (invisible, visible)]
    if choose is exchanged:
        assert shown[1].issuperset(chain.from_iterable(s.units for s in pair.test))
        places = [train.index(sample) for sample in visible]
        assert places == sorted(places)
        shown = shown[:1]  # no unit of a test sample leaves Visible
    assert pair.test == tuple(
        sample for sample in long if all(units.issuperset(sample.units) for units in shown)
    )


def test_every_pair_of_different_orders_is_drawn_as_often():
    units = [
        Triple("Gull", *end) for end in (("captain", "Ada"), ("port", "Anholt"), ("cargo", "rye"))
    ]
    sample = SampleMaker("ships")(units, ["The Gull of Anholt sails under Ada with rye."])
    rng = random.Random(0)
    challenges = (order_invariance.shown_twice([sample], rng)[0] for _ in range(3_000))
    counts = Counter(challenge_of(each, Orders).inputs for each in challenges)
    assert len(counts) == 6 * 5
    assert all(first != second for first, second in counts)
    assert max(counts.values()) < 2 * min(counts.values())
