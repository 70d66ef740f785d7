"""The judgements of outputs, their scores, and the intervals of single columns."""

from itertools import repeat

from spor_tasks.metrics.groups import in_groups
from spor_tasks.metrics.scores import over_groups
from spor_tasks.metrics.tally import columns_of
from spor_tasks.results import stats
from spor_tasks.results.stats import common


def judge(metric, sample, *outputs):
    """Return the judgement of the outputs for one sample."""
    (judgement,) = metric.judge([sample], [outputs])
    return judgement


def predictions_of(metric, inputs):
    """Return the predictions of a metric's model."""
    assert metric.model
    return metric.model(inputs)


def values_of(metric, sample, judgement, names=None):
    """Return the values of an output, also of the named scores over its sample's groups."""
    names = names or [info.name for info in over_groups(metric.scores)]
    return {**judgement.values, **in_groups(sample, judgement.values, names)}


def scores_of(metric, judgements, samples=None):
    """Return the scores, also over the groups of the samples if these are given."""
    values = [
        values_of(metric, sample, each) if sample else each.values
        for sample, each in zip(samples or repeat(None), judgements, strict=samples is not None)
    ]
    found = columns_of(over_groups(metric.scores), values)
    return tuple(column.score(info.name, metric.signature) for info, column, _ in found)


def interval(column, clusters, *, seed=0):
    """Return the bootstrap interval of a column's score on the samples with a verdict."""
    (scored,), drawn_from = common([column], clusters)
    if not len(drawn_from):
        return None
    scores = stats.resampled_scores([scored], drawn_from, seed=seed)
    return stats.percentile_interval(scores[:, 0])
