"""The judgement of samples that may have twins, and of the groups that these are in."""

from collections.abc import Container, Sequence

from spor_tasks.core.sample import Sample
from spor_tasks.metrics.base import Judgement, Metric, Texts
from spor_tasks.metrics.groups import in_groups, outputs_by_side
from spor_tasks.metrics.totals import Value


def judge_all(
    metric: Metric,
    samples: Sequence[Sample],
    outputs: Sequence[Texts],
    keys: Container[str],
) -> list[Judgement]:
    """Return a metric's judgement of each sample, its twin among its groups.

    A sample with a twin has outputs for itself, then as many for the twin. No side is judged
    otherwise than it would be alone. ``keys`` are those of the scores over
    groups that are computed.
    """
    sides = [outputs_by_side(*each) for each in zip(samples, outputs, strict=True)]
    flat = [side for of_sample in sides for side in of_sample]
    results = iter(metric.judge([each.sample for each in flat], [each.outputs for each in flat]))
    judgements = []
    for sample, of_sample in zip(samples, sides, strict=True):
        values: dict[str, Value] = {}
        details: dict[str, object] = {}
        for side in of_sample:
            of_side = next(results)
            values |= side.named(of_side.values)
            details |= side.named(of_side.details)
        shared = {name: value for name, value in values.items() if name in details}
        judgements.append(
            Judgement(
                values | in_groups(sample, values, keys),
                details | in_groups(sample, shared, keys),
            )
        )
    return judgements
