"""Empty: the share of outputs that say nothing at all."""

from spor_tasks import __version__
from spor_tasks.core.references import has_words
from spor_tasks.core.sample import Sample
from spor_tasks.metrics.base import Judgement, Metric, ScoreInfo


class _Empty(Metric):
    """The outputs with neither letter nor digit; of several for one sample, their share."""

    scores = (ScoreInfo("empty", "Empty", higher_is_better=False),)
    signature = f"empty|v:{__version__}"
    outputs = None

    def judge_one(self, _: Sample, *texts: str) -> Judgement:
        empty = sum(not has_words(text) for text in texts)
        values = {"empty": 100.0 * empty / len(texts)}
        return Judgement(values, values)


EMPTY = _Empty()
