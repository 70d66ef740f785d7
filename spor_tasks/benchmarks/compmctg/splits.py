"""Which splits each protocol has: of the published spaces, of any other, and those that we ship.

Hold-Out leaves out each combination once. ACD and Few-Shot have splits of the highest divergence:
of half of the combinations, and of as many as the largest aspect has values. There are as many as
published, drawn with a fixed seed where more have that divergence. ``splits.json`` has them;
``python -m spor_tasks.benchmarks.compmctg.splits`` writes it.
"""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from spor_tasks.benchmarks.compmctg.protocols import (
    ALPHA,
    Partition,
    TooLargeError,
    divergence,
    hill_climb,
    hold_out,
    most_divergent,
    partition,
)
from spor_tasks.core.errors import SplitError
from spor_tasks.core.files import write_json
from spor_tasks.corpora.compmctg.reader import MODES
from spor_tasks.corpora.compmctg.spaces import AMAZON, FYELP, MIXTURE, YELP, Combination, Space
from spor_tasks.corpora.embedded.attributes import SPACE as MINI

SPACES = (FYELP, AMAZON, YELP, MIXTURE, MINI)
"""The spaces that have shipped splits."""

SEED = 2023
"""That of the published code."""

PROTOCOLS = tuple(MODES.values())

NUMBERS: Mapping[str, Mapping[str, int]] = {
    FYELP.name: {"acd": 10, "fewshot": 2},
    AMAZON.name: {"fewshot": 10},
    YELP.name: {"acd": 10, "fewshot": 4},
    MIXTURE.name: {"fewshot": 8},
    MINI.name: {"acd": 3, "fewshot": 3},
}
"""How many splits are searched for each corpus.

They are as many as published, with one exception: of Yelp's Few-Shot there are only four, and the
published eight are very likely these four, each with its combinations in two orders. A Few-Shot
split of Amazon or Mixture leaves out half of the combinations, so it is one of ACD too.
"""

_MOST = 10  # splits of any other space
_STARTS = 8000  # by the number of combinations, where the highest divergence cannot be proved
_FILE = Path(__file__).with_name("splits.json")


class Found(NamedTuple):
    """The splits of a protocol.

    ``divergence`` is what a search maximized, else None. ``ties`` is how many partitions have it,
    or None where it is not proved that none has a higher one.
    """

    partitions: tuple[Partition, ...]
    divergence: float | None = None
    ties: int | None = None


def find(space: Space, protocol: str, *, seed: int = SEED, alpha: float = ALPHA) -> Found:
    """Return the splits of a protocol; the seed draws them from all that are equally divergent.

    Raises:
        SplitError: no split satisfies the protocol, or a search found none.
    """
    size = size_of(space, protocol)
    match protocol:
        case "original":
            return Found((partition(space, space.combinations),))
        case "holdout":
            return Found(hold_out(space))
    try:
        most = NUMBERS.get(space.name, {}).get(protocol, _MOST)
        best = most_divergent(space, size, most=most, seed=seed, alpha=alpha)
        return Found(best.partitions, best.divergence, best.ties)
    except TooLargeError:
        starts = max(10, _STARTS // len(space.combinations))
        best = hill_climb(space, size, restarts=starts, seed=seed, alpha=alpha)
        return Found(best.partitions[:_MOST], best.divergence)


def size_of(space: Space, protocol: str) -> int:
    """Return how many combinations a split of a protocol shows.

    Raises:
        SplitError: no split satisfies the protocol.
    """
    size = len(space.combinations)
    if protocol == "original":
        return size
    if len(space.aspects) == 1:
        raise SplitError(
            "has one aspect, so what is left out has a value that no other combination has",
            where=space.name,
            remedy="Give two aspects or more.",
        )
    match protocol:
        case "holdout":
            return size - 1
        case "fewshot":
            return max(map(len, space.aspects.values()))
    if size % 2:
        raise SplitError(
            f"has {size} combinations, which are not two halves",
            where=space.name,
            remedy="Leave out a value, or use another protocol.",
        )
    return size // 2


def without_codes(split: Partition) -> tuple[float, float]:
    """Return what a system scores that ignores what is asked, on seen and on unseen combinations.

    It writes texts like those that train it, of which each seen combination has equally many: an
    accuracy in per cent is how often a value is among the seen combinations.
    """
    shown = [Counter(values) for values in zip(*split.seen, strict=True)]
    seen, unseen = (
        [
            100 * counts[value] / len(split.seen)
            for combination in half
            for counts, value in zip(shown, combination, strict=True)
        ]
        for half in split
    )
    return fmean(seen), fmean(unseen) if unseen else math.nan


# --- Shipped splits -------------------------------------------------------------------------------


def shipped(space: Space, protocol: str) -> tuple[Partition, ...]:
    """Return the splits of a published space, without a search.

    Raises:
        KeyError: there are none.
    """
    if protocol in {"original", "holdout"}:
        return find(space, protocol).partitions
    named = {_name(each): each for each in space.combinations}
    return tuple(
        partition(space, [each for each in space.combinations if each not in unseen])
        for line in facts()["splits"][space.name][protocol]["unseen"]
        for unseen in [{named[name] for name in line.split(_COMMA)}]
    )


@cache
def facts() -> Mapping[str, Any]:
    """Return the content of ``splits.json``: seed, α, and of each search what it found."""
    content: Mapping[str, Any] = json.loads(_FILE.read_bytes())
    return content


def contents(spaces: Sequence[Space]) -> Mapping[str, Any]:
    """Return what ``splits.json`` should say of these spaces."""
    return {
        "seed": SEED,
        "alpha": ALPHA,
        "splits": {
            space.name: {protocol: _told(find(space, protocol)) for protocol in NUMBERS[space.name]}
            for space in spaces
        },
    }


def _told(found: Found) -> Mapping[str, Any]:
    return {
        "divergence": round(divergence(*found.partitions[0]), 9),
        "ties": found.ties,
        "unseen": [_COMMA.join(map(_name, unseen)) for _, unseen in found.partitions],
    }


_COMMA = ", "


def _name(combination: Combination) -> str:
    return " ".join(combination)


if __name__ == "__main__":
    write_json(_FILE, contents(SPACES))
