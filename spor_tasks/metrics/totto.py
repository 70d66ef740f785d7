"""ToTTo's scores: corpus BLEU and PARENT.

The published evaluation pads the references of each sample to three with `<null>`, and
writes `<null>` for an empty output. A pad is a reference like any other: it is closest in length to
a short output, and PARENT finds nothing of it in the table, so that a list of the highlighted cells
recalls it in full. :data:`TOTTO_REAL` has the same scores without pads.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import sacrebleu

from spor_tasks import __version__
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Sample
from spor_tasks.metrics.base import EvidenceMetric, ScoreInfo
from spor_tasks.metrics.parent import ParentEvidence
from spor_tasks.metrics.parent_totto import parent, prepared
from spor_tasks.metrics.totals import Numbers, Sums, Value
from spor_tasks.text.mteval import words

_PAD = "<null>"
_REFERENCES = 3
_ORDERS = 4


def references_of(sample: Sample) -> tuple[str, ...]:
    """Return the references of a sample of ToTTo.

    Raises:
        CorpusError: it has none.
    """
    if not sample.references:
        raise CorpusError(
            "has no reference: those of ToTTo's test set are private",
            where=f"sample {sample.about('name') or sample.id}",
            remedy="Score outputs for the development set. The task totto_test writes outputs for "
            "the test set as its leaderboard takes them.",
        )
    return sample.references


class _CorpusBleu(Sums):
    """Corpus BLEU as sacrebleu computes it, with exponential smoothing.

    A value is, for each order, the n-grams that a reference has too and all of them, then the
    length of the output and of the reference that is closest in length, in words.
    """

    width = 2 * _ORDERS + 2

    def score(self, totals: Numbers) -> Numbers:
        found, written, length, closest = _parts(totals)
        # The first order that is never found counts as half an n-gram, the next as a quarter.
        missing = found == 0
        counted = np.where(missing, 0.5 ** np.cumsum(missing, axis=-1), found)
        score = 100 * np.exp(
            np.minimum(0, 1 - closest / np.maximum(length, 1))
            + np.log(counted / np.maximum(written, 1)).mean(axis=-1)
        )
        some = (found > 0).any(axis=-1) & (written > 0).all(axis=-1)
        return np.where(length + closest > 0, np.where(some, score, 0.0), np.nan)


def _parts(totals: Numbers) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    return (
        totals[..., :_ORDERS],
        totals[..., _ORDERS:-2],
        totals[..., -2],
        totals[..., -1],
    )


_CORPUS_BLEU = _CorpusBleu()

_PUBLISHED = (
    ScoreInfo("totto_bleu", "BLEU", totals=_CORPUS_BLEU),
    ScoreInfo("totto_parent", "PARENT"),
    ScoreInfo("totto_parent_precision", "PARENT precision"),
    ScoreInfo("totto_parent_recall", "PARENT recall"),
)
_REAL = (
    ScoreInfo(
        "totto_bleu_real", "BLEU, real references", totals=_CORPUS_BLEU, corrects="totto_bleu"
    ),
    ScoreInfo("totto_parent_real", "PARENT, real references", corrects="totto_parent"),
    ScoreInfo("totto_chrf", "chrF"),
)


class Evidence(NamedTuple):
    """The evidence of an output; ``bleu`` are the counts that BLEU adds up.

    ``chrf`` is that of the corrected scores.
    """

    parent: ParentEvidence
    bleu: tuple[float, ...]
    chrf: float | None


@dataclass(frozen=True, slots=True)
class Totto(EvidenceMetric[Evidence]):
    """BLEU and PARENT with the published pads, or ``real``: without, and with chrF.

    PARENT is the mean over outputs, chrF the mean of sentence chrF with the best reference. All
    references count, also beyond the three that the published code reads.
    """

    needs_texts = True

    real: bool = False

    @property
    def scores(self) -> tuple[ScoreInfo, ...]:
        """The published scores, or the corrected ones."""
        return _REAL if self.real else _PUBLISHED

    @property
    def signature(self) -> str:
        """Everything that can change the numbers."""
        bleu, chrf = sacrebleu.BLEU(), sacrebleu.CHRF()
        bleu.num_refs = chrf.num_refs = -1 if self.real else _REFERENCES  # -1: it varies
        pads = f"|pads:{_PAD}"
        if self.real:
            pads = f"|pads:none|chrf:{str(chrf.get_signature()).replace('|', ',')}"
        return (
            f"{'totto_real' if self.real else 'totto'}{pads}|text:lower|detok:moses4134-en"
            f"|parent:order4,lambda-of-reference,best-f|{bleu.get_signature()}|v:{__version__}"
        )

    def measured(self, sample: Sample, output: str) -> Evidence:
        """Return the evidence of one output.

        Raises:
            CorpusError: the sample has no reference, as those of the test set, or no table.
        """
        references = [prepared(reference) for reference in references_of(sample)]
        text = prepared(output.strip())
        if not self.real:
            references += [_PAD] * (_REFERENCES - len(references))
            text = text or _PAD
        mine, theirs = words(text), [words(reference) for reference in references]
        counted = _bleu().corpus_score([" ".join(mine)], [[" ".join(each)] for each in theirs])
        return Evidence(
            parent(sample, mine, theirs),
            (*counted.counts, *counted.totals, counted.sys_len, counted.ref_len),
            float(_chrf().sentence_score(text, references).score) if self.real else None,
        )

    def values(self, evidence: Evidence) -> dict[str, Value]:
        """Return what one output adds to the scores."""
        precision, recall, f = _percent(evidence.parent)
        if self.real:
            return {
                "totto_bleu_real": evidence.bleu,
                "totto_parent_real": f,
                "totto_chrf": evidence.chrf,
            }
        return {
            "totto_bleu": evidence.bleu,
            "totto_parent": f,
            "totto_parent_precision": precision,
            "totto_parent_recall": recall,
        }

    def describe(self, sample: Sample, _: object, evidence: Evidence) -> dict[str, Any]:
        """Return the evidence; PARENT is from 0 to 100."""
        precision, recall, f = _percent(evidence.parent)
        real = "_real" if self.real else ""
        return {
            f"parent{real}_p": precision,
            f"parent{real}_r": recall,
            f"parent{real}_f": f,
            f"bleu{real}_counts": evidence.bleu[:_ORDERS],
            f"bleu{real}_totals": evidence.bleu[_ORDERS:-2],
            f"bleu{real}_lengths": evidence.bleu[-2:],
            **(
                {"totto_chrf": evidence.chrf}
                if self.real
                else {"overlap": sample.context.get("overlap")}
            ),
        }


def _percent(evidence: ParentEvidence) -> Iterator[float]:
    return (100 * part for part in (evidence.precision, evidence.recall, evidence.f))


@cache
def _bleu() -> sacrebleu.BLEU:
    # The words are divided already; `force` spares a warning about that.
    return sacrebleu.BLEU(tokenize="none", force=True)


@cache
def _chrf() -> sacrebleu.CHRF:
    return sacrebleu.CHRF()


TOTTO = Totto()
TOTTO_REAL = Totto(real=True)
