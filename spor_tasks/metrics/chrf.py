"""chrF: character n-grams that an output shares with its references (Popović, WMT 2015)."""

from functools import lru_cache
from typing import Any

import sacrebleu

from spor_tasks import __version__
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Sample
from spor_tasks.metrics.base import Judgement, Metric, ScoreInfo

_SCORER = sacrebleu.CHRF()
_PREPARED = 16  # samples: `spor score` judges all outputs for one together


def counts_of(info: ScoreInfo, scorer: Any, sample: Sample, output: str) -> list[Any]:
    """Return a scorer's counts of an output, which sacrebleu makes a score of.

    Raises:
        CorpusError: the sample has no reference.
    """
    if not sample.references:
        raise CorpusError(f"{info.label} needs a reference", where=f"sample {sample.id}")
    text = scorer._preprocess_segment(output)  # noqa: SLF001 - it has no other name
    prepared = _prepared(scorer, sample.references)
    counts: list[Any] = scorer._compute_segment_statistics(text, prepared)  # noqa: SLF001
    return counts


@lru_cache(maxsize=_PREPARED)
def _prepared(scorer: Any, references: tuple[str, ...]) -> Any:
    texts = [scorer._preprocess_segment(text) for text in references]  # noqa: SLF001
    return scorer._extract_reference_info(texts)  # noqa: SLF001


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
        counts = counts_of(self.scores[0], _SCORER, sample, output)
        values = {"chrf": float(_SCORER._compute_score_from_stats(counts).score)}  # noqa: SLF001
        return Judgement(values, values)


CHRF = _Chrf()
