"""Classifiers of transformers that say whether a table entails a text, which NLI-Acc asks."""

import logging
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import pandas as pd

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import Sample
from spor_tasks.corpora.logicnlg.linearize import table_of
from spor_tasks.metrics.classifier import SequenceClassifier, Tokenizers
from spor_tasks.metrics.nli import (
    READY,
    Claim,
    Entailed,
    NliAcc,
    described,
    flattened,
    rows_of,
)

_log = logging.getLogger(__name__)

_Encoded: TypeAlias = Mapping[str, Any]

_TEXT_SHARE = 4  # a text has at most one of so many parts of the tokens that a classifier takes
_CELL_TOKENS = 15  # of a cell, as TAPEX was trained
_WIDEST = 255  # rows or columns that TAPAS can number
_REMEDY = (
    "Name one with `--format`, or of a task with `--metadata '{\"nli_format\": …}'`: tapas for "
    "TAPAS, tapex for TAPEX, table_bert or nli for other classifiers."
)


class _Reading(NamedTuple):
    """How classifiers of one format read a table and a text.

    ``encode`` returns the tokens of each claim, None where it cannot, and how many tables it cut.
    """

    encode: Callable[
        [SequenceClassifier, Sequence[Claim], int], tuple[Sequence[_Encoded | None], int]
    ]
    most_tokens: int = 512
    model_type: str | None = None
    tokenizer: Tokenizers = "auto"


def _tapas(
    model: SequenceClassifier, claims: Sequence[Claim], most: int
) -> tuple[Sequence[_Encoded | None], int]:
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
) -> _Encoded | None:
    try:
        encoded: _Encoded = tokenizer(frame, text, truncation="drop_rows_to_fit", max_length=most)
    except ValueError as error:
        if "Could not encode the query and table header" not in str(error):
            raise
        return None
    return encoded


def _tapex(
    model: SequenceClassifier, claims: Sequence[Claim], most: int
) -> tuple[Sequence[_Encoded], int]:
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
) -> tuple[Sequence[_Encoded], int]:
    tables = [described(sample, linked=True) for sample, _ in claims]
    return model.encode([text for _, text in claims], tables, "only_second", most)


def _nli(
    model: SequenceClassifier, claims: Sequence[Claim], most: int
) -> tuple[Sequence[_Encoded], int]:
    tables = [described(sample, linked=False) for sample, _ in claims]
    return model.encode(tables, [text for _, text in claims], "only_first", most)


FORMATS: Mapping[str, _Reading] = {
    "tapas": _Reading(_tapas, model_type="tapas"),
    "tapex": _Reading(_tapex, 1024, model_type="bart", tokenizer="bart"),
    "table_bert": _Reading(_table_bert),
    "nli": _Reading(_nli),
}
"""How classifiers read a table and a text.

``tapas``: TAPAS (Herzig et al., ACL 2020; Eisenschlos et al., Findings of EMNLP 2020) reads the
text, then the cells, each with its row, column and rank. What does not fit loses words at the ends
of cells, then the last rows. At most 255 rows are read, and a wider table not at all.

``tapex``: TAPEX (Liu et al., ICLR 2022) reads one text, in lower case (:func:`.nli.flattened`),
with 15 tokens of each cell.

``table_bert``: two segments, the text and the linked columns (:func:`.nli.described`), as the
published model of NLI-Acc reads them; that has layers of its own, which no class of transformers
has.

``nli``: two segments, the whole table as premise and the text as hypothesis.
"""


@lru_cache(maxsize=1)  # all tasks of a run ask the same one
def load(
    model: str,
    *,
    format: str | None = None,  # noqa: A002 - the name of the setting
    label: str | int | None = None,
    device: str | None = None,
    batch_size: int = 32,
) -> NliAcc:
    """Return NLI-Acc by the classifier of this folder, or of this name on the hub.

    A checkpoint of :data:`spor_tasks.metrics.nli.READY` needs no ``format``, nor does another
    TAPAS. ``label``, ``device`` and weights are as in :func:`spor_tasks.metrics.classifier.load`.

    Raises:
        ConfigError: there is no such classifier, device, label or format, or the format is not one
            that the classifier reads.
    """
    ready = READY.get(model)
    name = format or (ready and ready.format)
    if name is not None and name not in FORMATS:
        raise ConfigError(f"there is no format {name!r} of tables and texts", remedy=_REMEDY)
    found = SequenceClassifier(
        model,
        ready.label if label is None and ready else label,
        device,
        batch_size,
        setting="nli_label",
        tokenizer=FORMATS[name].tokenizer if name else "auto",
    )
    kind = found.config.model_type
    name = name or (kind if kind == "tapas" else None)
    if name is None:
        raise ConfigError("nothing says how it reads a table", where=model, remedy=_REMEDY)
    if (kind == "tapas") != (name == "tapas") or FORMATS[name].model_type not in (None, kind):
        raise ConfigError(f"is a {kind}, which does not read {name}", where=model, remedy=_REMEDY)
    return NliAcc(_Entailment(found, name))


class _Entailment:
    def __init__(self, model: SequenceClassifier, name: str) -> None:
        self._model, self._reading = model, FORMATS[name]
        self._tokenizer = model.tokenizer
        # `</s>` in an output ends nothing. Of TAPAS the setting would add tokens to empty cells.
        self._tokenizer.split_special_tokens = name != "tapas"
        positions = getattr(model.config, "max_position_embeddings", None)
        limits = (self._tokenizer.model_max_length, self._reading.most_tokens, positions)
        self._most_tokens = min(filter(None, limits))
        self.signature = f"{model.signature}|format:{name}"

    def __call__(self, claims: Sequence[Claim]) -> list[Entailed]:
        """Return the probability that each table entails its text, None if it is too wide."""
        if not claims:
            return []
        shortened = [(sample, self._shortened(text)) for sample, text in claims]
        encoded, cut = self._reading.encode(self._model, shortened, self._most_tokens)
        likely = iter(self._model.likely([each for each in encoded if each is not None]))
        cuts = {
            "texts were longer than a quarter of": sum(map(operator.ne, claims, shortened)),
            "tables were longer, and lost their ends, than": cut,
            "tables were wider than": sum(each is None for each in encoded),
        }
        for what, count in cuts.items():
            if count:
                _log.warning(
                    "%d of %d %s the %d tokens that the classifier takes",
                    *(count, len(claims), what, self._most_tokens),
                )
        return [None if each is None else next(likely) for each in encoded]

    def _shortened(self, text: str) -> str:
        """Return the start of a text, so short that there is room for the table."""
        most = self._most_tokens // _TEXT_SHARE
        while (count := len(self._tokenizer.tokenize(text))) > most:
            text = text[: len(text) * most // count]
        return text
