"""PARENT: precision and recall of a text against its references and its table together.

The metric is that of Dhingra et al. (ACL 2019), with word overlap as the model of entailment: an
n-gram is entailed by the table as far as its tokens occur in it. Details the paper leaves open are
those of SPOR's published evaluation [code].
"""

import math
import operator
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, compress
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

from spor_tasks import __version__
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import DataUnit, Sample, Triple
from spor_tasks.metrics.base import Judgement, Metric, ScoreInfo
from spor_tasks.text.normalize import display
from spor_tasks.text.tokenize import tokens

# The published WebNLG tables leave out units whose predicate contains one of these words or whose
# object has four digits in a row, and so nothing of 111 of the 2,179 test samples [code].
_FILTERED_PREDICATES = ("nationality", "date", "country")
_FILTERED_OBJECT = re.compile(r"\d{4}")

# Stands for a proportion of zero wherever a product would otherwise be lost to it [code].
FLOOR = 1e-5
# Keeps F defined where precision and recall are both zero [code].
_EPSILON = 1e-8

# Most test sets have fewer under both tables, so that another arm finds its references counted:
# about 23 kB a sample. Entities recur; the test sets have some 2,000. Both tables are compared with
# a text in turn.
_PREPARED_SAMPLES = 4096
_RECENT_TEXTS = 1024
_KNOWN_ENTITIES = 8192


class ParentEvidence(NamedTuple):
    """The result of PARENT for one output: precision, recall and F, from 0 to 1.

    Over several references each is the largest, so F need not follow from the other two.
    """

    precision: float
    recall: float
    f: float


_PUBLISHED = (
    ScoreInfo("parent", "PARENT"),
    ScoreInfo("parent_precision", "PARENT precision"),
    ScoreInfo("parent_recall", "PARENT recall"),
)
_FULL_TABLE = (
    ScoreInfo("parent_full_table", "PARENT, full table", corrects="parent"),
    ScoreInfo(
        "parent_full_table_precision", "PARENT precision, full table", corrects="parent_precision"
    ),
    ScoreInfo("parent_full_table_recall", "PARENT recall, full table", corrects="parent_recall"),
)


@dataclass(frozen=True, slots=True)
class Parent(Metric):
    """PARENT with its settings.

    ``weight`` is the paper's λ, the table's share in recall: recall is the references' to the power
    1 - λ times the table's to the power λ, so that 0.5 is their geometric mean. N-grams go up to
    ``max_order``, at most 255. ``full_table`` keeps the WebNLG units that the published evaluation
    drops from the table; E2E tables are always full.
    """

    units = ("facts",)
    needs_texts = True

    weight: float = 0.5
    max_order: int = 4
    full_table: bool = False

    @property
    def scores(self) -> tuple[ScoreInfo, ...]:
        """``parent``, comparable with the paper, or ``parent_full_table``; then its two sides."""
        return _FULL_TABLE if self.full_table else _PUBLISHED

    @property
    def signature(self) -> str:
        """Everything that can change the number."""
        table = "full" if self.full_table else "published"
        return (
            f"{self.scores[0].name}|lambda:{self.weight:g}|order:{self.max_order}|tok:nltk3.9-punkt-en"
            f"|table:{table}|v:{__version__}"
        )

    def judge_one(self, sample: Sample, output: str) -> Judgement:
        """Return the published F as the score, and its sides; all times 100.

        An empty output is scored like any other.

        Raises:
            CorpusError: the sample has no reference.
        """
        if not sample.references:
            raise CorpusError("PARENT needs a reference", where=f"sample {sample.id}")
        table = self.table(sample)
        evidence = _evidence(table, sample.references, output, self.weight, self.max_order)
        numbers = (evidence.f, evidence.precision, evidence.recall)
        values = {
            info.name: 100 * number for info, number in zip(self.scores, numbers, strict=True)
        }
        if self.full_table:
            details = {f"{key}_full_table": value for key, value in evidence._asdict().items()}
        else:
            details = {"n_table": len(table), "tok_output": _tokens(output), **evidence._asdict()}
        return Judgement(values, details)

    def table(self, sample: Sample) -> tuple[DataUnit, ...]:
        """Return the units that a text is to mention; an empty table keeps F near zero."""
        if self.full_table:
            return sample.units
        return tuple(
            unit
            for unit in sample.units
            if not isinstance(unit, Triple)
            or not (
                any(word in unit.predicate for word in _FILTERED_PREDICATES)
                or _FILTERED_OBJECT.search(unit.object)
            )
        )


PARENT = Parent()
PARENT_FULL_TABLE = Parent(full_table=True)


@lru_cache(maxsize=_RECENT_TEXTS)
def _evidence(
    table: tuple[DataUnit, ...],
    references: tuple[str, ...],
    output: str,
    weight: float,
    max_order: int,
) -> ParentEvidence:
    """Return PARENT of an output; both tables are the same one for most samples."""
    text, truth = _tokens(output), _prepare(table, references, max_order)
    table_recall = mentioned(truth.values, truth.lexicon, text) if truth.values else 0.0
    written = ngrams_of(text, max_order, truth.lexicon)
    against = [
        combined(*compared(written, reference), table_recall or FLOOR, weight)
        for reference in truth.references
    ]
    return ParentEvidence(*map(max, zip(*against, strict=True)))


_tokens = lru_cache(maxsize=_RECENT_TEXTS)(tokens)


class NGrams(NamedTuple):
    """The n-grams of a text by their orders, and how many tokens of each the table has.

    An n-gram is entailed in that proportion; tokens are counted and divided last, so that every
    sum is exact.
    """

    orders: Sequence[Collection[str]]
    entailed: Sequence[bytes]


class _PreparedSample(NamedTuple):
    """The table and the references of one sample; ``lexicon`` holds the tokens of all values."""

    values: Sequence[tuple[str, ...]]
    lexicon: frozenset[str]
    references: Sequence[NGrams]


@lru_cache(maxsize=_PREPARED_SAMPLES)
def _prepare(
    table: tuple[DataUnit, ...], references: tuple[str, ...], max_order: int
) -> _PreparedSample:
    # Predicates and attributes need no mention, nor has a value without a token any.
    parts = (
        (unit.subject, unit.object) if isinstance(unit, Triple) else (unit.value,) for unit in table
    )
    tokenized = (tuple(chain.from_iterable(map(_entity_tokens, each))) for each in parts)
    values = tuple(value for value in tokenized if value)
    lexicon = frozenset(token for value in values for token in value)
    expected = [ngrams_of(_tokens(reference), max_order, lexicon) for reference in references]
    return _PreparedSample(values, lexicon, expected)


def ngrams_of(text: Sequence[str], max_order: int, lexicon: frozenset[str]) -> NGrams:
    """Return the n-grams of a text up to an order, and how many tokens of each the lexicon has."""
    entailed = [bytes(map(lexicon.__contains__, text))]
    for order in range(1, max_order):
        entailed.append(bytes(map(operator.add, entailed[-1], entailed[0][order:])))
    return NGrams(_ngrams(tuple(text), max_order), entailed)


@lru_cache(maxsize=_RECENT_TEXTS)
def _ngrams(text: tuple[str, ...], max_order: int) -> Sequence[Mapping[str, None]]:
    """Return the n-grams of each order as a set that keeps their places.

    An n-gram is its tokens joined by spaces, of which they have none: a string keeps its hash, and
    the garbage collector need not walk it. All are different, see :func:`_numbered`.
    """
    ngrams: Sequence[str] = text
    orders = []
    for order in range(max_order):
        if order:
            ngrams = [*map(" ".join, zip(ngrams, text[order:], strict=False))]
        different = dict.fromkeys(ngrams)
        if len(different) < len(ngrams):
            different = dict.fromkeys(_numbered(ngrams))
        orders.append(different)
    return orders


def _numbered(ngrams: Sequence[str]) -> list[str]:
    """Number the second and later occurrences of an n-gram, so that each counts on its own.

    A text and a reference then share the smaller of two counts.
    """
    counts: dict[str, int] = {}
    numbered = []
    for ngram in ngrams:
        number = counts[ngram] = counts.get(ngram, 0) + 1
        numbered.append(ngram if number == 1 else f"{ngram} {number}")
    return numbered


@lru_cache(maxsize=_KNOWN_ENTITIES)
def _entity_tokens(entity: str) -> tuple[str, ...]:
    return tokens(display(entity))


def compared(output: NGrams, reference: NGrams) -> tuple[float, float]:
    """Return an output's precision, and its recall of one reference."""
    precisions, recalls = [], []
    written_and_expected = zip(*output, *reference, strict=True)
    for order, (written, of_written, expected, of_expected) in enumerate(written_and_expected, 1):
        shared = [*compress(of_written, map(expected.__contains__, written))]
        count, shared_entailed, entailed = len(written), sum(shared), sum(of_expected)
        # An n-gram of the reference is right; any other is as right as the table entails it.
        right = order * len(shared) + sum(of_written) - shared_entailed
        precisions.append(right / (order * count) if count else 0.0)
        recalls.append(shared_entailed / entailed if entailed else 1.0)
    precision = _geometric_mean(precisions) if precisions[0] else 0.0
    recall = _geometric_mean(recalls) if recalls[0] else FLOOR
    return precision, recall


def combined(
    precision: float, reference_recall: float, table_recall: float, weight: float
) -> ParentEvidence:
    """Return the evidence against one reference; ``weight`` is the table's share in recall."""
    recall = reference_recall ** (1 - weight) * table_recall**weight
    f = 2 * precision * recall / (precision + recall + _EPSILON)
    return ParentEvidence(precision, recall, f)


def _geometric_mean(proportions: Sequence[float]) -> float:
    logarithms = map(math.log, [proportion or FLOOR for proportion in proportions])
    return math.exp(sum(logarithms) / len(proportions))


def mentioned(
    values: Sequence[tuple[str, ...]], lexicon: frozenset[str], text: Sequence[str]
) -> float:
    """Return the mean share of a value that a text mentions in the value's order.

    The lexicon has the tokens of all values, of which there is at least one.
    """
    # Tokens outside the values are in no common subsequence.
    mentions = [token for token in text if token in lexicon]
    shares = (LCSseq.similarity(value, mentions) / len(value) for value in values)
    return math.fsum(shares) / len(values)
