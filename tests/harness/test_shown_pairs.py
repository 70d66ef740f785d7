"""The share of a sample's pairs of units that an arm shows, as an evaluation logs it."""

from dataclasses import replace
from itertools import combinations

import pytest

from spor_tasks.core.named import load
from spor_tasks.core.sample import Sets
from spor_tasks.harness import documents
from spor_tasks.report.browser import _share


@pytest.fixture(scope="module")
def pair() -> Sets:
    return load("systematicity", "mini")


def share(sample, shown):
    """The obvious version: look through all shown samples for each pair."""
    pairs = [*combinations(dict.fromkeys(sample.units), 2)]
    found = [any({*two} <= {*each.units} for each in shown) for two in pairs]
    return sum(found) / len(pairs)


def test_training_sets_show_the_pairs_that_stand_together_in_a_sample(pair):
    shares = documents.shown_pairs(pair, None)
    assert shares.keys() == {sample.id for sample in pair.test}
    for sample in pair.test[::10]:
        expected = {arm: share(sample, samples) for arm, samples in pair.arms.items()}
        assert shares[sample.id] == pytest.approx(expected)
    assert {each["atom"] for each in shares.values()} == {0}
    assert len({each["combination"] for each in shares.values()}) > 2


def test_in_context_they_are_those_of_the_demonstrations_of_the_sample(pair):
    shares = documents.shown_pairs(pair, 4)
    for each in documents.chosen(pair, 4)[::10]:
        expected = {
            arm: share(each.sample, of) for arm, of in zip(pair.arms, each.arms, strict=True)
        }
        assert shares[each.sample.id] == pytest.approx(expected)
    assert {each["atom"] for each in shares.values()} == {0}


def test_sets_of_one_arm_have_none(pair):
    one = replace(pair, arms={"atom": pair.arms["atom"]}, facts=replace(pair.facts, part="one"))
    assert documents.shown_pairs(one, None) == {}


def test_shares_are_in_four_steps():
    steps = [_share(number / 20) for number in range(21)]
    assert [*dict.fromkeys(steps)] == ["0 %", "1 to 49 %", "50 to 99 %", "100 %"]
    assert steps.count("1 to 49 %") == 9
