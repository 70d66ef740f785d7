"""Intervals and tests of single columns, with a seed of the test's own."""

from spor_tasks.metrics.base import Column
from spor_tasks.results import statistics
from spor_tasks.results.statistics import Clusters


def interval(column: Column, clusters: Clusters, *, seed: int = 0) -> tuple[float, float] | None:
    """Return the bootstrap interval of a column's score on the samples with a verdict."""
    (scored,), drawn_from = statistics.common([column], clusters)
    if not len(drawn_from):
        return None
    scores = statistics.resampled_scores([scored], drawn_from, seed=seed)
    return statistics.percentile_interval(scores[:, 0])
