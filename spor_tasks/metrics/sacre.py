"""Corpus scores by sacrebleu: BLEU, chrF++ and TER (Post, WMT 2018), equal to its command line.

sacrebleu gives each output a row of counts, and makes a score of their sums. The rows are the
values here, so that intervals and tests resample them.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import sacrebleu

from spor_tasks import __version__
from spor_tasks.core.sample import Sample
from spor_tasks.metrics.base import Judgement, Metric, ScoreInfo
from spor_tasks.metrics.chrf import counts_of
from spor_tasks.metrics.ter import Ter
from spor_tasks.metrics.totals import RATIO, Numbers, Sums, no_verdict

_Row: TypeAlias = tuple[float, ...]


class CorpusBleu(Sums):
    """Corpus BLEU with exponential smoothing.

    A value is, for each order, the n-grams that a reference has too, then all of them. Two lengths
    in words follow: of the output, and of the reference that is closest in length.
    """

    orders: ClassVar[int] = 4
    width = 2 * orders + 2

    def score(self, totals: Numbers) -> Numbers:  # noqa: D102 - as declared
        matched, written, lengths = np.split(totals, (self.orders, 2 * self.orders), axis=-1)
        length, closest = lengths[..., 0], lengths[..., 1]
        # The first order that is never found counts as half an n-gram, the next as a quarter.
        missing = matched == 0
        counted = np.where(missing, 0.5 ** np.cumsum(missing, axis=-1), matched)
        score = 100 * np.exp(
            np.minimum(0, 1 - closest / np.maximum(length, 1))
            + np.log(counted / np.maximum(written, 1)).mean(axis=-1)
        )
        some = (matched > 0).any(axis=-1) & (written > 0).all(axis=-1)
        return np.where(length + closest > 0, np.where(some, score, 0.0), np.nan)

    def sizes(self, statistics: Numbers) -> Numbers:  # noqa: D102 - as declared
        return statistics[:, -2]


class _CorpusChrf(Sums):
    """Corpus chrF++: F of mean precision and mean recall over orders, recall weighed twice.

    A value has, for each order, the n-grams of the output, of the best reference, and of both. The
    orders are those of characters, then those of words. An order that either side lacks is left
    out.
    """

    width = 3 * (sacrebleu.CHRF.CHAR_ORDER + 2)
    _weight: ClassVar[int] = sacrebleu.CHRF.BETA**2

    @no_verdict
    def score(self, totals: Numbers) -> Numbers:
        written, expected, matched = (totals[..., place::3] for place in range(3))
        counted = (written > 0) & (expected > 0)
        orders = counted.sum(axis=-1)
        precision, recall = (
            np.where(counted, matched / of, 0).sum(axis=-1) / orders for of in (written, expected)
        )
        score = (1 + self._weight) * precision * recall / (self._weight * precision + recall)
        some = (written + expected).any(axis=-1)
        return np.where(some, np.where(matched.any(axis=-1), 100 * score, 0.0), np.nan)

    def sizes(self, statistics: Numbers) -> Numbers:
        return statistics[:, 1]


@dataclass(frozen=True, slots=True)
class Sacre(Metric):
    """A score of sacrebleu with its defaults, of all outputs at once.

    A reference that a sample lacks is none, as sacrebleu takes ``None``: samples may have different
    numbers of references.
    """

    needs_texts: ClassVar[bool] = True

    info: ScoreInfo
    scorer: Any
    arranged: Callable[[Sequence[float]], _Row] = tuple
    """Returns sacrebleu's counts of an output as the score's totals take them."""
    alone: Any = None
    """Scores a single output, if otherwise than many."""

    @property
    def scores(self) -> tuple[ScoreInfo, ...]:
        """The score, of all outputs."""
        return (self.info,)

    @property
    def signature(self) -> str:
        """Whatever can change the numbers, in sacrebleu's words."""
        return self.signature_of(())

    def signature_of(self, samples: Sequence[Sample]) -> str:
        """Return the signature with the number of references, if all samples have as many."""
        counts = {len(sample.references) for sample in samples}
        number = min(counts) if len(counts) == 1 else -1  # sacrebleu's word for one that varies
        settings = type(self.scorer)._SIGNATURE_TYPE  # noqa: SLF001 - made only after scoring
        signature = settings({**vars(self.scorer), "num_refs": number})
        return f"{self.info.name}|{signature}|v:{__version__}"

    def judge_one(self, sample: Sample, output: str) -> Judgement:
        """Return the counts of an output; the details have its score as that of one sentence.

        Raises:
            CorpusError: the sample has no reference.
        """
        counts = counts_of(self.info, self.scorer, sample, output)
        alone = (self.alone or self.scorer)._compute_score_from_stats(counts).score  # noqa: SLF001
        return Judgement(
            {self.info.name: self.arranged(counts)}, {f"sentence_{self.info.name}": alone}
        )


BLEU = Sacre(
    ScoreInfo("bleu", "BLEU", totals=CorpusBleu()),
    sacrebleu.BLEU(force=True),  # without a warning about texts that look tokenized
    arranged=lambda counts: (*counts[2:], *counts[:2]),
    alone=sacrebleu.BLEU(effective_order=True),  # as `sacrebleu --sentence-level`
)
CHRF_PLUS_PLUS = Sacre(
    ScoreInfo("chrf++", "chrF++", totals=_CorpusChrf()), sacrebleu.CHRF(word_order=2)
)
TER = Sacre(
    ScoreInfo("ter", "TER", high=math.inf, higher_is_better=False, totals=RATIO),
    Ter(),
    arranged=lambda counts: (100.0 * counts[0], counts[1]),  # edits, and words of a reference
)
