"""The divergence of two datasets over a set of data units (Keysers et al., 2020)."""

from collections.abc import Hashable, Mapping
from typing import TypeVar

import numpy as np

from spor_tasks.aspects import numbers

LIMIT = 0.02
"""The largest divergence of two arms that the paper allows, in every aspect (section 3.1.1)."""

Unit = TypeVar("Unit", bound=Hashable)


def divergence(p: Mapping[Unit, int], q: Mapping[Unit, int]) -> float:
    """Return 1 − Σ √(pₖ qₖ), the proportions of each unit k: 0 where equal, 1 where disjoint.

    ``p`` and ``q`` count occurrences; each is divided by its own total (section 3.1.1).

    Raises:
        SplitError: one of them is empty, so it has no proportions.
    """
    units = p.keys() | q.keys()
    counts = (np.array([dataset.get(unit, 0) for unit in units], np.int64) for dataset in (p, q))
    return numbers.divergence(*counts)
