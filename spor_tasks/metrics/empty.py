"""Empty: the share of outputs that say nothing at all."""

from spor_tasks import __version__
from spor_tasks.core.sample import Sample
from spor_tasks.metrics.base import ScoreInfo, SimpleMetric


class _Empty(SimpleMetric[float]):
    """The outputs with neither letter nor digit; of several for one sample, their share."""

    scores = (ScoreInfo("empty", "Empty", higher_is_better=False),)
    signature = f"empty|v:{__version__}"
    outputs = None

    def judge(self, _: Sample, *texts: str) -> float:
        empty = sum(not any(map(str.isalnum, text)) for text in texts)
        return 100.0 * empty / len(texts)

    def values(self, evidence: float) -> dict[str, float]:
        return {"empty": evidence}


EMPTY = _Empty()
