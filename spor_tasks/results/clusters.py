"""Clusters of samples, which are drawn, exchanged and summed as wholes.

Samples with the same units, or with twins and a name in common, are not independent of each other.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from spor_tasks.core.sample import Names
from spor_tasks.metrics.tally import Column
from spor_tasks.metrics.totals import Numbers

Clusters = NDArray[np.int64]
"""The cluster of each sample, numbered from 0."""


def clusters_of(keys: Iterable[Hashable]) -> Clusters:
    """Return the cluster of each sample; samples with equal keys share one.

    Of :class:`~spor_tasks.core.sample.Names`, the commonest one is the key.
    """
    keys, numbers = [*keys], dict[Hashable, int]()
    counts = Counter(name for key in keys if isinstance(key, Names) for name in key)
    shared = (
        max(key, key=lambda name: (counts[name], name)) if isinstance(key, Names) else key
        for key in keys
    )
    return np.array([numbers.setdefault(key, len(numbers)) for key in shared], np.int64)


def count_of(clusters: Clusters) -> int:
    """Return the number of clusters, of samples that there are.

    Raises:
        ValueError: there are no samples.
    """
    if not len(clusters):
        raise ValueError("there are no samples to draw from")
    return int(clusters.max()) + 1


def freedom_of(clusters: Clusters, shares: Numbers | None = None) -> float:
    """Return the degrees of freedom of a variance over clusters, 1 at least.

    It is the number of equal clusters that would say as much, less one: a few large ones among many
    say little about others (Carter, Schnepel and Steigerwald, 2017, without their part on values).
    A cluster is as large as the ``shares`` of its samples, which are equal by default.

    Raises:
        ValueError: there are no samples.
    """
    count_of(clusters)
    sizes = np.bincount(clusters, shares).astype(np.float64)
    return max(1.0, float(sizes.sum() ** 2 / (sizes**2).sum()) - 1)


def common(columns: Sequence[Column], clusters: Clusters) -> tuple[list[Column], Clusters]:
    """Return the columns of the samples that all of them have a verdict on, and their clusters."""
    scored = np.all([column.scored for column in columns], axis=0)
    return (
        [column.take(scored) for column in columns],
        np.unique(clusters[scored], return_inverse=True)[1],
    )


def by_cluster(statistics: Numbers, clusters: Clusters, count: int) -> Numbers:
    """Return the totals of each cluster, of shape (clusters, k)."""
    columns = np.nan_to_num(statistics).T
    return np.stack([np.bincount(clusters, column, count) for column in columns], axis=1)
