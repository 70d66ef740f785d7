"""Samples as arrays of numbers, so that numpy sums over the units of all samples at once."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import zip_longest
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import DataUnit, Sample

LIMIT = 0.02
"""The largest divergence of two arms that the paper allows, in every aspect (section 3.1.1)."""

MOST_PAIRS = 2_000_000
"""The most pairs of units in samples for systematicity, which counts each; WebNLG has 62,000."""

Ints: TypeAlias = npt.NDArray[np.int64]


class UnitNumbers:
    """Samples by their units: ``units[i]`` are the numbers of the units of sample i.

    ``of_unit`` numbers the units by first appearance; ``sizes[i]`` is the number of units of a
    sample.
    """

    def __init__(self, samples: Sequence[Collection[DataUnit]]) -> None:
        self.of_unit: dict[DataUnit, int] = {}
        self.units = [
            np.array([self.of_unit.setdefault(unit, len(self.of_unit)) for unit in units], np.int64)
            for units in samples
        ]
        self.sizes: Ints = np.array([len(units) for units in self.units], np.int64)
        # A column has the units of one place in all samples that have so many: the longest first.
        self._longest_first = np.argsort(-self.sizes, kind="stable")
        ordered = [self.units[sample] for sample in self._longest_first]
        columns = zip_longest(*(units.tolist() for units in ordered))
        self._columns = [np.array([x for x in column if x is not None]) for column in columns]

    def counts(self, samples: Iterable[int]) -> Ints:
        """Return the number of occurrences of every unit in the samples."""
        units = np.concatenate([self.units[sample] for sample in samples])
        return np.bincount(units, minlength=len(self.of_unit))

    def sums(self, values: Ints) -> Ints:
        """Return the sum of its units' values for every sample."""
        sums: Ints = np.zeros(len(self.units), np.int64)
        for column in self._columns:
            sums[: len(column)] += values[column]
        sums[self._longest_first] = sums.copy()
        return sums


def require_few_pairs(samples: Iterable[Sample]) -> None:
    """Refuse samples with more than :data:`MOST_PAIRS` pairs of units.

    Raises:
        SplitError: they have more.
    """
    pairs = sum(math.comb(len(sample.units), 2) for sample in samples)
    if pairs > MOST_PAIRS:
        raise SplitError(
            f"systematicity counts pairs of units, and the samples have {pairs:,}, more than "
            f"{MOST_PAIRS:,}",
            remedy="Give fewer samples, or samples of fewer units.",
        )


def divergence(p: Ints, q: Ints) -> float:
    """Return the divergence of two datasets in which unit k occurs ``p[k]`` and ``q[k]`` times.

    It is 1 − Σ √(pₖ qₖ), the proportions of each unit: 0 where equal, 1 where disjoint (section
    3.1.1; Keysers et al., 2020). It is the same in any order of the units, as ``fsum`` is exact.

    Raises:
        SplitError: one of them is empty.
    """
    total_p, total_q = int(p.sum()), int(q.sum())
    if not total_p or not total_q:
        raise SplitError("a dataset without units has no divergence")
    affinity = math.fsum(np.sqrt(p * q).tolist())
    return max(0.0, 1 - affinity / math.sqrt(total_p * total_q))


def divergence_of_counts(p: Counter[DataUnit], q: Counter[DataUnit]) -> float:
    """Return the divergence of two datasets, given how often each unit occurs.

    Raises:
        SplitError: one of them is empty.
    """
    units = p.keys() | q.keys()
    return divergence(*(np.array([count[unit] for unit in units], np.int64) for count in (p, q)))


def sort(samples: Ints, keys: Ints) -> Ints:
    """Return the samples sorted by their keys, ascending and stable."""
    return samples[np.argsort(keys[samples], kind="stable")]
