"""ToTTo's scores: corpus BLEU and PARENT.

The published evaluation pads the references of each sample to three with `<null>`, and
writes `<null>` for an empty output. A pad is a reference like any other: it is closest in length to
a short output, and PARENT finds nothing of it in the table, so that a list of the highlighted cells
recalls it in full. :data:`TOTTO_REAL` has the same scores without pads.
"""

from dataclasses import dataclass

import sacrebleu

from spor_tasks import __version__
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Sample
from spor_tasks.metrics.base import Judgement, Metric, ScoreInfo
from spor_tasks.metrics.parent_totto import parent, prepared
from spor_tasks.metrics.sacre import CorpusBleu
from spor_tasks.metrics.totals import Value
from spor_tasks.text.mteval import words

# The words are divided already; `force` spares a warning about that.
_BLEU = sacrebleu.BLEU(tokenize="none", force=True)
_CHRF = sacrebleu.CHRF()
_PAD = "<null>"
_REFERENCES = 3


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


_CORPUS_BLEU = CorpusBleu()

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


@dataclass(frozen=True, slots=True)
class Totto(Metric):
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

    def judge_one(self, sample: Sample, output: str) -> Judgement:
        """Return the scores of one output, and the counts behind them; PARENT is from 0 to 100.

        Raises:
            CorpusError: the sample has no reference, as those of the test set, or no table.
        """
        references = [prepared(reference) for reference in references_of(sample)]
        text = prepared(output.strip())
        if not self.real:
            references += [_PAD] * (_REFERENCES - len(references))
            text = text or _PAD
        own, expected = words(text), [words(reference) for reference in references]
        counted = _BLEU.corpus_score([" ".join(own)], [[" ".join(each)] for each in expected])
        counts, totals = tuple(counted.counts), tuple(counted.totals)
        lengths = (counted.sys_len, counted.ref_len)
        precision, recall, f = (100 * each for each in parent(sample, own, expected))
        real = "_real" if self.real else ""
        values: dict[str, Value] = {
            f"totto_bleu{real}": (*counts, *totals, *lengths),
            f"totto_parent{real}": f,
        }
        details = {
            f"parent{real}_p": precision,
            f"parent{real}_r": recall,
            f"parent{real}_f": f,
            f"bleu{real}_counts": counts,
            f"bleu{real}_totals": totals,
            f"bleu{real}_lengths": lengths,
        }
        if self.real:
            chrf = float(_CHRF.sentence_score(text, references).score)
            return Judgement({**values, "totto_chrf": chrf}, {**details, "totto_chrf": chrf})
        sides = {"totto_parent_precision": precision, "totto_parent_recall": recall}
        return Judgement({**values, **sides}, {**details, "overlap": sample.context.get("overlap")})


TOTTO = Totto()
TOTTO_REAL = Totto(real=True)
