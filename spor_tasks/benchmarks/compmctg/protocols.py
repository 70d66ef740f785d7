"""CompMCTG's protocols (section 3): the combinations of attributes that training has.

A protocol divides the combinations of a space into seen (i.d.) and unseen ones (compositional).
Nothing here looks at a text.
"""

import itertools
import math
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from spor_tasks.corpora.compmctg.spaces import Combination, Space

ALPHA = 0.1
"""Of the divergence, as in the published code; the paper does not state it."""


class Partition(NamedTuple):
    """The combinations that training texts have, and the others, both in the order of the space."""

    seen: tuple[Combination, ...]
    unseen: tuple[Combination, ...]


def divergence(
    seen: Sequence[Combination], unseen: Sequence[Combination], alpha: float = ALPHA
) -> float:
    """Return the compound divergence of unseen combinations from seen ones, from 0 to 1.

    It is 1 minus the Chernoff coefficient Σ pᵅ q¹⁻ᵅ, where p and q are how often a pair of values
    of different aspects is in the seen and in the unseen ones; so it is not symmetric.
    """
    p, q = _frequencies(seen), _frequencies(unseen)
    return 1 - math.fsum(p[pair] ** alpha * q[pair] ** (1 - alpha) for pair in p.keys() & q.keys())


def _frequencies(combinations: Sequence[Combination]) -> dict[object, float]:
    pairs = Counter(
        pair
        for combination in combinations
        for pair in itertools.combinations(enumerate(combination), 2)
    )
    return {pair: count / pairs.total() for pair, count in pairs.items()}


def is_eligible(
    seen: Sequence[Combination], unseen: Sequence[Combination], *, both_ways: bool = False
) -> bool:
    """Return whether every value of the unseen combinations is in a seen one.

    This is what the paper requires. With ``both_ways``, every value of the seen ones must be in an
    unseen one too, as the published code requires of where its search begins.
    """
    in_seen, in_unseen = (
        {pair for each in half for pair in enumerate(each)} for half in (seen, unseen)
    )
    return in_seen == in_unseen if both_ways else in_unseen <= in_seen


def without(space: Space, unseen: Collection[Combination]) -> Partition:
    """Return the partition that leaves out these combinations."""
    return Partition(
        tuple(each for each in space.combinations if each not in unseen),
        tuple(each for each in space.combinations if each in unseen),
    )


def hold_out(space: Space) -> tuple[Partition, ...]:
    """Return the partitions that leave out one combination each."""
    return tuple(without(space, {each}) for each in space.combinations)
