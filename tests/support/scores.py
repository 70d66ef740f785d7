"""The judgements of outputs, their scores, and the intervals of single columns."""

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any

from spor_tasks.core.sample import Sample
from spor_tasks.metrics.base import Column, Judgement, Metric, Score, Tally, Values, with_groups
from spor_tasks.metrics.groups import in_groups
from spor_tasks.metrics.learned import Learned
from spor_tasks.results import statistics
from spor_tasks.results.clusters import Clusters, common


def judge(metric: Metric, sample: Sample, *outputs: Any) -> Judgement:  # noqa: ANN401 - or likelihoods
    """Return the judgement of the outputs for one sample."""
    (judgement,) = metric.judge([sample], [outputs])
    return judgement


def answers_of(metric: Learned, items: Sequence[Any]) -> Sequence[Any]:
    """Return the answers of a metric's model."""
    assert metric.model
    return metric.model(items)


def values_of(
    metric: Metric, sample: Sample, judgement: Judgement, names: Sequence[str] | None = None
) -> Values:
    """Return the values of an output, also of the named scores over its sample's groups."""
    names = names or [info.name for info in with_groups(metric.scores)]
    return {**judgement.values, **in_groups(sample, judgement.values, names)}


def scores_of(
    metric: Metric, judgements: Iterable[Judgement], samples: Sequence[Sample] | None = None
) -> tuple[Score, ...]:
    """Return the scores, also over the groups of the samples if these are given."""
    tally = Tally(with_groups(metric.scores))
    for sample, each in zip(samples or repeat(None), judgements, strict=samples is not None):
        tally.add(values_of(metric, sample, each) if sample else each.values)
    return tally.scores(metric.signature)


def interval(column: Column, clusters: Clusters, *, seed: int = 0) -> tuple[float, float] | None:
    """Return the bootstrap interval of a column's score on the samples with a verdict."""
    (scored,), drawn_from = common([column], clusters)
    if not len(drawn_from):
        return None
    scores = statistics.resampled_scores([scored], drawn_from, seed=seed)
    return statistics.percentile_interval(scores[:, 0])
