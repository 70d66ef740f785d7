"""Our metrics as lm-eval's: a `metric_list`, and what `process_results` returns."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from spor_tasks.core.contracts import Score, TaskSpec
from spor_tasks.core.sample import Sample
from spor_tasks.harness import host
from spor_tasks.metrics.base import Metric
from spor_tasks.metrics.groups import TWINS, judge_all
from spor_tasks.metrics.scores import info_of
from spor_tasks.metrics.totals import MEAN, Value

Measured: TypeAlias = tuple[dict[str, Value], dict[str, object]]
"""What outputs for a sample add to each score, by name, and what else is logged with it."""


def scores_of(metric: Metric, spec: TaskSpec) -> list[Score]:
    """Return the scores of a metric, also of twins where sets have them, then over groups.

    The last are those that the sets show.
    """
    own = [info.name for info in metric.scores]
    twins = [TWINS] if any(score.group == TWINS for score in spec.judging.scores) else []
    scores = [Score(name, group) for group in ("", *twins) for name in own]
    shown = (
        score for score in (*spec.judging.reported, *spec.judging.breakdown) if score.name in own
    )
    return list(dict.fromkeys((*scores, *shown)))


def metric_list(scores: Iterable[Score]) -> list[host.Fields]:
    """Return the `metric_list` of a task that gives these scores.

    lm-eval computes standard errors of means. For any other score ours is a metric of its own after
    the score, in place of lm-eval's "N/A".

    Raises:
        ConfigError: no registered metric has a score.
    """
    listed: list[host.Fields] = [
        {
            "metric": key,
            "aggregation": aggregation,
            "higher_is_better": key == str(score) and info_of(score).higher_is_better,
        }
        for score in scores
        for key, aggregation in _aggregations(score).items()
    ]
    host.declare(str(each["metric"]) for each in listed)
    return listed


@cache  # asked for each sample
def _aggregations(score: Score) -> Mapping[str, str | Callable[..., object]]:
    """Return how lm-eval aggregates a score, and its standard error if it is not a mean."""
    key, totals = str(score), info_of(score).totals
    if totals is MEAN:
        return {key: "mean"}
    return {key: totals.value} | ({f"{key}_stderr": totals.stderr} if totals.resampled else {})


def measured(
    metrics: Iterable[Metric],
    scores: Sequence[Score],
    samples: Sequence[Sample],
    outputs: Sequence[Sequence[Any]],
) -> list[Measured]:
    """Return what the outputs for each sample add to the scores, and what else is logged with it.

    They are texts, or likelihoods, as the metrics take them.
    """
    keys = {*map(str, scores)}
    values_of: list[dict[str, Value]] = [{} for _ in samples]
    logged: list[dict[str, object]] = [{} for _ in samples]
    for each in metrics:
        judgements = judge_all(each, samples, outputs, keys)
        for number, (of_sample, details) in enumerate(judgements):
            values_of[number] |= of_sample
            if not samples[number].twin:
                logged[number] |= {key: details[key] for key in each.logged if key in details}
    listed = [as_listed(of_sample, scores) for of_sample in values_of]
    return list(zip(listed, logged, strict=True))


def as_listed(values: Mapping[str, Value], scores: Sequence[Score]) -> dict[str, Value]:
    """Return a value for every metric of :func:`metric_list`.

    Without a verdict a mean has no value, and any other score None: lm-eval reports only scores
    that have a value for some document.
    """
    listed: dict[str, Value] = {}
    for score in scores:
        value = values.get(str(score))
        aggregations = _aggregations(score)
        if value is not None or "mean" not in aggregations.values():
            listed |= dict.fromkeys(aggregations, value)
    return listed
