"""Each requirement of the aspects, broken one at a time, and the samples that break it."""

import math
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.aspects import check
from spor_tasks.aspects.arms import ARMS
from spor_tasks.aspects.numbers import divergence_of_counts
from spor_tasks.core import named
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import AttributeValue, Hidden, Sample, challenge_of
from tests.oracles.requirements import broken
from tests.support.soak import some
from tests.support.strategies import pool, sets

WORDS = ("ab", "abc", "abx", "ba", "bay", "bc")


def systematicity(atom, combination, test, limit=0.02):
    """The check of sets of one word per sample, one data unit per letter."""
    arms = {"atom": pool(atom.split()), "combination": pool(combination.split())}
    return check.systematicity(sets("systematicity", pool(test.split()), **arms), limit=limit)


def productivity(invisible, visible, test):
    """The check of such sets at a threshold of 2."""
    arms = {"invisible": pool(invisible.split()), "visible": pool(visible.split())}
    return check.productivity(sets("productivity", pool(test.split()), **arms), 2)


def broken_by(result):
    """Each violation with its samples, as the words that they were made from."""
    word = {pool([word])[0].id: word for word in WORDS}
    return {
        violation.words: {
            split: " ".join(word[sample] for sample in samples)
            for split, samples in violation.samples.items()
        }
        for violation in result.violations
    }


def test_proper_sets_break_nothing_and_are_counted():
    result = systematicity("a b cx", "abx c", "ab bc")
    assert result.holds
    assert (result.counts["divergence"], result.counts["limit"]) == (0, 0.02)
    result = productivity("ab c d ab c d", "abc ab c d d", "bcd cda")
    assert result.holds
    counts = {name: count for name, count in result.counts.items() if count not in (0, (0, 0))}
    units = {"units": (8, 8), "long_in_visible": 1, "units_in_long": 3}
    assert counts == {"threshold": 2, "limit": 0.02, **units}


# ab and bc are in Atom: abc is touched (ac is not in it), bc is given away, cd is neither.
FAULTS = {
    "abx bay bc d ad / a b c d / abc bc cd": {
        "2 test pairs occur in Atom": {"atom": "abx bay bc", "test": "abc bc"},
        "1 test samples have every pair in Atom": {"test": "bc"},
        "1 training samples have exactly the units of a test sample": {"atom": "bc"},
        "atoms occur 9 times in Atom but 4 times in Combination": {},
        "the divergence of the arms is 0.0203, more than 0.02": {},
    },
    "a a / b c / ab bc": {
        "2 atoms do not occur in Atom": {"test": "ab bc"},
        "1 atoms do not occur in Combination": {"test": "ab"},
        "the divergence of the arms is 1.0000, more than 0.02": {},
    },
    "a b / ba / ab": {
        "1 training samples have exactly the units of a test sample": {"combination": "ba"}
    },
    "a a a b / abx b by / ab": {"the divergence of the arms is 0.1340, more than 0.02": {}},
}


@pytest.mark.parametrize("words", FAULTS)
def test_faults_of_systematicity(words):
    assert broken_by(systematicity(*words.split("/"))) == FAULTS[words]


def test_a_divergence_within_the_limit_is_no_fault_and_needs_units_of_the_test_set():
    result = systematicity("a a a b", "abx b by", "ab", limit=0.14)
    assert result.holds
    expected = 1 - (math.sqrt(3 / 4 * 1 / 4) + math.sqrt(1 / 4 * 3 / 4))
    assert result.counts["divergence"] == pytest.approx(expected, abs=1e-15)
    with pytest.raises(SplitError, match="without units"):
        systematicity("x", "ab", "ab")
    with pytest.raises(SplitError, match="without units"):
        productivity("", "abc", "abd")


counts = st.dictionaries(st.integers(0, 5), st.integers(0, 50)).map(Counter).filter(Counter.total)


@given(counts, counts)
def test_a_divergence_is_symmetric_and_zero_between_equals(p, q):
    assert 0 <= divergence_of_counts(p, q) == divergence_of_counts(q, p) <= 1
    tripled = Counter({key: 3 * count for key, count in p.items()})
    assert divergence_of_counts(p, p) == 0 <= divergence_of_counts(p, tripled) < 1e-15


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("ab c", "abc", "ab abcc"), "1 test samples have at most 2 units"),
        (("abc", "abc", "abcc"), "1 samples of Invisible have more than 2 units"),
        (("ab c", "abc", "abd bcd"), "1 units of the test set do not occur in Visible"),
        (("ab c", "abx", "bcd"), "2 units of the test set do not occur in Visible"),
        (("ab c", "abc", "abd"), "1 units of the test set do not occur in Invisible"),
        (("ab c", "cab", "abc"), "1 training samples have exactly the units of a test sample"),
        (("ab c", "abc ac", "aab"), "1 short samples of Visible are not in Invisible"),
        (("ab c", "abc ab", "aab"), "Invisible has 3 units but Visible 5"),
        (("ab c", "abb", "aab"), "the divergence of the arms is 0.1953, more than 0.02"),
        (("ab c", "ab c", "aab"), "no sample of Visible has more than 2 units"),
    ],
)
def test_faults_of_productivity(words, fault):
    assert fault in [violation.words for violation in productivity(*words).violations]


# The parts of order invariance share their arms, which take seconds to align; productivity's sets
# are checked where they are compared with the released ones.
STRICT = [
    name
    for name in (spec.sets for spec in named.available())
    if name.protocol == "strict"
    and name.corpus != "mini"
    and name.aspect in {*ARMS} - {"productivity"}
    if name.part not in ("cwio", "performance")
]


@pytest.mark.usefixtures("data_dir")
@pytest.mark.parametrize("name", some(STRICT, 2), ids=map(str, STRICT))
def test_strict_sets_hold(name):
    assert broken(named.load(**name.named)) == []


def test_a_hidden_entity_or_value_that_is_shown_is_found():
    """Each phrase in turn is put back to what it stands for, or to another phrase."""
    pair = named.load("rule_learnability", "mini")
    assert check.check(pair).holds
    for sample in pair.test[:20]:
        hidden = challenge_of(sample, Hidden)
        for name, phrase in hidden.phrases:
            for text in (name, "Entity 99"):
                units = tuple(
                    unit._replace(
                        subject=text if unit.subject == phrase else unit.subject,
                        object=text if unit.object == phrase else unit.object,
                    )
                    for unit in sample.units
                )
                faulty = replace(sample, units=units)
                result = check.check(replace(pair, test=(faulty,)))
                (violation,) = result.violations
                assert violation.samples == {"test": (sample.id,)}


def test_a_hidden_attribute_that_has_a_value_is_found():
    hidden = Hidden((("food", "Value A"),), (("food", ("thai", "fish")),))
    for value, holds in (("Value A", True), ("thai", False)):
        units = (AttributeValue("name", "Gull"), AttributeValue("food", value))
        tested = Sample("1", "e2e", units, (), challenge=hidden)
        found = sets("rule_learnability", (tested,), original=())
        assert check.check(found).holds is holds
