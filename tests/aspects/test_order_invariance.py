"""Original and Match, and the three test sets, on invented ships."""

import random
from collections import Counter

import pytest

from spor_tasks.aspects.order_invariance import build, matched, shown_twice
from spor_tasks.core.sample import Orders, Sample, SampleMaker, Triple, challenge_of

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


@pytest.mark.parametrize(
    ("part", "tested"),
    [
        ("main", [BOTH_WAYS]),
        ("cwio", [SILENT, BOTH_WAYS]),
        ("performance", [SILENT, BOTH_WAYS, SINGLE]),
    ],
)
def test_each_part_has_the_same_arms_and_its_own_test_set(part: str, tested: list[Sample]) -> None:
    train = [SINGLE, BOTH_WAYS]
    pair, again, other = (
        build(train, [SILENT, BOTH_WAYS, SINGLE] + [BOTH_WAYS] * 20, part, random.Random(seed))
        for seed in (0, 0, 1)
    )
    assert pair == again
    assert (pair == other) is (part != "main")
    assert [split.name for split in pair.splits] == ["original", "match", "test"]
    assert [arm.samples for arm in pair.arms] == [tuple(train), matched(train)]
    samples = pair.test.samples[: len(tested)]
    assert [(s.id, s.units, s.references, s.context) for s in samples] == [
        (s.id, s.units, s.references, s.context) for s in tested
    ]


def test_every_pair_of_different_orders_is_drawn_as_often() -> None:
    units = [CREW, PORT, CARGO]
    sample = make(units, ["The Gull of Anholt sails under Ada Holm with herring."])
    rng = random.Random(0)
    challenges = (shown_twice([sample], rng)[0] for _ in range(3_000))
    counts = Counter(challenge_of(each, Orders).inputs for each in challenges)
    assert len(counts) == 6 * 5
    assert all(first != second for first, second in counts)
    assert max(counts.values()) < 2 * min(counts.values())
