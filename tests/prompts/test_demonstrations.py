"""Demonstrations of each aspect, on invented samples and the real ones."""

from dataclasses import replace

import pytest

from spor_tasks.core import named
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.sample import AttributeValue, Hidden, SampleMaker, Triple
from spor_tasks.prompts import demonstrations
from spor_tasks.prompts.content import matching
from spor_tasks.prompts.demonstrations import choose
from tests.support import strategies
from tests.support.damage import SOAK
from tests.support.soak import soak
from tests.support.strategies import pool


def sets(aspect, test, *arms):
    return strategies.sets(aspect, test, **dict(zip(("one", "other"), arms, strict=False)))


def of_words(aspect, test, *arms):
    return sets(aspect, *(pool(words.split()) for words in (test, *arms)))


def shown(pair, most=8):
    """The words that each arm shows before the one test sample, in alphabetical order."""
    ((prompted),) = choose(pair, most)
    words = [["".join(unit[0] for unit in s.units) for s in arm] for arm in prompted.arms]
    return [" ".join(sorted(arm)) for arm in words]


ATOM = "a b c cx cxy d xyz vw"
LONG = [replace(each, references=("word " * 60,)) for each in pool(["ab", "c", "x"])]


@pytest.mark.parametrize(
    ("aspect", "most", "test", "arms", "expected"),
    [
        # Atom's third demonstration has the unit more that Combination's filler has.
        ("systematicity", 8, "abc", (ATOM, "ab c x"), ["a b cx", "ab c x"]),
        # As many pairs as possible stand together.
        (
            *("systematicity", 8, "abcd"),
            ("a bv cw dx y z", "ab abc cd d y wz"),
            ["a bv cw dx", "abc d wz y"],
        ),
        # Atom needs a demonstration for each unit.
        ("systematicity", 4, "abcd", ("a b cx dy", "abc d x y"), ["a b cx dy", "abc d x y"]),
        # One of Visible is longer than any of Invisible, and prompts are alike.
        ("productivity", 3, "abcd", ("ax bc dy z", "abcx d v"), ["ax bc dy", "abcx d v"]),
    ],
)
def test_what_each_arm_shows(aspect, most, test, arms, expected):
    assert shown(of_words(aspect, test, *arms), most) == expected


def test_one_with_more_units_than_the_test_sample_is_shown_only_if_it_must_be():
    atom = "a b d xy xyz"
    assert shown(of_words("systematicity", "ab", atom, "ab abx y z"))[1].startswith("abx ")
    assert "abdx" not in shown(of_words("systematicity", "abd", atom, "ab abdx d y z"))[1]


@pytest.mark.parametrize(
    ("pair", "most"),
    [
        (of_words("systematicity", "abcd", "a b cx dy", "abc d x y"), 3),
        # No long demonstration.
        (of_words("productivity", "abc", "a bc x", "ab c y"), 8),
        # Texts of very different length.
        (sets("systematicity", pool(["abc"]), pool(ATOM.split()), LONG), 8),
    ],
)
def test_a_sample_that_the_arms_do_not_cover_alike_is_left_out(pair, most):
    with pytest.raises(SplitError, match=f"covered by {most} demonstrations in each arm") as caught:
        choose(pair, most)
    assert caught.value.remedy
    with pytest.raises(ConfigError, match="demonstrations are what this task is about"):
        choose(pair, 0)


def test_a_choice_that_takes_seconds_shows_how_far_it_is(monkeypatch, capsys):
    choose(of_words("systematicity", "abc", ATOM, "ab c x"), 8)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(demonstrations, "_SECONDS", 0.0)
    choose(of_words("systematicity", "abc", ATOM, "ab c x"), 8)
    assert "choosing demonstrations: 100%" in capsys.readouterr().err


def test_matching_counts_what_prompts_show():
    one, other = matching(choose(of_words("systematicity", "abc", ATOM, "ab c x"), 8))
    for each in (one, other):
        assert (each.demonstrations, each.own_units, each.other_units) == (3, 3, 1)
    assert one.words == other.words > 20
    assert one.copied


def test_match_has_a_sample_for_each_reference_of_original():
    with pytest.raises(SplitError, match="one sample for each reference"):
        choose(of_words("order_invariance", "ab", "abc b", "abc"), 1)


def copy_of(units, *hidden, name=None):
    return replace(SampleMaker("copies")(units, [], name=name), challenge=Hidden(hidden))


def test_demonstrations_show_the_hidden_entity():
    make = SampleMaker("places")
    train = [
        make([Triple("Old_Mill", "town", "Ebb")], ["Old Mill is in Ebb."]),
        make([Triple("Entity 1", "town", "Ebb")], ["Entity 1 is in Ebb."]),
        make([Triple("New_Mill", "owner", "Old_Mill")], ["New Mill belongs to Old Mill."]),
    ]
    test = copy_of(
        [Triple("Entity 1", "town", "Ebb"), Triple("New_Mill", "owner", "Entity 1")],
        ("Old Mill", "Entity 1"),
    )
    (prompted,) = choose(sets("rule_learnability", [test], train), 8)
    assert set(prompted.arms[0]) == {train[0], train[2]}


def test_any_value_stands_for_a_hidden_one_and_no_other():
    make = SampleMaker("inns")
    values = (("price range", "high"), ("food", "Thai"), ("food", "Greek"))
    train = [make([AttributeValue(*value)], ["A text."], name="The Gull") for value in values]
    phrase = ("price range", "less than Value A")
    units = [AttributeValue("food", "Greek"), AttributeValue(*phrase)]
    test = copy_of(units, phrase, name="The Auk")
    (prompted,) = choose(sets("rule_learnability", [test], train), 8)
    assert set(prompted.arms[0]) == {train[0], train[2]}


FEW = 60
"""Test samples of each real set that every run tries, evenly spread; `make soak` tries all."""


@pytest.mark.real_data
@pytest.mark.usefixtures("data_dir")
@pytest.mark.parametrize(
    "name",
    [
        "systematicity e2e",
        "productivity webnlg n5",
        *map(soak, ("systematicity webnlg", "productivity webnlg n3", "productivity e2e n5")),
    ],
)
def test_prompts_of_both_arms_are_alike_and_copying_is_worth_the_same(name):
    aspect, corpus, *part = name.split()
    pair = named.load(aspect, corpus, None, *part)
    samples = pair.test
    few = samples if SOAK > 1 else samples[:: max(1, len(samples) // FEW)][:FEW]
    one, other = matching(choose(replace(pair, test=few), 8))
    assert one.demonstrations == other.demonstrations
    assert (one.own_units, one.other_units) == (other.own_units, other.other_units)
    assert one.words == pytest.approx(other.words, rel=0.03)
    # 12.8, -6.4 and 12.9 when only units were matched
    assert one.copied == pytest.approx(other.copied, abs=2) != 0
