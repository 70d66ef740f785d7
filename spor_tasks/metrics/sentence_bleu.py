"""BLEU of single sentences, as LogicNLG reports it (Chen et al., ACL 2020), and of the corpus.

The published numbers are means of NLTK's sentence BLEU without smoothing, in lower case, against
all sentences of the same table. Beside them stands corpus BLEU, which the README of the published
code computes. The weights of BLEU-3 are 0.33, so they do not add up to 1 [code].
"""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np

from spor_tasks import __version__
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Sample
from spor_tasks.metrics.base import EvidenceMetric, ScoreInfo
from spor_tasks.metrics.totals import Numbers, Sums, Value

_WEIGHTS = {1: (1.0,), 2: (0.5, 0.5), 3: (0.33, 0.33, 0.33), 4: (0.25, 0.25, 0.25, 0.25)}
_ORDERS = tuple(_WEIGHTS)
_SENTENCE_ORDERS = (1, 2, 3)  # the fourth is not in the paper

_NGrams: TypeAlias = "Counter[tuple[str, ...]]"


class Matches(NamedTuple):
    """The counts of an output by order of n-grams, and two lengths in words.

    ``totals`` are the n-grams of the output, at least one of each order, ``found`` those that a
    reference has too. ``closest`` is the length of the reference that is closest in length.
    """

    found: tuple[int, ...]
    totals: tuple[int, ...]
    length: int
    closest: int

    @property
    def numbers(self) -> tuple[float, ...]:
        """All counts in a row: they add up over outputs."""
        return (*self.found, *self.totals, self.length, self.closest)


def bleu(numbers: Numbers, order: int) -> Numbers:
    """Return BLEU, from 0 to 1, of each row of counts, of shape (..., 10), as NLTK computes it.

    It is 0 if no word is found. A longer n-gram that is never found counts as the smallest float,
    so that it takes the score almost to 0.
    """
    found, totals = numbers[..., :order], numbers[..., len(_ORDERS) : len(_ORDERS) + order]
    length, closest = numbers[..., -2], numbers[..., -1]
    precisions = np.maximum(found / np.maximum(totals, 1), sys.float_info.min)
    with np.errstate(divide="ignore", invalid="ignore"):
        penalty = np.where(length > closest, 1.0, np.exp(1 - closest / length))
    score: Numbers = np.exp(np.log(precisions) @ np.array(_WEIGHTS[order]))
    return np.where(found[..., 0] > 0, penalty * score, 0.0)


class _CorpusBleu(Sums):
    """Corpus BLEU of one order: the counts of all outputs, added."""

    width = 2 * len(_ORDERS) + 2

    def __init__(self, order: int) -> None:
        self._order = order

    def score(self, totals: Numbers) -> Numbers:
        scored = totals[..., len(_ORDERS)] > 0  # every output has a total
        return np.where(scored, 100 * bleu(totals, self._order), np.nan)


class _Bleu(EvidenceMetric[Matches]):
    """The mean of sentence BLEU of order 1 to 3, and corpus BLEU of order 1 to 4."""

    scores = (
        *(ScoreInfo(f"bleu_{n}", f"BLEU-{n}") for n in _SENTENCE_ORDERS),
        *(
            ScoreInfo(f"corpus_bleu_{n}", f"corpus BLEU-{n}", totals=_CorpusBleu(n))
            for n in _ORDERS
        ),
    )
    needs_texts = True

    @property
    def signature(self) -> str:
        return f"logicnlg_bleu|case:lower|tok:blanks|smooth:none|weights3:0.33|v:{__version__}"

    def measured(self, sample: Sample, output: str) -> Matches:
        if not sample.references:
            raise CorpusError("BLEU needs a reference", where=f"sample {sample.id}")
        lengths, most = _references(tuple(sorted(sample.references)))
        words = output.lower().split()
        counts = [_ngrams(words, n) for n in _ORDERS]
        return Matches(
            found=tuple((mine & most[n]).total() for n, mine in zip(_ORDERS, counts, strict=True)),
            totals=tuple(max(1, mine.total()) for mine in counts),
            length=len(words),
            closest=min(lengths, key=lambda length: (abs(length - len(words)), length)),
        )

    def values(self, evidence: Matches) -> Mapping[str, Value]:
        numbers = evidence.numbers
        row = np.array(numbers, float)
        return {
            **{f"bleu_{n}": 100 * float(bleu(row, n)) for n in _SENTENCE_ORDERS},
            **{f"corpus_bleu_{n}": numbers for n in _ORDERS},
        }


@lru_cache(maxsize=256)  # those of a table are the same, in another order
def _references(texts: tuple[str, ...]) -> tuple[list[int], dict[int, _NGrams]]:
    """Return the lengths of references, and how often any one of them has each n-gram at most."""
    references = [text.lower().split(" ") for text in texts]
    most: dict[int, _NGrams] = {n: Counter() for n in _ORDERS}
    for words in references:
        for n, counts in most.items():
            most[n] = counts | _ngrams(words, n)
    return [len(words) for words in references], most


def _ngrams(words: Sequence[str], n: int) -> _NGrams:
    return Counter(zip(*(words[start:] for start in range(n)), strict=False))


LOGICNLG_BLEU = _Bleu()
