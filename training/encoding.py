"""From pairs of prompt and text to the token ids that a model is trained on, step by step.

The prompt is that of the evaluation, down to the ids: lm-eval encodes it alone, with the special
tokens that the tokenizer adds by default, so a training row begins with exactly those.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import torch
from transformers import PreTrainedTokenizerBase

from spor_tasks.core.errors import ConfigError
from spor_tasks.prompts.styles import PromptStyle
from training.config import OptimizationConfig
from training.data import TrainingPair

# The label that means "no target here", as everywhere in torch and transformers.
IGNORED = -100
# Length grouping sorts this many steps' worth of shuffled pairs at a time.
_GROUPED_STEPS = 50


class Row(NamedTuple):
    """A pair in token ids.

    ``labels[i]`` is what the logits at position i should say, or :data:`IGNORED`. A causal model's
    row is prompt and text without the last token, which predicts nothing, so both have one length;
    an encoder-decoder's ``labels`` are those of its decoder.
    """

    input_ids: list[int]
    labels: list[int]


@dataclass(frozen=True, slots=True)
class Rows:
    """The training set in token ids.

    ``samples`` are the ids of the rows' samples. ``too_long`` pairs were left out. ``split_apart``
    counts the pairs whose first token would otherwise have reached over from the prompt into the
    text; see :func:`encode`.
    """

    rows: tuple[Row, ...]
    samples: tuple[str, ...]
    too_long: int
    split_apart: int

    @property
    def lengths(self) -> list[int]:
        """How many tokens each row has, input and labels together."""
        return [sum(map(len, row)) for row in self.rows]


@dataclass(frozen=True, slots=True)
class Step:
    """One optimizer step: its epoch from 0, and its batches of row numbers."""

    epoch: int
    batches: tuple[tuple[int, ...], ...]

    @property
    def size(self) -> int:
        """The number of pairs in the step."""
        return sum(map(len, self.batches))


def encode(
    pairs: Sequence[TrainingPair],
    tokenizer: PreTrainedTokenizerBase,
    style: PromptStyle,
    max_length: int | None,
) -> Rows:
    """Return the pairs in token ids, without those of more than ``max_length`` tokens.

    A causal row is tokenized as one string, as the paper's training does [code]: no space stands
    between cue and text. Where a token would span both, prompt and text are tokenized apart,
    because the evaluation's prompt cannot end in half a token.

    Raises:
        ConfigError: the tokenizer has no end token, or no pair is short enough.
    """
    if tokenizer.eos_token_id is None:
        raise ConfigError(
            "the tokenizer has no end token, so a model could not learn where to stop",
            where=tokenizer.name_or_path,
        )
    encode_rows = _causal_rows if style == "causal" else _seq2seq_rows
    rows, split_apart = encode_rows(pairs, tokenizer)
    short = [
        (row, pair.sample)
        for row, pair in zip(rows, pairs, strict=True)
        if max_length is None or max(map(len, row)) <= max_length
    ]
    if not short:
        raise ConfigError(
            f"none of the {len(rows)} training pairs has at most {max_length} tokens",
            remedy="Raise optimization.max_length, or take a model with more positions.",
        )
    kept, samples = zip(*short, strict=True)
    return Rows(kept, samples, len(rows) - len(short), split_apart)


def _causal_rows(
    pairs: Sequence[TrainingPair], tokenizer: PreTrainedTokenizerBase
) -> tuple[list[Row], int]:
    prompts = _ids(tokenizer, [pair.prompt for pair in pairs])
    joined = _ids(tokenizer, [pair.prompt + pair.text for pair in pairs])
    rows = []
    split_apart = 0
    for pair, prompt_ids, ids in zip(pairs, prompts, joined, strict=True):
        if ids[: len(prompt_ids)] == prompt_ids:
            text_ids = ids[len(prompt_ids) :]
        else:
            text_ids = tokenizer(pair.text, add_special_tokens=False)["input_ids"]
            split_apart += 1
        targets = [*text_ids, tokenizer.eos_token_id]
        unlabelled = [IGNORED] * (len(prompt_ids) - 1)
        rows.append(Row(prompt_ids + targets[:-1], unlabelled + targets))
    return rows, split_apart


def _seq2seq_rows(
    pairs: Sequence[TrainingPair], tokenizer: PreTrainedTokenizerBase
) -> tuple[list[Row], int]:
    prompts = _ids(tokenizer, [pair.prompt for pair in pairs])
    texts = tokenizer(text_target=[pair.text for pair in pairs])["input_ids"]
    end = tokenizer.eos_token_id
    rows = [
        Row(prompt_ids, text_ids if text_ids[-1:] == [end] else [*text_ids, end])
        for prompt_ids, text_ids in zip(prompts, texts, strict=True)
    ]
    return rows, 0


def _ids(tokenizer: PreTrainedTokenizerBase, texts: list[str]) -> list[list[int]]:
    ids: list[list[int]] = tokenizer(texts)["input_ids"]
    return ids


def plan_steps(lengths: Sequence[int], settings: OptimizationConfig) -> list[Step]:
    """Return the steps of the whole run over rows of these lengths, shuffled anew each epoch.

    A step's rows depend on how many there are, not on how many batches they come in: what needs
    less memory learns the same. Batches of one step are of similarly long rows.
    """
    steps: list[Step] = []
    epoch = 0
    while epoch != settings.epochs and len(steps) != settings.max_steps:
        groups = _epoch_groups(lengths, settings, random.Random(f"{settings.seed} {epoch}"))
        sorted_groups = (sorted(group, key=lengths.__getitem__) for group in groups)
        steps += [
            Step(epoch, tuple(map(tuple, _chunks(group, settings.batch_size))))
            for group in sorted_groups
        ]
        steps = steps[: settings.max_steps]
        epoch += 1
    return steps


def count_targets(step: Step, rows: Sequence[Row]) -> int:
    """Return how many tokens the step, of all processes, is to predict."""
    return sum(
        label != IGNORED
        for batch in step.batches
        for number in batch
        for label in rows[number].labels
    )


def _epoch_groups(
    lengths: Sequence[int], settings: OptimizationConfig, rng: random.Random
) -> list[Sequence[int]]:
    """Return the rows of each step of an epoch."""
    order = list(range(len(lengths)))
    size = settings.batch_size * settings.gradient_accumulation
    rng.shuffle(order)
    if not settings.group_by_length:
        return list(_chunks(order, size))
    groups = [
        group
        for some in _chunks(order, _GROUPED_STEPS * size)
        for group in _chunks(sorted(some, key=lengths.__getitem__), size)
    ]
    rng.shuffle(groups)
    return groups


def padding(rows: Sequence[Row], steps: Sequence[Step], settings: OptimizationConfig) -> float:
    """Return the share of padding among the positions that the steps' inputs take, 0 to 1."""
    if settings.packing:
        return 0.0
    used = taken = 0
    for batch in (batch for step in steps for batch in step.batches):
        lengths = [len(rows[number].input_ids) for number in batch]
        used += sum(lengths)
        taken += len(lengths) * max(lengths)
    return 1 - used / taken


_Item = TypeVar("_Item")


def _chunks(items: Sequence[_Item], size: int) -> Iterator[Sequence[_Item]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def collate(rows: Sequence[Row], pad_id: int) -> dict[str, torch.Tensor]:
    """Return ``input_ids``, ``attention_mask`` and ``labels``, each batch x longest row.

    Rows are padded on the right, where neither causal attention nor an encoder's mask lets the
    padding be seen.
    """
    return {
        "input_ids": _padded([row.input_ids for row in rows], pad_id),
        "attention_mask": _padded([[1] * len(row.input_ids) for row in rows], 0),
        "labels": _padded([row.labels for row in rows], IGNORED),
    }


def _padded(rows: Sequence[Sequence[int]], filler: int) -> torch.Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[filler] * (longest - len(row))] for row in rows])
