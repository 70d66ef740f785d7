"""Order invariance (section 3.3): does the order of the data units change the text?

Original has units in the order of the corpus, Match in the order in which the text mentions them.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate

from spor_tasks.aspects.arms import counted, in_words, strict_sets
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import Order, Orders, Sample, SampleMaker, Sets, reordered
from spor_tasks.text import align

PARTS = ("main", "cwio", "performance")
"""The test sets: units in two orders, correlation with the input order, and PARENT."""


def build(train: Sequence[Sample], test: Sequence[Sample], part: str, rng: random.Random) -> Sets:
    """Build the arms ``original`` and ``match`` and one of :data:`PARTS`; only ``main`` is random.

    Raises:
        SplitError: no test sample suits the part.
    """
    if part == "main":
        tested = shown_twice(test, rng)
    else:
        several = with_an_order(test) if part == "cwio" else test
        tested = tuple(replace(sample, challenge=None) for sample in several)
    tested_ids = {sample.id for sample in tested}
    untested = counted(
        "no two units differ"
        if len(sample.units) < 2
        else "a reference does not mention every unit"
        for sample in test
        if sample.id not in tested_ids
    )
    if not tested:
        raise SplitError(
            f"no test sample suits part {part!r}: {in_words(untested)}",
            where=train[0].corpus,
            remedy="`cwio` needs test samples of two or more units. For `main`, every reference of "
            "such a sample must also mention every unit.",
        )
    return strict_sets(
        "order_invariance", train, matched(train), test=tested, part=part, untested=untested
    )


def matched(samples: Sequence[Sample]) -> tuple[Sample, ...]:
    """Return a sample for each reference, with the units in the order of the reference.

    Units that it does not mention come last, in the order of the corpus.
    """
    make = SampleMaker(samples[0].corpus if samples else "")
    ordered = (
        (reordered(sample, align.order(align.locate(sample.units, text, strict=False))), text)
        for sample in samples
        for text in sample.references
    )
    return tuple(make(sample.units, (text,), **sample.context) for sample, text in ordered)


def with_matches(pair: Sets) -> list[tuple[Sample, Sequence[Sample]]]:
    """Return each sample of Original with its samples of Match, one for each reference.

    Raises:
        SplitError: Match has more samples than that, or fewer.
    """
    original, match = pair.arms.values()
    ends = [*accumulate(len(sample.references) for sample in original)]
    if ends[-1:] != [len(match)]:
        raise SplitError("Match does not have one sample for each reference of Original")
    return [
        (sample, match[end - len(sample.references) : end])
        for sample, end in zip(original, ends, strict=True)
    ]


def with_an_order(samples: Iterable[Sample]) -> tuple[Sample, ...]:
    """Return the samples of two or more units."""
    return tuple(sample for sample in samples if len(sample.units) > 1)


def shown_twice(samples: Iterable[Sample], rng: random.Random) -> tuple[Sample, ...]:
    """Return each sample whose references all mention every unit, with two different random orders.

    Samples with a single unit are left out.
    """
    shown = []
    for sample in with_an_order(samples):
        references = reference_orders(sample)
        if references:
            size = len(sample.units)
            first = second = rng.sample(range(size), size)
            while second == first:
                second = rng.sample(range(size), size)
            orders = Orders((tuple(first), tuple(second)), references)
            shown.append(replace(sample, challenge=orders))
    return tuple(shown)


def reference_orders(sample: Sample) -> tuple[Order, ...] | None:
    """Return the order of the units in each reference; None if one does not mention every unit."""
    positions = [align.locate(sample.units, text, strict=False) for text in sample.references]
    if any(None in located for located in positions):
        return None
    return tuple(map(align.order, positions))
