"""Order invariance (section 3.3): does the order of the data units change the text?

Original has units in the order of the corpus, Match in the order in which the text mentions them.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.sample import Order, Orders, Sample, SampleMaker, Split, SplitPair
from spor_tasks.text import align

Part: TypeAlias = Literal["main", "cwio", "performance"]
"""The test sets: units in two orders, correlation with the input order, and PARENT."""
PARTS: tuple[Part, ...] = get_args(Part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Which test set is built.

    Raises:
        ConfigError: there is no such part.
    """

    part: Part

    def __post_init__(self) -> None:
        if self.part not in PARTS:
            raise ConfigError(
                f"there is no part {self.part!r}",
                where="part",
                remedy=f"Use one of {', '.join(PARTS)}.",
            )


def build(
    train: Iterable[Sample], test: Iterable[Sample], settings: Settings, rng: random.Random
) -> SplitPair:
    """Build the arms ``original`` and ``match`` and one test set; only ``main`` is random.

    Raises:
        SplitError: there are no training samples, or no test samples that suit the part.
    """
    train, test = tuple(train), tuple(test)
    tested: tuple[Sample, ...]
    match settings.part:
        case "main":
            tested = shown_twice(test, rng)
        case "cwio":
            tested = with_an_order(test)
        case "performance":
            tested = test
    if not train or not tested:
        raise SplitError(
            f"there are no training samples, or no test samples that suit part {settings.part!r}",
            remedy="`cwio` needs test samples of two or more units. For `main`, every reference of "
            "such a sample must also mention every unit.",
        )
    return SplitPair(
        aspect="order_invariance",
        corpus=train[0].corpus,
        protocol="strict",
        arms=(Split("original", train), Split("match", matched(train))),
        test=Split("test", tested),
        part=settings.part,
    )


def matched(samples: Sequence[Sample]) -> tuple[Sample, ...]:
    """Return a sample for each reference, with the units in the order of the reference.

    Units that it does not mention come last, in the order of the corpus.
    """
    make = SampleMaker(samples[0].corpus if samples else "")
    return tuple(
        make(
            (sample.units[index] for index in align.order(_positions(sample, text))),
            (text,),
            **sample.context,
        )
        for sample in samples
        for text in sample.references
    )


def with_an_order(samples: Iterable[Sample]) -> tuple[Sample, ...]:
    """Return the samples of two or more units."""
    return tuple(sample for sample in samples if len(sample.units) > 1)


def shown_twice(samples: Iterable[Sample], rng: random.Random) -> tuple[Sample, ...]:
    """Return each sample whose references all mention every unit, with two different random orders.

    Samples with a single unit are left out.
    """
    return tuple(
        replace(sample, challenge=Orders(_draw_orders(len(sample.units), rng), orders))
        for sample in with_an_order(samples)
        if (orders := reference_orders(sample))
    )


def reference_orders(sample: Sample) -> tuple[Order, ...] | None:
    """Return the order of the units in each reference; None if one does not mention every unit."""
    positions = [_positions(sample, text) for text in sample.references]
    if any(None in located for located in positions):
        return None
    return tuple(map(align.order, positions))


def _positions(sample: Sample, text: str) -> tuple[int | None, ...]:
    return align.locate(sample.units, text, strict=False)


def _draw_orders(size: int, rng: random.Random) -> tuple[Order, Order]:
    first = second = rng.sample(range(size), size)
    while second == first:
        second = rng.sample(range(size), size)
    return tuple(first), tuple(second)
