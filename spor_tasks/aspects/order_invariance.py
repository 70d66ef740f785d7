"""Order invariance (section 3.3): does the order of the data units change the text?

Original has units in the order of the corpus, Match in the order in which the text mentions them.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias, get_args

from spor_tasks.aspects.arms import strict_sets
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import Order, Orders, Sample, SampleMaker, SplitPair
from spor_tasks.text import align

Part: TypeAlias = Literal["main", "cwio", "performance"]
"""The test sets: units in two orders, correlation with the input order, and PARENT."""
PARTS: tuple[Part, ...] = get_args(Part)


def build(
    train: Sequence[Sample], test: Sequence[Sample], part: Part, rng: random.Random
) -> SplitPair:
    """Build the arms ``original`` and ``match`` and one test set; only ``main`` is random.

    Raises:
        SplitError: there are no training samples, or no test samples that suit the part.
    """
    match part:
        case "main":
            test = shown_twice(test, rng)
        case "cwio":
            test = with_an_order(test)
        case "performance":
            pass
    if not train or not test:
        raise SplitError(
            f"there are no training samples, or no test samples that suit part {part!r}",
            remedy="`cwio` needs test samples of two or more units. For `main`, every reference of "
            "such a sample must also mention every unit.",
        )
    return strict_sets("order_invariance", train, matched(train), test=test, part=part)


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
        replace(sample, challenge=Orders(_draw_orders(len(sample.units), rng), told))
        for sample in with_an_order(samples)
        if (told := reference_orders(sample))
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
