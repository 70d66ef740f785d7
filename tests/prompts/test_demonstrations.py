"""Demonstrations of each aspect, on invented samples, the embedded corpus and the real ones."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from spor_tasks.aspects import named
from spor_tasks.aspects.order_invariance import matched
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.sample import (
    AttributeValue,
    DataUnit,
    Hidden,
    Sample,
    SampleMaker,
    SplitPair,
    Triple,
)
from spor_tasks.prompts.content import matching
from spor_tasks.prompts.demonstrations import choose
from tests.conftest import REPOSITORY
from tests.support import strategies
from tests.support.damage import SOAK
from tests.support.soak import some
from tests.support.strategies import pool


def sets(aspect: str, test: Sequence[Sample], *arms: Sequence[Sample]) -> SplitPair:
    return strategies.sets(aspect, test, **dict(zip(("one", "other"), arms, strict=False)))


def word(sample: Sample) -> str:
    return "".join(unit[0] for unit in sample.units)


def shown(pair: SplitPair, most: int = 8) -> list[list[list[str]]]:
    """The words that each arm shows before each test sample, in alphabetical order."""
    return [[sorted(map(word, arm)) for arm in found.arms] for found in choose(pair, most)]


# --- Systematicity --------------------------------------------------------------------------------

ATOM = pool(["a", "b", "c", "cx", "cxy", "d", "xyz", "vw"])


def test_a_pair_is_shown_together_and_a_sample_of_other_units_fills_up() -> None:
    """Atom's third demonstration has the unit more that Combination's filler has."""
    pair = sets("systematicity", pool(["abc"]), ATOM, pool(["ab", "c", "x"]))
    assert shown(pair) == [[["a", "b", "cx"], ["ab", "c", "x"]]]


def test_as_many_pairs_as_can_be_stand_together() -> None:
    atom = pool(["a", "bv", "cw", "dx", "y", "z"])
    pair = sets("systematicity", pool(["abcd"]), atom, pool(["ab", "abc", "cd", "d", "y", "wz"]))
    assert shown(pair) == [[["a", "bv", "cw", "dx"], ["abc", "d", "wz", "y"]]]


def test_the_test_sample_itself_is_never_shown_but_one_with_more_units_is_if_it_must_be() -> None:
    atom = pool(["a", "b", "d", "xy", "xyz"])
    pair = sets("systematicity", pool(["ab"]), atom, pool(["ab", "abx", "y", "z"]))
    assert [arms[1][0] for arms in shown(pair)] == ["abx"]
    pair = sets("systematicity", pool(["abd"]), atom, pool(["ab", "abdx", "d", "y", "z"]))
    assert all("abdx" not in arm for arm in shown(pair)[0])


def test_texts_of_very_different_length_are_not_matched() -> None:
    make = SampleMaker("wordy")
    long = [make(sample.units, ["word " * 60]) for sample in pool(["ab", "c", "x"])]
    pair = sets("systematicity", pool(["abc"]), ATOM, long)
    with pytest.raises(SplitError, match="no test sample is covered"):
        choose(pair, 8)


def test_atom_needs_a_demonstration_for_each_unit() -> None:
    combination = pool(["abc", "d", "x", "y"])
    pair = sets("systematicity", pool(["abcd"]), pool(["a", "b", "cx", "dy"]), combination)
    assert shown(pair, most=4) == [[["a", "b", "cx", "dy"], ["abc", "d", "x", "y"]]]
    with pytest.raises(SplitError, match="covered by 3 demonstrations in each arm"):
        choose(pair, 3)


# --- Productivity ---------------------------------------------------------------------------------


def test_one_of_visible_is_longer_than_any_of_invisible_and_prompts_are_alike() -> None:
    invisible = pool(["ax", "bc", "dy", "z"])  # two units at most
    visible = pool(["abcx", "d", "v"])
    pair = sets("productivity", pool(["abcd"]), invisible, visible)
    assert shown(pair, most=3) == [[["ax", "bc", "dy"], ["abcx", "d", "v"]]]


def test_without_a_long_demonstration_there_is_nothing_to_see() -> None:
    pair = sets("productivity", pool(["abc"]), pool(["a", "bc", "x"]), pool(["ab", "c", "y"]))
    with pytest.raises(SplitError, match="no test sample is covered"):
        choose(pair, 8)


# --- What is alike --------------------------------------------------------------------------------


def test_matching_counts_what_prompts_show() -> None:
    pair = sets("systematicity", pool(["abc"]), ATOM, pool(["ab", "c", "x"]))
    one, other = matching(choose(pair, 8))
    assert (one.demonstrations, one.own_units, one.other_units) == (3, 3, 1)
    assert (other.demonstrations, other.own_units, other.other_units) == (3, 3, 1)
    assert one.words == other.words > 20
    assert one.copied


# --- Order invariance -----------------------------------------------------------------------------


def test_match_shows_the_units_in_the_order_of_the_text() -> None:
    make = SampleMaker("letters")
    units = pool(["abc"])[0].units
    original = [make(units, ["C then A then B.", "A B C"])]
    pair = sets("order_invariance", pool(["ab"]), original, matched(original))
    ((found),) = choose(pair, 1)
    assert [word(sample) for (sample,) in found.arms] == ["abc", "cab"]
    assert [sample.references[0] for (sample,) in found.arms] == ["C then A then B."] * 2


def test_match_must_be_made_of_original() -> None:
    with pytest.raises(SplitError, match="one sample for each reference"):
        choose(sets("order_invariance", pool(["ab"]), pool(["abc", "b"]), pool(["abc"])), 1)


# --- Rule learnability ----------------------------------------------------------------------------


def copy_of(units: Sequence[DataUnit], *hidden: tuple[str, str], name: str | None = None) -> Sample:
    return replace(SampleMaker("copies")(units, [], name=name), challenge=Hidden(hidden))


def test_demonstrations_show_the_hidden_entity() -> None:
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
    (found,) = choose(sets("rule_learnability", [test], train), 8)
    assert set(found.arms[0]) == {train[0], train[2]}


def test_any_value_stands_for_a_hidden_one_and_no_other() -> None:
    make = SampleMaker("inns")
    train = [
        make([AttributeValue("price range", "high")], ["It is dear."], name="The Gull"),
        make([AttributeValue("food", "Thai")], ["It is Thai."], name="The Gull"),
        make([AttributeValue("food", "Greek")], ["It is Greek."], name="The Gull"),
    ]
    test = copy_of(
        [AttributeValue("food", "Greek"), AttributeValue("price range", "less than Value A")],
        ("price range", "less than Value A"),
        name="The Auk",
    )
    (found,) = choose(sets("rule_learnability", [test], train), 8)
    assert set(found.arms[0]) == {train[0], train[2]}


# --- What is refused ------------------------------------------------------------------------------


def test_no_demonstrations_are_none() -> None:
    with pytest.raises(ConfigError, match="demonstrations are what this task is about"):
        choose(sets("rule_learnability", pool(["ab"]), pool(["abc"])), 0)


# --- The embedded corpus and the real ones --------------------------------------------------------
# The test samples that so many demonstrations at most cover.
REAL = {
    "systematicity webnlg": {3: 717, 5: 1345, 8: 1432},
    "systematicity e2e": {3: 108, 5: 153, 8: 156},
    "productivity webnlg n3": {3: 60, 5: 116, 8: 125},
    "productivity webnlg n4": {3: 50, 5: 73, 8: 76},
    "productivity webnlg n5": {3: 70, 5: 73, 8: 73},
    "productivity e2e n3": {3: 717, 5: 1310, 8: 1314},
    "productivity e2e n4": {3: 1002, 5: 1002, 8: 1002},
    "productivity e2e n5": {3: 477, 5: 477, 8: 477},
    "order_invariance webnlg main": {3: 1494, 5: 1494, 8: 1494},
    "order_invariance webnlg cwio": {3: 1682, 5: 1690, 8: 1690},
    "order_invariance webnlg performance": {3: 2072, 5: 2080, 8: 2080},
    "order_invariance e2e main": {3: 1623, 5: 1623, 8: 1623},
    "order_invariance e2e cwio": {3: 1623, 5: 1623, 8: 1623},
    "order_invariance e2e performance": {3: 1635, 5: 1635, 8: 1635},
    "rule_learnability webnlg": {3: 1576, 5: 1584, 8: 1584},
    "rule_learnability e2e": {3: 1440, 5: 1440, 8: 1440},
}


FEW = 60
"""Test samples of each real set that every run tries, evenly spread; `make soak` tries all."""


def load(split: str) -> SplitPair:
    aspect, corpus, *part = split.split()
    return named.load(aspect, corpus, None, *part)


def with_few(pair: SplitPair) -> SplitPair:
    samples = pair.test.samples
    few = samples[:: max(1, len(samples) // FEW)][:FEW]
    return replace(pair, test=replace(pair.test, samples=few))


def covered(pair: SplitPair) -> dict[int, int]:
    return {most: len(choose(pair, most)) for most in (3, 5, 8)}


@pytest.mark.real_data
@pytest.mark.usefixtures("data_dir")
@pytest.mark.parametrize("split", some(REAL, 5))
def test_so_many_real_test_samples_are_covered_and_copying_is_worth_the_same(split: str) -> None:
    pair = load(split)
    if SOAK > 1:
        assert covered(pair) == REAL[split]
    found = choose(with_few(pair), 8)
    assert found
    if pair.aspect not in {"systematicity", "productivity"}:
        return
    one, other = matching(choose(pair, 8) if SOAK > 1 else found)
    assert one.demonstrations == other.demonstrations
    assert one.own_units == other.own_units
    assert one.other_units == other.other_units
    assert one.words == pytest.approx(other.words, rel=0.03)
    assert one.copied
    assert other.copied
    assert abs(one.copied - other.copied) < 2  # 12.8, -6.4 and 12.9 when only units were matched


def test_the_documentation_gives_these_numbers() -> None:
    lines = (REPOSITORY / "docs" / "in-context.md").read_text("utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    printed = {
        row[0]: [int(n.replace(",", "")) for n in row[2:5]]
        for row in rows
        if len(row) == 5 and row[1][:1].isdigit()
    }
    assert printed == {split: list(counts.values()) for split, counts in REAL.items()}
