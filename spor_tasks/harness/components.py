"""Metrics of a text and its references, for tasks of anybody, by lm-eval's names.

They are those of :mod:`spor_tasks.metrics` that need no data unit. A task's file names them in its
``metric_list``. lm-eval 0.4 gives a metric one reference at a time, so they suit tasks with one.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from lm_eval.api.registry import aggregation_registry

from spor_tasks.core.sample import Sample
from spor_tasks.harness import host
from spor_tasks.metrics.base import Metric
from spor_tasks.metrics.chrf import CHRF
from spor_tasks.metrics.empty import EMPTY
from spor_tasks.metrics.sacre import BLEU, CHRF_PLUS_PLUS, TER
from spor_tasks.metrics.totals import MEAN, Value

_METRICS: dict[str, Metric] = {
    "spor_bleu": BLEU,
    "spor_chrf": CHRF,
    "spor_chrf_plus_plus": CHRF_PLUS_PLUS,
    "spor_empty": EMPTY,
    "spor_ter": TER,
}
_TOTAL = "total_of_"


@cache
def __getattr__(name: str) -> object:
    """Return a metric by lm-eval's name of it, or how its values add up, as entry points do."""
    metric = _METRICS.get(name.removeprefix(_TOTAL))
    if metric is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    (info,) = metric.scores
    if name.startswith(_TOTAL):
        return lambda values: info.totals.value([*map(tuple, values)])
    if info.totals is not MEAN and name not in aggregation_registry:
        aggregation_registry.register(name, target=f"{__name__}:{_TOTAL}{name}")
    total = aggregation_registry.get("mean" if info.totals is MEAN else name)
    judge, is_better = _judging(metric, info.name), bool(info.higher_is_better)
    return host.as_metric(name, judge, total, higher_is_better=is_better)


def _judging(metric: Metric, score: str) -> Callable[..., Value]:
    """Return what judges an output as lm-eval asks a metric to."""

    def judge(references: Sequence[Any], predictions: Sequence[str], **_: object) -> Value:
        (given,), (output,) = references, predictions
        texts = (given,) if isinstance(given, str) else tuple(given)
        return metric.judge_one(Sample("", "", (), texts), output).values[score]

    return judge
