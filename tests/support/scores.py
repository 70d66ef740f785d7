"""The scores of judgements, or of evidence."""

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any

from spor_tasks.core.sample import Sample
from spor_tasks.metrics.base import Judgement, Metric, Score, Tally, Values, with_groups
from spor_tasks.metrics.groups import in_groups


def values_of(
    metric: Any,  # noqa: ANN401 - of texts or of likelihoods
    sample: Sample | None,
    evidence: Any,  # noqa: ANN401
    names: Sequence[str] | None = None,
) -> Values:
    """Return the values of an output, also of the named scores over its sample's groups."""
    values = evidence.values if isinstance(evidence, Judgement) else metric.values(evidence)
    if sample is None:
        return dict(values)
    names = names or [info.name for info in with_groups(metric.scores)]
    return {**values, **in_groups(sample, values, names)}


def scores_of(
    metric: Metric, evidence: Iterable[Any], samples: Sequence[Sample] | None = None
) -> tuple[Score, ...]:
    """Return the scores, also over the groups of the samples if these are given."""
    tally = Tally(with_groups(metric.scores))
    for sample, each in zip(samples or repeat(None), evidence, strict=samples is not None):
        tally.add(values_of(metric, sample, each))
    return tally.scores(metric.signature)
