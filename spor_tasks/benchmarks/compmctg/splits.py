"""CompMCTG's protocols (section 3): shipped splits, and those of an ``unseen.jsonl``.

A split divides the combinations of a space into seen (i.d.) and unseen ones (compositional).
Hold-Out leaves out each combination once. ACD and Few-Shot leave out half of the combinations, and
all but as many as the largest aspect has values. Their splits have the highest divergence that any
has; ``splits.json`` holds them, with their divergence and the number of all splits that have it.
`docs/generators/compmctg_splits.py` found them, and proved that there are no better ones.
"""

import math
from collections import Counter
from collections.abc import Collection
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from spor_tasks.core.files import JsonObject, read_packaged
from spor_tasks.corpora.compmctg.reader import MODES, read_unseen
from spor_tasks.corpora.compmctg.spaces import Combination, Space

PROTOCOLS = tuple(MODES.values())

FILE = Path(__file__).with_name("splits.json")
"""The file of shipped splits."""


class Partition(NamedTuple):
    """The combinations that training has (i.d.), and the others, both in the order of the space."""

    seen: tuple[Combination, ...]
    unseen: tuple[Combination, ...]


def without(space: Space, unseen: Collection[Combination]) -> Partition:
    """Return the partition that leaves out these combinations."""
    return Partition(
        tuple(each for each in space.combinations if each not in unseen),
        tuple(each for each in space.combinations if each in unseen),
    )


@cache
def facts() -> JsonObject:
    """Return the content of ``splits.json``: seed, α, and the splits of each corpus by protocol."""
    content: JsonObject = read_packaged(FILE)
    return content


@cache
def shipped(space: Space, protocol: str) -> tuple[Partition, ...]:
    """Return the splits of a protocol, none where ``splits.json`` has none."""
    if protocol == "original":
        return (without(space, ()),)
    if protocol == "holdout":
        return tuple(without(space, {each}) for each in space.combinations)
    facts_of_protocol = facts()["splits"].get(space.name, {}).get(protocol, {"unseen": ()})
    named = {" ".join(each): each for each in space.combinations}
    lists = (line.split(", ") for line in facts_of_protocol["unseen"])
    return tuple(without(space, {named[name] for name in names}) for names in lists)


def read(path: Path, space: Space, protocol: str) -> tuple[Partition, ...]:
    """Return the splits of a protocol in an ``unseen.jsonl``, in its order.

    Raises:
        CorpusError: the file is missing or malformed.
    """
    return tuple(
        without(space, {each for each in space.combinations if row.has(space.as_row(each))})
        for row in read_unseen(path, space)
        if row.protocol == protocol
    )


def without_codes(split: Partition) -> tuple[float, float]:
    """Return the accuracy in per cent of a system that ignores the request, by half.

    The system writes texts like those that train it, equally many of each seen combination. So the
    accuracy is how often a value is among the seen combinations.
    """
    counts_by_aspect = [Counter(values) for values in zip(*split.seen, strict=True)]
    seen, unseen = (
        [
            100 * counts[value] / len(split.seen)
            for combination in half
            for counts, value in zip(counts_by_aspect, combination, strict=True)
        ]
        for half in split
    )
    return fmean(seen), fmean(unseen) if unseen else math.nan
