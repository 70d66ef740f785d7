"""Original and Match, and the three test sets, on invented ships."""

import json
import random
from collections import Counter

import pytest

from spor_tasks.aspects.order_invariance import (
    build,
    matched,
    reference_orders,
    shown_twice,
    with_an_order,
)
from spor_tasks.core import codec, files
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import AttributeValue, Orders, Sample, SampleMaker, Triple, challenge_of

CREW = Triple("Gull", "captain", "Ada Holm")
PORT = Triple("Gull", "home port", "Anholt")
CARGO = Triple("Gull", "cargo", "herring")

make = SampleMaker("ships")
BOTH_WAYS = make(
    [CREW, PORT],
    ["Ada Holm commands the Gull of Anholt.", "From Anholt, the Gull sails under Ada Holm."],
    category="Ship",
)
SILENT = make([CREW, PORT, CARGO], ["The Gull of Anholt carries something."])
SINGLE = make([PORT], ["The Gull is at home in Anholt."])
CAFE = SampleMaker("e2e")(
    [AttributeValue("food", "fish"), AttributeValue("family friendly", "yes")],
    ["A family friendly place with fish is the Gull."],
    name="Gull",
)


def one(sample: Sample, rng: random.Random) -> Sample:
    (shown,) = shown_twice([sample], rng)
    return shown


def test_match_has_a_sample_for_each_reference_in_its_order() -> None:
    first, second = matched([BOTH_WAYS])
    assert (first.units, first.references) == ((CREW, PORT), BOTH_WAYS.references[:1])
    assert (second.units, second.references) == ((PORT, CREW), BOTH_WAYS.references[1:])
    assert first.about("category") == second.about("category") == "Ship"


def test_samples_of_match_have_the_ids_that_their_file_gives_them() -> None:
    again = SampleMaker("ships")
    samples = matched([BOTH_WAYS, BOTH_WAYS])
    assert [s.id for s in samples] == [again(s.units, s.references).id for s in samples]
    assert len({sample.id for sample in samples}) == 4


def test_reference_orders_are_only_those_of_references_that_mention_everything() -> None:
    assert reference_orders(BOTH_WAYS) == ((0, 1), (1, 0))
    assert reference_orders(SILENT) is None
    assert reference_orders(SINGLE) == ((0,),)


def test_main_holds_the_samples_that_all_references_tell_whole() -> None:
    (sample,) = shown_twice([SILENT, BOTH_WAYS, SINGLE], random.Random(0))
    assert (sample.id, sample.about("category")) == (BOTH_WAYS.id, "Ship")
    assert (sample.units, sample.references) == (BOTH_WAYS.units, BOTH_WAYS.references)
    assert challenge_of(sample, Orders).references == ((0, 1), (1, 0))
    assert sorted(challenge_of(sample, Orders).inputs) == [(0, 1), (1, 0)]


def test_every_pair_of_different_orders_is_drawn_as_often() -> None:
    units = [CREW, PORT, CARGO]
    sample = make(units, ["The Gull of Anholt sails under Ada Holm with herring."])
    rng = random.Random(0)
    counts = Counter(challenge_of(one(sample, rng), Orders).inputs for _ in range(3_000))
    assert len(counts) == 6 * 5
    assert all(first != second for first, second in counts)
    assert max(counts.values()) < 2 * min(counts.values())


def test_samples_of_one_unit_have_no_order() -> None:
    assert with_an_order([SINGLE, SILENT, BOTH_WAYS]) == (SILENT, BOTH_WAYS)


@pytest.mark.parametrize(("part", "count"), [("main", 1), ("cwio", 2), ("performance", 3)])
def test_each_part_has_the_same_arms_and_its_own_test_set(part: str, count: int) -> None:
    train, test = [SINGLE, BOTH_WAYS], [SILENT, BOTH_WAYS, SINGLE]
    pair = build(train, test, part, random.Random(0))
    assert (pair.aspect, pair.corpus, pair.protocol) == ("order_invariance", "ships", "strict")
    assert [split.name for split in pair.splits] == ["original", "match", "test"]
    assert pair.arms[0].samples == tuple(train)
    assert pair.arms[1].samples == matched(train)
    assert (pair.part, len(pair.test.samples)) == (part, count)


def test_a_seed_gives_the_same_orders_again() -> None:
    builds = [build([SINGLE], [BOTH_WAYS] * 20, "main", random.Random(s)) for s in (1, 1, 2)]
    assert builds[0] == builds[1]
    assert builds[0] != builds[2]


@pytest.mark.parametrize(
    ("train", "test", "part", "fault"),
    [
        ([], [BOTH_WAYS], "performance", "no training samples"),
        ([SINGLE], [], "performance", "there are none"),
        ([SINGLE], [SINGLE], "cwio", "in 1 no two units differ"),
        ([SINGLE], [SILENT], "main", "in 1 a reference does not mention every unit"),
    ],
)
def test_nothing_to_train_on_or_to_test_is_an_error(
    train: list[Sample], test: list[Sample], part: str, fault: str
) -> None:
    with pytest.raises(SplitError, match=fault):
        build(train, test, part, random.Random(0))


def test_orders_are_written_under_the_published_names() -> None:
    row = json.loads(files.encode_row(codec.to_row(one(CAFE, random.Random(0)))))
    assert list(row) == ["name", "data", "texts", "input_order_1", "input_order_2", "output_order"]
    assert row["output_order"] == [[1, 0]]
    assert sorted([row["input_order_1"], row["input_order_2"]]) == [[0, 1], [1, 0]]
