"""Pairs of prompt and text as token ids, and the steps of a run over them.

A training row begins with exactly the ids that the evaluation feeds the model: lm-eval encodes the
prompt alone, with the special tokens that the tokenizer adds by default.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice
from typing import NamedTuple, TypeVar

import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import PreTrainedTokenizerBase

from spor_tasks.core.errors import ConfigError
from spor_tasks.prompts.cut import without_end_of_table
from spor_tasks.prompts.pairs import TrainingPair
from spor_tasks.prompts.styles import PromptStyle
from training.config import OptimizationConfig

IGNORED = -100
"""The label of a token that is not a target, as everywhere in torch and transformers."""

_MOST_UNKNOWN = 0.1  # of the tokens; the base of the demo has half on a foreign corpus

_AT_ONCE = 1000  # pairs that are tokenized together

_GROUPED_STEPS = 50  # grouping by length sorts the pairs of so many steps at a time


class Row(NamedTuple):
    """A pair in token ids.

    ``labels[i]`` is the token that the logits at position i should predict, or :data:`IGNORED`. A
    causal model's row is prompt and text without the last token, which predicts nothing, so both
    have one length; an encoder-decoder's ``labels`` are those of its decoder. ``sample`` is that of
    the pair.
    """

    input_ids: list[int]
    labels: list[int]
    sample: str = ""

    @property
    def tokens(self) -> int:
        """How many tokens it has, input and labels together."""
        return len(self.input_ids) + len(self.labels)

    @property
    def length(self) -> int:
        """The length of its longer side."""
        return max(len(self.input_ids), len(self.labels))

    @property
    def targets(self) -> int:
        """How many tokens it has to predict."""
        return sum(label != IGNORED for label in self.labels)


@dataclass(frozen=True, slots=True)
class Rows:
    """The training set in token ids.

    ``too_long`` is the number of pairs left out, and ``cut`` of those whose prompt was cut, as
    :func:`encode` says.
    """

    rows: tuple[Row, ...]
    too_long: int
    cut: int = 0


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
    pairs: Iterable[TrainingPair],
    tokenizer: PreTrainedTokenizerBase,
    style: PromptStyle,
    max_length: int | None,
    cut_before: Sequence[str] = (),
) -> Rows:
    """Return the pairs in token ids, without those of more than ``max_length`` tokens.

    First, long prompts are cut just before one of the texts of ``cut_before``
    (:func:`spor_tasks.prompts.cut.without_end_of_table`). Few pairs are in memory at once.

    A causal row is tokenized as one string, as in the paper's published code, without a space
    between prompt and text. If a token would span both, they are tokenized apart, because the
    evaluation's prompt cannot end in half a token.

    Raises:
        ConfigError: the tokenizer has no end token or does not know too much of the pairs, or no
            pair is short enough.
    """
    if tokenizer.eos_token_id is None:
        raise ConfigError(
            "the tokenizer has no end token, so a model could not learn where to stop",
            where=tokenizer.name_or_path,
            remedy="Set eos_token in its tokenizer_config.json, or use another model.path.",
        )

    def length(text: str, **settings: bool) -> int:
        return len(tokenizer(text, **settings)["input_ids"])

    def shortened(pair: TrainingPair) -> TrainingPair:
        if not cut_before or max_length is None:
            return pair
        # The end token takes the place of the row's last one, which is not in it.
        text = 0 if style == "seq2seq" else length(pair.text, add_special_tokens=False)
        room = max_length - text
        prompt = without_end_of_table(pair.prompt, cut_before, room, length, tokenizer)
        return pair._replace(prompt=prompt)

    fitting: list[Row] = []
    shared: dict[int, int] = {}  # one object for equal tokens, which takes a third of the memory
    count = cut = 0
    unread = iter(pairs)
    while whole_pairs := list(islice(unread, _AT_ONCE)):
        cut_pairs = list(map(shortened, whole_pairs))
        rows = _rows(cut_pairs, tokenizer, style)
        count += len(rows)
        for pair, whole, row in zip(cut_pairs, whole_pairs, rows, strict=True):
            if max_length is None or row.length <= max_length:
                ids, labels = ([shared.setdefault(i, i) for i in side] for side in row[:2])
                fitting.append(Row(ids, labels, pair.sample))
                cut += pair != whole
    if not fitting:
        raise ConfigError(
            f"none of the {count} training pairs has at most {max_length} tokens",
            remedy="Raise optimization.max_length, or use a model with more positions.",
        )
    _check_known(fitting, tokenizer)
    return Rows(tuple(fitting), count - len(fitting), cut)


def _check_known(rows: Sequence[Row], tokenizer: PreTrainedTokenizerBase) -> None:
    """Refuse rows that are mostly what the tokenizer has no token for: no model learns from them.

    Tokenizers of bytes have no such token, and some name another one, as GPT-2 the end.
    """
    unknown = tokenizer.unk_token_id
    if unknown is None or unknown in {tokenizer.eos_token_id, tokenizer.bos_token_id}:
        return
    number = sum(row.input_ids.count(unknown) + row.labels.count(unknown) for row in rows)
    share = number / sum(row.tokens for row in rows)
    if share > _MOST_UNKNOWN:
        raise ConfigError(
            f"{share:.0%} of the tokens of the training pairs are {tokenizer.unk_token}, which "
            "stands for what the tokenizer does not know",
            where=tokenizer.name_or_path,
            remedy="Use a model that knows the words of the corpus: model.path=FOLDER.",
        )


def _rows(
    pairs: Sequence[TrainingPair], tokenizer: PreTrainedTokenizerBase, style: PromptStyle
) -> list[Row]:
    end = tokenizer.eos_token_id
    prompts = tokenizer([pair.prompt for pair in pairs])["input_ids"]
    if style == "seq2seq":
        texts = tokenizer(text_target=[pair.text for pair in pairs])["input_ids"]
        ended = [ids if ids[-1:] == [end] else [*ids, end] for ids in texts]
        return list(map(Row, prompts, ended))
    rows = []
    joined = tokenizer([pair.prompt + pair.text for pair in pairs])["input_ids"]
    for pair, prompt_ids, ids in zip(pairs, prompts, joined, strict=True):
        text_ids = ids[len(prompt_ids) :]
        if prompt_ids + text_ids != ids:
            text_ids = tokenizer(pair.text, add_special_tokens=False)["input_ids"]
        rows.append(causal_row(prompt_ids, [*text_ids, end]))
    return rows


def causal_row(prompt: list[int], targets: list[int]) -> Row:
    """Return the row of a causal model that learns to write these tokens after the prompt."""
    return Row(prompt + targets[:-1], [IGNORED] * (len(prompt) - 1) + targets)


def plan_steps(lengths: Sequence[int], settings: OptimizationConfig) -> list[Step]:
    """Return the steps of the whole run over rows of these lengths, shuffled anew each epoch.

    The rows of a step depend on their number alone, not on the size of its batches, so smaller
    batches learn the same. A batch has rows of similar lengths.
    """
    size = settings.batch_size * settings.gradient_accumulation

    def groups(epoch: int) -> Iterator[Sequence[int]]:
        rng = random.Random(f"{settings.seed} {epoch}")
        order = list(range(len(lengths)))
        rng.shuffle(order)
        of_steps = list(chunks(order, size))
        if settings.group_by_length:
            parts = chunks(order, _GROUPED_STEPS * size)
            by_length = chain.from_iterable(sorted(some, key=lengths.__getitem__) for some in parts)
            of_steps = list(chunks(list(by_length), size))
            rng.shuffle(of_steps)
        for group in of_steps:
            yield sorted(group, key=lengths.__getitem__)

    return steps_of(groups, settings, settings.batch_size)


def steps_of(
    groups: Callable[[int], Iterable[Sequence[int]]], settings: OptimizationConfig, size: int
) -> list[Step]:
    """Return the steps of a run, given the rows of each step of an epoch, in batches of a size."""
    epochs = count() if settings.epochs is None else range(settings.epochs)
    steps = (
        Step(epoch, tuple(map(tuple, chunks(group, size))))
        for epoch in epochs
        for group in groups(epoch)
    )
    return [*islice(steps, settings.max_steps)]


def count_targets(step: Step, rows: Sequence[Row]) -> int:
    """Return how many tokens the step has to predict, in all processes together."""
    return sum(rows[number].targets for number in chain.from_iterable(step.batches))


_Item = TypeVar("_Item")


def chunks(items: Sequence[_Item], size: int) -> Iterator[Sequence[_Item]]:
    """Yield the items in parts of this size; the last one may be shorter."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def collate(rows: Sequence[Row], pad_id: int) -> dict[str, torch.Tensor]:
    """Return ``input_ids``, ``attention_mask`` and ``labels``, each batch x longest row.

    Rows are padded on the right, which neither causal attention nor an encoder's mask sees.
    """
    inputs, labels = ([torch.tensor(row[side]) for row in rows] for side in (0, 1))
    return {
        "input_ids": pad_sequence(inputs, batch_first=True, padding_value=pad_id),
        "attention_mask": pad_sequence([*map(torch.ones_like, inputs)], batch_first=True),
        "labels": pad_sequence(labels, batch_first=True, padding_value=IGNORED),
    }
