"""Demonstrations of tables: similar headers, other tables, the same each time."""

import random

import pytest

from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import AttributeValue, Column, Fact, Sample, Split, SplitPair
from spor_tasks.core.table import Table
from spor_tasks.corpora.tables import header_of
from spor_tasks.prompts import demonstrations


def sample(number: int, *header: str, title: str | None = None) -> Sample:
    table = Table(header, (("1",) * len(header),))
    context: dict[str, Fact] = {
        "name": f"{number}.csv",
        "title": title or f"title {number}",
        "table": table,
    }
    units = (Column(header[0], "0"),)
    return Sample(f"id {number}", "logicnlg", units, (f"text {number}",), context)


def pair(train: list[Sample], *test: Sample) -> SplitPair:
    return SplitPair(
        "tables", "logicnlg", "published", (Split("train", train),), Split("test", test)
    )


def ids(train: list[Sample], asked: Sample, most: int) -> list[str]:
    (prompted,) = demonstrations.choose(pair(train, asked), most)
    return [shown.id for shown in prompted.arms[0]]


ASKED = sample(0, "city", "people", "area")
TRAIN = [
    sample(1, "player", "team"),
    sample(2, "City", "people"),
    sample(3, "city", "people", "area"),
    sample(4, "year"),
    sample(5, "city", "people", "area", title="title 0"),
    sample(0, "city", "people", "area"),
]


def test_the_most_similar_table_stands_last_and_the_own_one_is_never_shown() -> None:
    assert ids(TRAIN, ASKED, 2) == ["id 2", "id 3"]
    assert set(ids(TRAIN, ASKED, 9)) == {"id 1", "id 2", "id 3", "id 4"}


def test_the_order_of_the_training_samples_changes_nothing() -> None:
    shuffled = TRAIN[:]
    random.Random(0).shuffle(shuffled)
    assert ids(shuffled, ASKED, 4) == ids(TRAIN, ASKED, 4)


def test_of_a_table_one_sample_is_shown_and_not_always_the_same() -> None:
    twice = [
        Sample(f"{n}", "logicnlg", s.units, s.references, s.context)
        for n in range(8)
        for s in TRAIN[2:3]
    ]
    shown = set()
    for number in range(20):
        asked = Sample(f"asked {number}", "logicnlg", ASKED.units, ("x",), ASKED.context)
        (one,) = ids(twice, asked, 3)
        shown.add(one)
    assert len(shown) > 2


def test_tables_without_columns_can_be_compared() -> None:
    table = Table((), ())
    units = (AttributeValue("a", "0"),)
    none = Sample("9", "logicnlg", units, ("x",), {"name": "9.csv", "title": "t", "table": table})
    other = Sample("8", "logicnlg", units, ("y",), {"name": "8.csv", "title": "u", "table": table})
    assert header_of(none) == frozenset()
    assert ids([none], other, 1) == ["9"]


def test_an_arm_without_tables_is_refused() -> None:
    plain = Sample("1", "logicnlg", ASKED.units, ("x",))
    with pytest.raises(SplitError):
        demonstrations.choose(pair([plain], ASKED), 1)
