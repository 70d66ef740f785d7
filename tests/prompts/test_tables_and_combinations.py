"""Demonstrations of benchmarks without aspects: similar tables, and combinations of attributes."""

import random
from dataclasses import replace

import pytest

from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import AttributeValue, Column, Sample, SampleMaker
from spor_tasks.core.table import Table
from spor_tasks.prompts.demonstrations import choose
from tests.support import strategies


def shown(train, tested, most):
    (prompted,) = choose(strategies.sets("any", [tested], train=train), most)
    (arm,) = prompted.arms
    return arm


def of_table(number, *header, title=None):
    context = {
        "name": f"{number}.csv",
        "title": title or f"title {number}",
        "table": Table(header, (("1",) * len(header),)),
    }
    units = (Column(header[0], "0"),) if header else (AttributeValue("a", "0"),)
    return Sample(f"id {number}", "logicnlg", units, (f"text {number}",), context)


TABLE = of_table(0, "city", "people", "area")
TABLES = (
    of_table(1, "player", "team"),
    of_table(2, "City", "people"),
    of_table(3, "city", "people", "area"),
    of_table(4, "year"),
    of_table(5, "city", "people", "area", title="title 0"),
    TABLE,
)


def test_the_most_similar_table_stands_last_and_the_own_one_is_never_shown():
    assert [each.id for each in shown(TABLES, TABLE, 2)] == ["id 2", "id 3"]
    assert [each.id for each in shown((of_table(9),), of_table(8), 1)] == ["id 9"]  # no columns
    assert {each.id for each in shown(TABLES, TABLE, 9)} == {"id 1", "id 2", "id 3", "id 4"}
    shuffled = tuple(random.Random(0).sample(TABLES, len(TABLES)))
    assert shown(shuffled, TABLE, 4) == shown(TABLES, TABLE, 4)


def test_one_sample_of_a_table_is_shown_and_not_always_the_same():
    several = tuple(replace(TABLES[2], id=f"{number}") for number in range(8))
    tested = (replace(TABLE, id=f"tested {number}") for number in range(20))
    ids = [[each.id for each in shown(several, sample, 3)] for sample in tested]
    assert {*map(len, ids)} == {1}
    assert len({*map(tuple, ids)}) > 2


MAKE = SampleMaker("own")


def of_values(mood, size, *texts):
    return MAKE([AttributeValue("mood", mood), AttributeValue("size", size)], texts)


TEXTS = tuple(
    of_values(mood, size, f"{mood} {size} {n}")
    for mood, size in (("glad", "S"), ("glad", "M"), ("sad", "S"))
    for n in range(6)
)


def test_a_seen_combination_is_shown_itself():
    tested = of_values("glad", "M")
    texts = shown(TEXTS, tested, 5)
    assert len({*texts}) == 5
    assert {each.units for each in texts} == {tested.units}
    assert texts == shown(TEXTS, tested, 5) != shown(TEXTS, of_values("glad", "M"), 5)


def test_an_unseen_combination_is_shown_by_others_each_as_often():
    units = [each.units for each in shown(TEXTS, of_values("sad", "M"), 5)]
    assert sorted(map(units.count, {each.units for each in TEXTS})) == [1, 2, 2]
    assert len({each.units for each in shown(TEXTS, of_values("sad", "M"), 3)}) == 3


@pytest.mark.parametrize(
    ("train", "tested"), [((), TEXTS[0]), ((), TABLE), ((replace(TABLE, context={}),), TABLE)]
)
def test_an_arm_with_nothing_to_show_is_refused(train, tested):
    with pytest.raises(SplitError, match="train has no sample"):
        shown(train, tested, 3)
