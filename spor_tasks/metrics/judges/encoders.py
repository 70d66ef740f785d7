"""How each kind of judge reads its inputs, and what it predicts: the table :data:`ENCODERS`."""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Sample
from spor_tasks.corpora.logicnlg.linearize import table_of
from spor_tasks.metrics.judges.checkpoints import (
    MOST_TOKENS,
    Encoding,
    JudgeCheckpoint,
    warn_of_cuts,
)
from spor_tasks.metrics.learned import Claim, ClassifierInput, Pair

BLEURT_TOKENS = 128  # that BLEURT-base-128 reads of a pair
_TAPEX_TOKENS = 1024
_CAUSAL_TOKENS = 1024  # of a language model that does not say how many it reads

_TEXT_SHARE = 4  # a text has at most one of so many parts of the tokens that a classifier takes
_CELL_TOKENS = 15  # of a cell, as TAPEX was trained
_WIDEST = 255  # rows or columns that TAPAS can number

# --- Texts ----------------------------------------------------------------------------------------


def _units(checkpoint: JudgeCheckpoint, inputs: Sequence[ClassifierInput]) -> Sequence[Encoding]:
    """Encode an output and a unit; the output loses its end."""
    most = checkpoint.limit(first_position=2)
    outputs, units = zip(*inputs, strict=True)
    fault = "outputs and units are longer than"
    try:
        return checkpoint.encode(outputs, units, "only_first", most, fault)
    except Exception as error:  # tokenizers has no narrower one
        if "too short to respect" not in str(error):
            raise
        unit = max(units, key=len)
        raise CorpusError(
            f"a unit is longer than the {most} tokens that the classifier takes: {unit[:80]}…",
            remedy="Use another classifier, or leave the sample out.",
        ) from error


def _references(checkpoint: JudgeCheckpoint, inputs: Sequence[Pair]) -> Sequence[Encoding]:
    """Encode a reference and a text; the longer one loses its end."""
    references, texts = zip(*inputs, strict=True)
    return checkpoint.encode(references, texts, "longest_first", checkpoint.limit(BLEURT_TOKENS))


def _texts(checkpoint: JudgeCheckpoint, texts: Sequence[str]) -> Sequence[Encoding]:
    most = checkpoint.limit(MOST_TOKENS, first_position=2)
    return checkpoint.encode(texts, None, "only_first", most, "texts are longer than")


def _after_end_token(checkpoint: JudgeCheckpoint, texts: Sequence[str]) -> Sequence[Encoding]:
    """Encode texts after the end token, so that their first token counts too."""
    tokenizer, config = checkpoint.tokenizer, checkpoint.model.config
    most = getattr(config, "max_position_embeddings", None) or _CAUSAL_TOKENS
    rows = tokenizer([*texts], add_special_tokens=False)["input_ids"]
    cut = sum(len(row) >= most for row in rows)
    warn_of_cuts(cut, len(texts), "texts are longer than", most)
    return [{"input_ids": [tokenizer.eos_token_id, *row][:most]} for row in rows]


# --- Tables ---------------------------------------------------------------------------------------


def rows_of(sample: Sample) -> list[tuple[str, ...]]:
    """Return the rows of the table, those that are too short with empty cells at their end."""
    table = table_of(sample)
    return [(*row, *[""] * (len(table.header) - len(row))) for row in table.rows]


def flattened(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as TAPEX reads it (Liu et al., ICLR 2022), after a statement and a blank."""
    numbered = (f"row {number} : {' | '.join(row)}" for number, row in enumerate(rows, start=1))
    return " ".join([f"col : {' | '.join(header)}", *numbered])


def _with_room_for_tables(
    checkpoint: JudgeCheckpoint, claims: Sequence[Claim], limit: int
) -> list[Claim]:
    """Return claims whose texts are at most a quarter of what the classifier takes."""
    most = limit // _TEXT_SHARE
    short = []
    for sample, claimed in claims:
        text = claimed
        while (count := len(checkpoint.tokenizer.tokenize(text))) > most:
            text = text[: len(text) * most // count]
        short.append((sample, text))
    cut = sum(map(operator.ne, claims, short))
    warn_of_cuts(cut, len(claims), "texts were longer than a quarter of", limit)
    return short


def _tapas(checkpoint: JudgeCheckpoint, claims: Sequence[Claim]) -> Sequence[Encoding | None]:
    """Encode a text, then the cells, each with its row, column and rank.

    What does not fit loses words at the ends of cells, then the last rows. At most 255 rows are
    read, and a wider table not at all (Herzig et al., ACL 2020; Eisenschlos et al., Findings of
    EMNLP 2020).
    """
    import pandas as pd  # 70 MB, which only this format needs

    tokenizer, most = checkpoint.tokenizer, checkpoint.limit(MOST_TOKENS)
    encodings: list[Encoding | None] = []
    cut = 0
    for sample, text in _with_room_for_tables(checkpoint, claims, most):
        header, rows = table_of(sample).header, rows_of(sample)
        if len(header) > _WIDEST:
            encodings.append(None)
            continue
        frame = pd.DataFrame(rows[:_WIDEST], columns=list(header), dtype=object)
        encoding = tokenizer(frame, text, verbose=False)
        is_long = len(encoding["input_ids"]) > most
        cut += is_long or len(rows) > _WIDEST
        if is_long:
            try:
                encoding = tokenizer(frame, text, truncation="drop_rows_to_fit", max_length=most)
            except ValueError as error:
                if "Could not encode the query and table header" not in str(error):
                    raise
                encoding = None
        encodings.append(encoding)
    warn_of_cuts(cut, len(claims), "tables were longer than", most)
    warn_of_cuts(encodings.count(None), len(claims), "tables were wider than", most)
    return encodings


def _tapex(checkpoint: JudgeCheckpoint, claims: Sequence[Claim]) -> Sequence[Encoding]:
    """Encode one text, in lower case (:func:`flattened`), with 15 tokens of each cell."""

    def shortened(cell: str) -> str:
        if len(cell.encode()) <= _CELL_TOKENS:
            return cell
        (tokens,) = checkpoint.tokenizer([cell], add_special_tokens=False).encodings
        return cell[: tokens.offsets[_CELL_TOKENS - 1][1]] if len(tokens) > _CELL_TOKENS else cell

    most = checkpoint.limit(_TAPEX_TOKENS)
    texts = []
    for sample, text in _with_room_for_tables(checkpoint, claims, most):
        rows = [[shortened(cell) for cell in row] for row in rows_of(sample)]
        texts.append(f"{text} {flattened(table_of(sample).header, rows)}".lower())
    return checkpoint.encode(texts, None, "only_first", most, "tables were longer than")


# --- Predictions ----------------------------------------------------------------------------------


def _numbers(model: Any, batch: Any) -> list[list[float]]:
    """Return the number of each class for each input."""
    numbers: list[list[float]] = model(**batch).logits.float().tolist()
    return numbers


def _probabilities(model: Any, batch: Any) -> list[list[float]]:
    """Return the probability of each class among others, or alone if classes do not exclude."""
    alone = model.config.num_labels == 1
    alone |= model.config.problem_type == "multi_label_classification"
    logits = model(**batch).logits
    likely = torch.sigmoid(logits) if alone else torch.softmax(logits, dim=-1)
    probabilities: list[list[float]] = likely.tolist()
    return probabilities


def _perplexities(model: Any, batch: Any) -> list[float | None]:
    """Return the perplexity of each text; None where a token is impossible, or there is none."""
    ids, is_token = batch["input_ids"], batch["attention_mask"].bool().cpu()
    logits = model(input_ids=ids).logits[:, :-1]
    likely = torch.softmax(logits, dim=-1).gather(-1, ids[:, 1:, None])[..., 0].cpu().double()
    perplexities: list[float | None] = []
    for of_text, is_own in zip(likely, is_token[:, 1:], strict=True):
        tokens = of_text[is_own]
        # Probabilities are of single precision, in which one may be zero.
        possible = len(tokens) and bool((tokens > 0).all())
        perplexities.append(math.exp(float(-tokens.log().mean())) if possible else None)
    return perplexities


class Encoder(NamedTuple):
    """How a kind of judge reads inputs, and what it predicts for a batch of them."""

    encode: Callable[[JudgeCheckpoint, Sequence[Any]], Sequence[Encoding | None]]
    """Returns the tokens of each input, None where the model cannot read it."""
    predict: Callable[[Any, Any], Sequence[Any]]
    """Returns a prediction for each input, given a model and the padded batch."""


ENCODERS: Mapping[str, Encoder] = {
    "facts": Encoder(_units, _probabilities),
    "tapas": Encoder(_tapas, _probabilities),
    "tapex": Encoder(_tapex, _probabilities),
    "bleurt": Encoder(_references, _numbers),
    "attributes": Encoder(_texts, _numbers),
    "perplexity": Encoder(_after_end_token, _perplexities),
}
"""The encoders by the kind of judge; two kinds read tables."""
