"""NLI-Acc of LogicNLG: the share of outputs that a model says the table entails.

The published score (Chen et al., ACL 2020) is by a model whose weights were not published. Any
classifier of transformers that was trained on tables and statements can stand in for it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

from spor_tasks import __version__
from spor_tasks.core.sample import Sample
from spor_tasks.corpora.logicnlg.linearize import (
    cells_of,
    linked_columns,
    table_of,
    typed_table,
)
from spor_tasks.metrics.base import ScoreInfo, SimpleMetric, Texts
from spor_tasks.metrics.facts import DECIMALS, THRESHOLD, NoClassifier, has_words
from spor_tasks.metrics.totals import Value

Claim: TypeAlias = tuple[Sample, str]
"""A sample, for its table, and what is said of it."""

Entailed: TypeAlias = float | None
"""How likely it is that a table entails an output, from 0 to 1; None is without a verdict."""

_MOST_ROWS = 40  # that the published model reads


class TableClassifier(Protocol):
    """Says of claims how likely it is that the table entails them."""

    @property
    def signature(self) -> str:
        """Whatever can change what it says."""

    def __call__(self, claims: Sequence[Claim], /) -> Sequence[Entailed]:
        """Return a probability for each claim, None if it cannot read the table.

        That of one claim does not depend on the others.
        """


class Ready(NamedTuple):
    """How a published checkpoint reads a claim, and its class for an entailed one."""

    format: str
    label: int


READY: Mapping[str, Ready] = {
    "google/tapas-base-finetuned-tabfact": Ready("tapas", 1),
    "google/tapas-large-finetuned-tabfact": Ready("tapas", 1),
    "microsoft/tapex-base-finetuned-tabfact": Ready("tapex", 1),
    "microsoft/tapex-large-finetuned-tabfact": Ready("tapex", 1),
}
"""Checkpoints that need no setting but their name; class 0 is refuted, 1 entailed."""


@dataclass(frozen=True, slots=True)
class NliAcc(SimpleMetric[Entailed]):
    """How many outputs the table entails, each judged alone by a classifier.

    An output without a word is not entailed, and the classifier is not asked. There is no verdict
    on a table without a row, and on one with a row that is longer than the header, since nobody
    can say which columns its cells belong to.
    """

    scores = (ScoreInfo("nli_acc", "NLI-Acc"),)

    classifier: TableClassifier

    @property
    def signature(self) -> str:
        """Whatever can change the numbers."""
        return f"nli_acc|{self.classifier.signature}|v:{__version__}"

    def judge(self, sample: Sample, output: str) -> Entailed:
        """Return how likely an output is entailed; many are judged faster together."""
        return self.measure([sample], [(output,)])[0]

    def measure(self, samples: Sequence[Sample], outputs: Sequence[Texts]) -> list[Entailed]:
        """Judge the outputs together."""
        claims = [(sample, output) for sample, (output,) in zip(samples, outputs, strict=True)]
        readable = [_is_readable(sample) for sample in samples]
        asked = [
            claim
            for claim, can in zip(claims, readable, strict=True)
            if can and has_words(claim[1])
        ]
        found = iter(self.classifier(asked))
        return [
            None if not can else _rounded(next(found)) if has_words(output) else 0.0
            for can, (_, output) in zip(readable, claims, strict=True)
        ]

    def values(self, evidence: Entailed) -> dict[str, Value]:
        """Return what one output adds to the accuracy: 0 or 100."""
        return {"nli_acc": None if evidence is None else 100.0 * (evidence > THRESHOLD)}


NLI_ACC = NliAcc(NoClassifier("nli_acc"))
"""The metric before :func:`spor_tasks.metrics.entailment.load` gives it a classifier."""


def _is_readable(sample: Sample) -> bool:
    table = table_of(sample)
    width = len(table.header)
    return bool(table.rows) and all(len(row) <= width for row in table.rows)


def _rounded(likely: Entailed) -> Entailed:
    return None if likely is None else round(likely, DECIMALS)


# --- How tables are written -----------------------------------------------------------------------


def rows_of(sample: Sample) -> list[tuple[str, ...]]:
    """Return the rows of the table, those that are too short with empty cells at their end."""
    table = table_of(sample)
    return [(*row, *[""] * (len(table.header) - len(row))) for row in table.rows]


def flattened(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as TAPEX reads it (Liu et al., ICLR 2022), after a statement and a blank."""
    numbered = (f"row {number} : {' | '.join(row)}" for number, row in enumerate(rows, start=1))
    return " ".join([f"col : {' | '.join(header)}", *numbered])


def described(sample: Sample, *, linked: bool) -> str:
    """Return a table as the published model reads it: 40 rows of the linked columns.

    Not ``linked`` are all rows and columns.
    """
    table = typed_table(sample)
    columns = linked_columns(sample) if linked else range(len(table.columns))
    names = [table.columns[column].name for column in columns]
    cells = zip(*(cells_of(table, column) for column in columns), strict=True)
    rows = [
        f"row {number} is : "
        + " ".join(f"{name} is {cell} ," for name, cell in zip(names, row, strict=True))
        for number, row in enumerate(cells, start=1)
    ]
    return " ".join(
        [f"title is : {sample.about('title')} .", *rows[: _MOST_ROWS if linked else None]]
    )
