"""chrF: character n-grams that an output shares with its references (Popović, WMT 2015)."""

import sacrebleu

from spor_tasks import __version__
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Sample
from spor_tasks.metrics.base import Judgement, Metric, ScoreInfo

_SCORER = sacrebleu.CHRF()


class _Chrf(Metric):
    """Sentence chrF as sacrebleu computes it, with the best of several references.

    The score is the mean over outputs, from 0 to 100; it is not sacrebleu's corpus chrF. That of
    an empty output is 0.
    """

    scores = (ScoreInfo("chrf", "chrF"),)
    needs_texts = True

    @property
    def signature(self) -> str:
        scorer = sacrebleu.CHRF()
        scorer.num_refs = -1  # sacrebleu's word for a number of references that varies
        return f"chrf|{scorer.get_signature()}|v:{__version__}"

    def judge_one(self, sample: Sample, output: str) -> Judgement:
        if not sample.references:
            raise CorpusError("chrF needs a reference", where=f"sample {sample.id}")
        values = {"chrf": float(_SCORER.sentence_score(output, list(sample.references)).score)}
        return Judgement(values, values)


CHRF = _Chrf()
