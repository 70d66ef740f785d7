"""Classifiers of transformers that say whether a table entails a text, for NLI-Acc."""

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import Sample
from spor_tasks.corpora.logicnlg.linearize import cells_of, table_of, typed_table
from spor_tasks.metrics.learned import (
    READY,
    READY_LABEL,
    Claim,
    NliAcc,
)
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
_REMEDY = (
    "Name one with `--format`, or of a task with `--metadata '{\"nli_format\": …}'`: tapas for "
    "TAPAS, tapex for TAPEX, nli for other classifiers."
)


def rows_of(sample: Sample) -> list[tuple[str, ...]]:
    """Return the rows of the table, those that are too short with empty cells at their end."""
    table = table_of(sample)
    return [(*row, *[""] * (len(table.header) - len(row))) for row in table.rows]


def flattened(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as TAPEX reads it (Liu et al., ICLR 2022), after a statement and a blank."""
    numbered = (f"row {number} : {' | '.join(row)}" for number, row in enumerate(rows, start=1))
    return " ".join([f"col : {' | '.join(header)}", *numbered])


def described(sample: Sample) -> str:
    """Return a table in words: each cell after the name of its column."""
    table = typed_table(sample)
    names = [column.name for column in table.columns]
    cells = zip(*(cells_of(table, column) for column in range(len(names))), strict=True)
    rows = (
        f"row {number} is : "
        + " ".join(f"{name} is {cell} ," for name, cell in zip(names, row, strict=True))
        for number, row in enumerate(cells, start=1)
    )
    return " ".join([f"title is : {sample.about('title')} .", *rows])


class _Format(NamedTuple):
    """How classifiers of one format read a table and a text.

    ``encode`` returns the tokens of each claim, None where it cannot. ``model_type`` is that of the
    only classifiers that read the format.
    """

    encode: Callable[[Checkpoint, Sequence[Claim], int], Sequence[Encoded | None]]
    most_tokens: int = MOST_TOKENS
    model_type: str | None = None
    tokenizers: str = "AutoTokenizer"


def _tapas(checkpoint: Checkpoint, claims: Sequence[Claim], most: int) -> Sequence[Encoded | None]:
    import pandas as pd  # noqa: PLC0415 - 70 MB, which only this format needs

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
    tokenizer: Any,  # noqa: ANN401 - of transformers
    frame: Any,  # noqa: ANN401 - of pandas
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
    return checkpoint.encode(texts, [None], "only_first", most, _TOO_LONG)


def _nli(checkpoint: Checkpoint, claims: Sequence[Claim], most: int) -> Sequence[Encoded]:
    tables = [described(sample) for sample, _ in claims]
    texts = [text for _, text in claims]
    return checkpoint.encode(tables, texts, "only_first", most, _TOO_LONG)


FORMATS: Mapping[str, _Format] = {
    "tapas": _Format(_tapas, model_type="tapas"),
    "tapex": _Format(_tapex, 1024, "bart", "BartTokenizer"),
    "nli": _Format(_nli),
}
"""How classifiers read a table and a text.

``tapas``: TAPAS (Herzig et al., ACL 2020; Eisenschlos et al., Findings of EMNLP 2020) reads the
text, then the cells, each with its row, column and rank. What does not fit loses words at the ends
of cells, then the last rows. At most 255 rows are read, and a wider table not at all.

``tapex``: TAPEX (Liu et al., ICLR 2022) reads one text, in lower case (:func:`flattened`),
with 15 tokens of each cell.

``nli``: two segments, the table in words (:func:`described`) as premise and the text as
hypothesis.
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
    name = format or READY.get(model)
    if name is not None and name not in FORMATS:
        raise ConfigError(f"there is no format {name!r} of tables and texts", remedy=_REMEDY)
    checkpoint = read_classifier(model, device, batch_size, FORMATS[name or "nli"].tokenizers)
    if label is None and model in READY:
        label = READY_LABEL
    number = label_of(checkpoint.labels, label, "nli_label")
    kind = checkpoint.model.config.model_type
    name = name or (kind if kind == "tapas" else None)
    if name is None:
        raise ConfigError("nothing says how it reads a table", where=model, remedy=_REMEDY)
    if (kind == "tapas") != (name == "tapas") or FORMATS[name].model_type not in (None, kind):
        raise ConfigError(f"is a {kind}, which does not read {name}", where=model, remedy=_REMEDY)
    # `</s>` in an output ends nothing. Of TAPAS the setting would add tokens to empty cells.
    checkpoint.tokenizer.split_special_tokens = name != "tapas"
    encode = partial(_encode, checkpoint, FORMATS[name])
    details = f"|label:{checkpoint.labels[number]}|format:{name}"
    return NliAcc(Reader(checkpoint, encode, probability_of(number), details))


def _encode(
    checkpoint: Checkpoint, of: _Format, claims: Sequence[Claim]
) -> Sequence[Encoded | None]:
    """Return the tokens of claims whose texts are so short that there is room for the table."""
    limit = checkpoint.limit(of.most_tokens)
    most = limit // _TEXT_SHARE

    def shortened(text: str) -> str:
        while (count := len(checkpoint.tokenizer.tokenize(text))) > most:
            text = text[: len(text) * most // count]
        return text

    short = [(sample, shortened(text)) for sample, text in claims]
    cut = sum(map(operator.ne, claims, short))
    warn_of_cuts(cut, len(claims), "texts were longer than a quarter of", limit)
    return of.encode(checkpoint, short, limit)
