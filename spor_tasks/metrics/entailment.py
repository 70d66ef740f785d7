"""Classifiers of transformers that say whether a table entails a text, for NLI-Acc."""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import Sample
from spor_tasks.corpora.logicnlg.linearize import table_of
from spor_tasks.metrics.learned import Claim, NliAcc
from spor_tasks.metrics.readers import (
    MOST_TOKENS,
    Checkpoint,
    Encoded,
    Reader,
    label_of,
    probability_of,
    read_classifier,
    warn_of_cuts,
)

_TEXT_SHARE = 4  # a text has at most one of so many parts of the tokens that a classifier takes
_CELL_TOKENS = 15  # of a cell, as TAPEX was trained
_WIDEST = 255  # rows or columns that TAPAS can number
_TOO_LONG = "tables were longer than"


def rows_of(sample: Sample) -> list[tuple[str, ...]]:
    """Return the rows of the table, those that are too short with empty cells at their end."""
    table = table_of(sample)
    return [(*row, *[""] * (len(table.header) - len(row))) for row in table.rows]


def flattened(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as TAPEX reads it (Liu et al., ICLR 2022), after a statement and a blank."""
    numbered = (f"row {number} : {' | '.join(row)}" for number, row in enumerate(rows, start=1))
    return " ".join([f"col : {' | '.join(header)}", *numbered])


def _tapas(checkpoint: Checkpoint, claims: Sequence[Claim], most: int) -> Sequence[Encoded | None]:
    import pandas as pd  # 70 MB, which only this format needs

    tokenizer, encoded, cut = checkpoint.tokenizer, [], 0
    for sample, text in claims:
        header, rows = table_of(sample).header, rows_of(sample)
        frame = pd.DataFrame(rows[:_WIDEST], columns=list(header), dtype=object)
        whole = None if len(header) > _WIDEST else tokenizer(frame, text, verbose=False)
        is_long = whole and len(whole["input_ids"]) > most
        cut += bool(is_long or (whole and len(rows) > _WIDEST))
        encoded.append(_with_rows_that_fit(tokenizer, frame, text, most) if is_long else whole)
    warn_of_cuts(cut, len(claims), _TOO_LONG, most)
    warn_of_cuts(encoded.count(None), len(claims), "tables were wider than", most)
    return encoded


def _with_rows_that_fit(
    tokenizer: Any,
    frame: Any,
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


def _tapex(checkpoint: Checkpoint, claims: Sequence[Claim], most: int) -> Sequence[Encoded]:
    def shortened(cell: str) -> str:
        if len(cell.encode()) <= _CELL_TOKENS:
            return cell
        (tokens,) = checkpoint.tokenizer([cell], add_special_tokens=False).encodings
        return cell[: tokens.offsets[_CELL_TOKENS - 1][1]] if len(tokens) > _CELL_TOKENS else cell

    def written(sample: Sample, text: str) -> str:
        rows = [list(map(shortened, row)) for row in rows_of(sample)]
        return f"{text} {flattened(table_of(sample).header, rows)}".lower()

    texts = [written(*claim) for claim in claims]
    return checkpoint.encode(texts, None, "only_first", most, _TOO_LONG)


class _Format(NamedTuple):
    """How classifiers read a table and a text.

    ``encode`` returns the tokens of each claim, None where it cannot. More than ``most_labels``
    show that a model of the same type compares texts.
    """

    name: str
    encode: Callable[[Checkpoint, Sequence[Claim], int], Sequence[Encoded | None]]
    most_tokens: int
    most_labels: float = math.inf


FORMATS: Mapping[str, _Format] = {
    "tapas": _Format("tapas", _tapas, MOST_TOKENS),
    "bart": _Format("tapex", _tapex, 1024, most_labels=2),  # of MNLI it has three
}
"""The formats by the type of the model.

``tapas``: TAPAS (Herzig et al., ACL 2020; Eisenschlos et al., Findings of EMNLP 2020) reads the
text, then the cells, each with its row, column and rank. What does not fit loses words at the ends
of cells, then the last rows. At most 255 rows are read, and a wider table not at all.

``tapex``: TAPEX (Liu et al., ICLR 2022) reads one text, in lower case (:func:`flattened`),
with 15 tokens of each cell.
"""


@lru_cache(maxsize=1)
def load(
    model: str,
    *,
    label: str | int | None = None,
    device: str | None = None,
    batch_size: int = 32,
) -> NliAcc:
    """Return NLI-Acc by the classifier of this folder, or of this name on the hub.

    ``label`` and ``device`` are as in :func:`spor_tasks.metrics.readers.facts`.

    Raises:
        ConfigError: the classifier, device or label does not exist, or it reads no tables.
    """
    # The checkpoints of TAPEX name a tokenizer that transformers lacks.
    checkpoint = read_classifier(model, device, batch_size, {"bart": "BartTokenizer"})
    kind, count = checkpoint.model.config.model_type, len(checkpoint.labels)
    if kind not in FORMATS or count > FORMATS[kind].most_labels:
        raise ConfigError(
            f"is of the type {kind} with {count} labels, which reads no tables",
            where=model,
            remedy="Name a TAPAS or TAPEX, such as google/tapas-base-finetuned-tabfact.",
        )
    name = FORMATS[kind].name
    number = label_of(checkpoint.labels, label, "nli_label")
    # `</s>` in an output ends nothing. Of TAPAS the setting would add tokens to empty cells.
    checkpoint.tokenizer.split_special_tokens = name != "tapas"
    encode = partial(_encode, checkpoint, FORMATS[kind])
    details = f"|label:{checkpoint.labels[number]}|format:{name}"
    return NliAcc(Reader(checkpoint, encode, probability_of(number), details))


def _encode(
    checkpoint: Checkpoint, form: _Format, claims: Sequence[Claim]
) -> Sequence[Encoded | None]:
    """Return the tokens of claims whose texts are so short that there is room for the table."""
    limit = checkpoint.limit(form.most_tokens)
    most = limit // _TEXT_SHARE

    def shortened(text: str) -> str:
        while (count := len(checkpoint.tokenizer.tokenize(text))) > most:
            text = text[: len(text) * most // count]
        return text

    short = [(sample, shortened(text)) for sample, text in claims]
    cut = sum(map(operator.ne, claims, short))
    warn_of_cuts(cut, len(claims), "texts were longer than a quarter of", limit)
    return form.encode(checkpoint, short, limit)
