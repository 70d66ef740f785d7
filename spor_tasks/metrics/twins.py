"""Any metric of texts, of a sample and of its twin about invented entities."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NamedTuple

from spor_tasks.core.contracts import of_twin, without_twin
from spor_tasks.core.sample import Sample, Twin, sides
from spor_tasks.metrics.base import EvidenceT, Metric, ScoreInfo, Texts, Values, twin_info


class TwinEvidence(NamedTuple, Generic[EvidenceT]):
    """The evidence of the outputs for a sample, and of those for its twin."""

    original: EvidenceT
    twin: EvidenceT


@dataclass(frozen=True)
class Twinned(Generic[EvidenceT]):
    """A metric, asked of the first half of the outputs with the sample, of the rest with its twin.

    Each score ``x`` is that of the samples, and ``x_twin`` that of their twins. No sample is judged
    otherwise than it would be alone.
    """

    metric: Metric[EvidenceT]

    challenge = Twin

    @cached_property
    def scores(self) -> tuple[ScoreInfo, ...]:
        """The metric's scores, then the same of twins."""
        return (*self.metric.scores, *map(twin_info, self.metric.scores))

    @property
    def signature(self) -> str:
        """The metric's: twins are samples like others."""
        return self.metric.signature

    @property
    def outputs(self) -> int | None:
        """Twice as many texts as the metric looks at."""
        return self.metric.outputs and 2 * self.metric.outputs

    @property
    def answers(self) -> str:
        """As the metric."""
        return self.metric.answers

    @property
    def needs_texts(self) -> bool:
        """As the metric."""
        return self.metric.needs_texts

    def measure(
        self, samples: Sequence[Sample], outputs: Sequence[Texts]
    ) -> list[TwinEvidence[EvidenceT]]:
        """Return what the metric finds on each side, all originals first."""
        both = zip(*map(sides, samples), strict=True)
        halves = zip(*map(_halves, outputs), strict=True)
        found = map(self.metric.measure, both, halves)
        return [TwinEvidence(*each) for each in zip(*found, strict=True)]

    def values(self, evidence: TwinEvidence[EvidenceT]) -> Values:
        """Return the values of the original, and those of the twin under their names."""
        own, twin = map(self.metric.values, evidence)
        return {**own, **{of_twin(name): value for name, value in twin.items()}}

    def describe(
        self, sample: Sample, texts: Texts, evidence: TwinEvidence[EvidenceT], /
    ) -> dict[str, Any]:
        """Return what the metric describes of the original, and of the twin under these names."""
        own, twin = map(self.metric.describe, sides(sample), _halves(texts), evidence)
        return {**own, **{of_twin(name): value for name, value in twin.items()}}


def _halves(texts: Texts) -> tuple[Texts, Texts]:
    half = len(texts) // 2
    return texts[:half], texts[half:]


def for_scores(metric: Metric[Any], scores: Iterable[str]) -> Metric[Any]:
    """Return the metric as it is asked for scores, some of which may be those of twins."""
    return Twinned(metric) if any(map(without_twin, scores)) else metric
