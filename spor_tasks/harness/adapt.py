"""Our metrics as lm-eval's: a `metric_list`, and what `process_results` returns."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from spor_tasks.core.contracts import SetSpec, of_twin, without_twin
from spor_tasks.core.sample import Sample
from spor_tasks.harness import host
from spor_tasks.metrics.base import Metric
from spor_tasks.metrics.judging import judge_all
from spor_tasks.metrics.scores import registered_score, score_info
from spor_tasks.metrics.totals import MEAN, Value

Measured: TypeAlias = tuple[dict[str, Value], dict[str, Any]]
"""What outputs for a sample add to each score, by name, and what else is logged with it."""


def scores_of(metric: Metric, spec: SetSpec) -> list[str]:
    """Return the scores of a metric, also of twins where sets have them, then over groups.

    The last are those that the sets show.
    """
    own = [info.name for info in metric.scores]
    scores = [*own, *map(of_twin, own)] if any(map(without_twin, spec.scores)) else own
    return [
        *scores,
        *(name for name in spec.displayed if name not in scores and registered_score(name) in own),
    ]


def metric_list(scores: Iterable[str]) -> list[dict[str, Any]]:
    """Return the `metric_list` of a task that gives these scores.

    lm-eval computes standard errors of means. For any other score ours is a metric of its own after
    the score, in place of lm-eval's "N/A".

    Raises:
        ConfigError: no registered metric has a score.
    """
    listed = [
        {
            "metric": name,
            "aggregation": aggregation,
            "higher_is_better": name == score and score_info(score).higher_is_better,
        }
        for score in scores
        for name, aggregation in _aggregations(score).items()
    ]
    host.declare(each["metric"] for each in listed)
    return listed


def _aggregations(score: str) -> dict[str, Any]:
    """Return how lm-eval aggregates a score, and its standard error if it is not a mean."""
    totals = score_info(score).totals
    if totals is MEAN:
        return {score: "mean"}
    return {score: totals.value} | ({f"{score}_stderr": totals.stderr} if totals.resampled else {})


def measured(
    metrics: Iterable[Metric],
    scores: Sequence[str],
    samples: Sequence[Sample],
    outputs: Sequence[Sequence[Any]],
) -> list[Measured]:
    """Return what the outputs for each sample add to the scores, and what else is logged with it.

    They are texts, or likelihoods, as the metrics take them.
    """
    values_of: list[dict[str, Value]] = [{} for _ in samples]
    logged: list[dict[str, Any]] = [{} for _ in samples]
    for each in metrics:
        judgements = judge_all(each, samples, outputs, scores)
        for number, (of_sample, details) in enumerate(judgements):
            values_of[number] |= of_sample
            if not samples[number].twin:
                logged[number] |= {key: details[key] for key in each.logged if key in details}
    listed = [as_listed(of_sample, scores) for of_sample in values_of]
    return list(zip(listed, logged, strict=True))


def as_listed(values: Mapping[str, Value], scores: Sequence[str]) -> dict[str, Value]:
    """Return a value for every metric of :func:`metric_list`.

    Without a verdict a mean has no value, and any other score None: lm-eval reports only scores
    that have a value for some document.
    """
    listed: dict[str, Value] = {}
    for name in scores:
        value = values.get(name)
        if value is not None or score_info(name).totals is not MEAN:
            listed |= dict.fromkeys(_aggregations(name), value)
    return listed
