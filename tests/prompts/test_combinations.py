"""Demonstrations of a combination show it where training has it, and others where it does not."""

import pytest

from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import AttributeValue, Sample, SampleMaker, Split, SplitPair
from spor_tasks.prompts.content import Prompted
from spor_tasks.prompts.demonstrations import choose

MAKE = SampleMaker("own")


def sample(mood: str, size: str, *texts: str) -> Sample:
    return MAKE([AttributeValue("mood", mood), AttributeValue("size", size)], texts)


TRAIN = tuple(
    sample(mood, size, f"{mood} {size} {n}")
    for mood, size in (("glad", "S"), ("glad", "M"), ("sad", "S"))
    for n in range(6)
)


def shown(asked: Sample, most: int) -> tuple[Sample, ...]:
    pair = SplitPair("any", "own", "acd", (Split("train", TRAIN),), Split("test", (asked,)))
    (found,) = choose(pair, most)
    assert isinstance(found, Prompted)
    (arm,) = found.arms
    return arm


def test_a_seen_combination_is_shown_itself() -> None:
    asked = sample("glad", "M")
    found = shown(asked, 5)
    assert len({*found}) == 5
    assert {each.units for each in found} == {asked.units}
    assert found == shown(asked, 5) != shown(sample("glad", "M"), 5)


def test_an_unseen_one_is_shown_by_others_each_as_often() -> None:
    found = shown(sample("sad", "M"), 5)
    counts = sorted(
        sum(each.units == units for each in found) for units in {s.units for s in TRAIN}
    )
    assert counts == [1, 2, 2]
    assert len({each.units for each in shown(sample("sad", "M"), 3)}) == 3


def test_without_training_texts_there_is_nothing_to_show() -> None:
    pair = SplitPair(
        "any", "own", "acd", (Split("train", ()),), Split("test", (sample("sad", "M"),))
    )
    with pytest.raises(SplitError):
        choose(pair, 3)
