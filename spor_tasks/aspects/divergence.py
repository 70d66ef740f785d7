"""The divergence of two datasets over a set of data units (Keysers et al., 2020)."""

import math
from collections.abc import Hashable, Mapping
from typing import TypeVar

from spor_tasks.core.errors import SplitError

LIMIT = 0.02
"""The largest divergence of two arms that the paper allows, in every aspect (section 3.1.1)."""

Unit = TypeVar("Unit", bound=Hashable)


def divergence(p: Mapping[Unit, int], q: Mapping[Unit, int]) -> float:
    """Return 1 − Σ √(pₖ qₖ), the proportions of each unit k: 0 where equal, 1 where disjoint.

    ``p`` and ``q`` count occurrences; each is divided by its own total (section 3.1.1).

    Raises:
        SplitError: one of them is empty, so it has no proportions.
    """
    total_p, total_q = sum(p.values()), sum(q.values())
    if not total_p or not total_q:
        raise SplitError("a dataset without units has no divergence")
    # fsum is exact, so the order of the units does not change the result.
    affinity = math.fsum(math.sqrt(count * q.get(unit, 0)) for unit, count in p.items())
    return max(0.0, 1 - affinity / math.sqrt(total_p * total_q))
