"""Classifiers of transformers that say whether a table entails a text, for NLI-Acc."""

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import pandas as pd

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import Sample
from spor_tasks.corpora.logicnlg.linearize import table_of
from spor_tasks.metrics.learned import READY, Claim, NliAcc, described, flattened, rows_of
from spor_tasks.metrics.readers import (
    MOST_TOKENS,
    Encoded,
    SequenceClassifier,
    Tokenizers,
    label_of,
    warn_of_cuts,
)

_TEXT_SHARE = 4  # a text has at most one of so many parts of the tokens that a classifier takes
_CELL_TOKENS = 15  # of a cell, as TAPEX was trained
_WIDEST = 255  # rows or columns that TAPAS can number
_REMEDY = (
    "Name one with `--format`, or of a task with `--metadata '{\"nli_format\": …}'`: tapas for "
    "TAPAS, tapex for TAPEX, table_bert or nli for other classifiers."
)


class _Format(NamedTuple):
    """How classifiers of one format read a table and a text.

    ``encode`` returns the tokens of each claim, None where it cannot, and how many tables it cut.
    """

    encode: Callable[
        [SequenceClassifier, Sequence[Claim], int], tuple[Sequence[Encoded | None], int]
    ]
    most_tokens: int = MOST_TOKENS
    model_type: str | None = None
    tokenizer: Tokenizers = "auto"


def _tapas(
    model: SequenceClassifier, claims: Sequence[Claim], most: int
) -> tuple[Sequence[Encoded | None], int]:
    encoded, cut = [], 0
    for sample, text in claims:
        header, rows = table_of(sample).header, rows_of(sample)
        frame = pd.DataFrame(rows[:_WIDEST], columns=list(header), dtype=object)
        whole = None if len(header) > _WIDEST else model.tokenizer(frame, text, verbose=False)
        if whole and len(whole["input_ids"]) > most:
            whole = _with_rows_that_fit(model.tokenizer, frame, text, most)
            cut += 1
        else:
            cut += len(rows) > _WIDEST
        encoded.append(whole)
    return encoded, cut


def _with_rows_that_fit(
    tokenizer: Any,  # noqa: ANN401 - of transformers
    frame: pd.DataFrame,
    text: str,
    most: int,
) -> Encoded | None:
    try:
        encoded: Encoded = tokenizer(frame, text, truncation="drop_rows_to_fit", max_length=most)
    except ValueError as error:
        if "Could not encode the query and table header" not in str(error):
            raise
        return None
    return encoded


def _tapex(
    model: SequenceClassifier, claims: Sequence[Claim], most: int
) -> tuple[Sequence[Encoded], int]:
    def shortened(cell: str) -> str:
        if len(cell.encode()) <= _CELL_TOKENS:
            return cell
        (tokens,) = model.tokenizer([cell], add_special_tokens=False).encodings
        return cell[: tokens.offsets[_CELL_TOKENS - 1][1]] if len(tokens) > _CELL_TOKENS else cell

    def written(sample: Sample, text: str) -> str:
        rows = [list(map(shortened, row)) for row in rows_of(sample)]
        return f"{text} {flattened(table_of(sample).header, rows)}".lower()

    return model.encode([written(*claim) for claim in claims], [None], "only_first", most)


def _table_bert(
    model: SequenceClassifier, claims: Sequence[Claim], most: int
) -> tuple[Sequence[Encoded], int]:
    tables = [described(sample, linked=True) for sample, _ in claims]
    return model.encode([text for _, text in claims], tables, "only_second", most)


def _nli(
    model: SequenceClassifier, claims: Sequence[Claim], most: int
) -> tuple[Sequence[Encoded], int]:
    tables = [described(sample, linked=False) for sample, _ in claims]
    return model.encode(tables, [text for _, text in claims], "only_first", most)


FORMATS: Mapping[str, _Format] = {
    "tapas": _Format(_tapas, model_type="tapas"),
    "tapex": _Format(_tapex, 1024, model_type="bart", tokenizer="bart"),
    "table_bert": _Format(_table_bert),
    "nli": _Format(_nli),
}
"""How classifiers read a table and a text.

``tapas``: TAPAS (Herzig et al., ACL 2020; Eisenschlos et al., Findings of EMNLP 2020) reads the
text, then the cells, each with its row, column and rank. What does not fit loses words at the ends
of cells, then the last rows. At most 255 rows are read, and a wider table not at all.

``tapex``: TAPEX (Liu et al., ICLR 2022) reads one text, in lower case (:func:`.learned.flattened`),
with 15 tokens of each cell.

``table_bert``: two segments, the text and the linked columns (:func:`.learned.described`), as the
published model of NLI-Acc reads them; that has layers of its own, which no class of transformers
has.

``nli``: two segments, the whole table as premise and the text as hypothesis.
"""


@lru_cache(maxsize=1)
def load(
    model: str,
    *,
    format: str | None = None,  # noqa: A002 - the name of the setting
    label: str | int | None = None,
    device: str | None = None,
    batch_size: int = 32,
) -> NliAcc:
    """Return NLI-Acc by the classifier of this folder, or of this name on the hub.

    A checkpoint of :data:`spor_tasks.metrics.learned.READY` needs no ``format``, nor does another
    TAPAS. ``label`` and ``device`` are as in :func:`spor_tasks.metrics.readers.facts`.

    Raises:
        ConfigError: there is no such classifier, device, label or format, or the format is not one
            that the classifier reads.
    """
    ready = READY.get(model)
    name = format or (ready and ready.format)
    if name is not None and name not in FORMATS:
        raise ConfigError(f"there is no format {name!r} of tables and texts", remedy=_REMEDY)
    tokenizer = FORMATS[name].tokenizer if name else "auto"
    classifier = SequenceClassifier(model, device, batch_size, tokenizer=tokenizer)
    label = label_of(
        classifier.labels, ready.label if label is None and ready else label, "nli_label"
    )
    kind = classifier.config.model_type
    name = name or (kind if kind == "tapas" else None)
    if name is None:
        raise ConfigError("nothing says how it reads a table", where=model, remedy=_REMEDY)
    if (kind == "tapas") != (name == "tapas") or FORMATS[name].model_type not in (None, kind):
        raise ConfigError(f"is a {kind}, which does not read {name}", where=model, remedy=_REMEDY)
    return NliAcc(_Entailment(classifier, label, name))


class _Entailment:
    def __init__(self, model: SequenceClassifier, label: int, name: str) -> None:
        self._model, self._label, self._format = model, label, FORMATS[name]
        # `</s>` in an output ends nothing. Of TAPAS the setting would add tokens to empty cells.
        model.tokenizer.split_special_tokens = name != "tapas"
        self._most = model.limit(self._format.most_tokens)
        self.signature = f"{model.signature}|label:{model.labels[label]}|format:{name}"

    def __call__(self, claims: Sequence[Claim]) -> list[float | None]:
        """Return the probability that each table entails its text, None if it is too wide."""
        if not claims:
            return []
        shortened = [(sample, self._shortened(text)) for sample, text in claims]
        encoded, cut = self._format.encode(self._model, shortened, self._most)
        readable = [each for each in encoded if each is not None]
        faults = {
            "texts were longer than a quarter of": sum(map(operator.ne, claims, shortened)),
            "tables were longer than": cut,
            "tables were wider than": len(encoded) - len(readable),
        }
        for fault, count in faults.items():
            warn_of_cuts(count, len(claims), fault, self._most)
        likely = iter(self._model.probabilities(readable, self._label))
        return [None if each is None else next(likely) for each in encoded]

    def _shortened(self, text: str) -> str:
        """Return the start of a text, so short that there is room for the table."""
        most = self._most // _TEXT_SHARE
        while (count := len(self._model.tokenizer.tokenize(text))) > most:
            text = text[: len(text) * most // count]
        return text
