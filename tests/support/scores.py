"""The scores of evidence."""

from collections.abc import Iterable
from typing import TypeVar

from spor_tasks.metrics.base import Metric, Score, Tally

EvidenceT = TypeVar("EvidenceT")


def scores_of(metric: Metric[EvidenceT], evidence: Iterable[EvidenceT]) -> tuple[Score, ...]:
    tally = Tally(metric.scores)
    for each in evidence:
        tally.add(metric.values(each))
    return tally.scores(metric.signature)
