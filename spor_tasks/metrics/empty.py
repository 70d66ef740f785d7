"""Empty: the share of outputs that say nothing at all."""

from dataclasses import dataclass

from spor_tasks import __version__
from spor_tasks.core.sample import Sample
from spor_tasks.metrics.base import ScoreInfo, SimpleMetric


@dataclass(frozen=True, slots=True)
class Empty(SimpleMetric[float]):
    """The outputs with neither letter nor digit; of several for one sample, their share."""

    scores = (ScoreInfo("empty", "Empty", higher_is_better=False),)
    signature = f"empty|v:{__version__}"
    outputs = None

    def judge(self, _: Sample, *texts: str) -> float:
        """Return the share of the outputs that are empty, from 0 to 100."""
        empty = sum(not any(map(str.isalnum, text)) for text in texts)
        return 100.0 * empty / len(texts)

    def values(self, evidence: float) -> dict[str, float]:
        """Return what the outputs for one sample add to the score."""
        return {"empty": evidence}


EMPTY = Empty()
