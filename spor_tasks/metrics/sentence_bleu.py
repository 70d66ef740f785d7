"""BLEU of single sentences, as LogicNLG reports it (Chen et al., ACL 2020), and of the corpus.

The published numbers are means of NLTK's sentence BLEU without smoothing, in lower case, against
all sentences of the same table. Corpus BLEU is what the README of the published code computes. The
weights of BLEU-3 are 0.33, so they do not add up to 1 [code].
"""

import sys
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from spor_tasks import __version__
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Sample
from spor_tasks.metrics.base import Judgement, Metric, ScoreInfo
from spor_tasks.metrics.totals import Numbers, Sums, Value

_WEIGHTS = {1: (1.0,), 2: (0.5, 0.5), 3: (0.33, 0.33, 0.33), 4: (0.25, 0.25, 0.25, 0.25)}
_ORDERS = tuple(_WEIGHTS)
_SENTENCE_ORDERS = (1, 2, 3)  # the fourth is not in the paper

_GramCounter: TypeAlias = "Counter[tuple[str, ...]]"


def bleu(numbers: Numbers, order: int) -> Numbers:
    """Return BLEU, from 0 to 1, of each row of :func:`counts_of`, as NLTK computes it.

    Rows may be sums over outputs, and have the shape (..., 10).
    It is 0 if no word is found. A longer n-gram that is never found counts as the smallest float,
    so that it takes the score almost to 0.
    """
    matched, totals = numbers[..., :order], numbers[..., len(_ORDERS) : len(_ORDERS) + order]
    length, closest = numbers[..., -2], numbers[..., -1]
    precisions = np.maximum(matched / np.maximum(totals, 1), sys.float_info.min)
    with np.errstate(divide="ignore", invalid="ignore"):
        penalty = np.where(length > closest, 1.0, np.exp(1 - closest / length))
    score: Numbers = np.exp(np.log(precisions) @ np.array(_WEIGHTS[order]))
    return np.where(matched[..., 0] > 0, penalty * score, 0.0)


class _PooledBleu(Sums):
    """Corpus BLEU of one order: the counts of all outputs, added."""

    width = 2 * len(_ORDERS) + 2

    def __init__(self, order: int) -> None:
        self._order = order

    def score(self, totals: Numbers) -> Numbers:
        scored = totals[..., len(_ORDERS)] > 0  # every output has a total
        return np.where(scored, 100 * bleu(totals, self._order), np.nan)

    def sizes(self, statistics: Numbers) -> Numbers:
        return statistics[:, -2]


class _Bleu(Metric):
    """The mean of sentence BLEU of order 1 to 3, and corpus BLEU of order 1 to 4."""

    scores = (
        *(ScoreInfo(f"bleu_{n}", f"BLEU-{n}") for n in _SENTENCE_ORDERS),
        *(
            ScoreInfo(f"corpus_bleu_{n}", f"corpus BLEU-{n}", totals=_PooledBleu(n))
            for n in _ORDERS
        ),
    )
    units = ("columns",)
    needs_texts = True

    signature = f"logicnlg_bleu|case:lower|tok:blanks|smooth:none|weights3:0.33|v:{__version__}"

    def judge_one(self, sample: Sample, output: str) -> Judgement:
        """Return sentence BLEU of one output, and the counts that it adds to corpus BLEU.

        Raises:
            CorpusError: the sample has no reference.
        """
        if not sample.references:
            raise CorpusError("BLEU needs a reference", where=f"sample {sample.id}")
        counts = counts_of(output, sample.references)
        row = np.array(counts, float)
        values: dict[str, Value] = {
            **{f"bleu_{n}": 100 * float(bleu(row, n)) for n in _SENTENCE_ORDERS},
            **{f"corpus_bleu_{n}": counts for n in _ORDERS},
        }
        return Judgement(values, values)


def counts_of(output: str, references: Sequence[str]) -> tuple[int, ...]:
    """Return counts of an output that add up over outputs.

    They are, for each order, the n-grams that a reference has too; then all n-grams, at least one.
    Two lengths in words follow: of the output, and of the reference that is closest in length.
    """
    lengths, most = _references(tuple(sorted(references)))
    words = output.lower().split()
    ngrams = [_ngrams(words, n) for n in _ORDERS]
    matched = ((own & most[n]).total() for n, own in zip(_ORDERS, ngrams, strict=True))
    totals = (max(1, own.total()) for own in ngrams)
    closest = min(lengths, key=lambda length: (abs(length - len(words)), length))
    return (*matched, *totals, len(words), closest)


@lru_cache(maxsize=256)  # those of a table are the same, in another order
def _references(texts: tuple[str, ...]) -> tuple[list[int], dict[int, _GramCounter]]:
    """Return the lengths of references, and how often any one of them has each n-gram at most."""
    references = [text.lower().split(" ") for text in texts]
    most: dict[int, _GramCounter] = {n: Counter() for n in _ORDERS}
    for words in references:
        for n, counts in most.items():
            most[n] = counts | _ngrams(words, n)
    return [len(words) for words in references], most


def _ngrams(words: Sequence[str], n: int) -> _GramCounter:
    return Counter(zip(*(words[start:] for start in range(n)), strict=False))


LOGICNLG_BLEU = _Bleu()
