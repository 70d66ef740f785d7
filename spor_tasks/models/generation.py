"""The rules by which `spor-hf` writes: where a text ends, how tokens are drawn, which may follow.

transformers draws one random number after another, so that what a request gets depends on those
before it and beside it. Here the number for a token depends on the request's own seed, the position
and the token: the same seed gives the same text at any batch size and on any device, as far as the
model gives equal probabilities. The token with the largest sum of log probability and Gumbel noise
is a draw from the probabilities (Gumbel, 1954).

Coarse-to-fine generation writes a template, ``[SEP]``, and then a sentence. As published (LogicNLG,
section 5), no ``[ENT]`` follows another one, and after ``[SEP]`` neither of the two is written.
"""

import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import torch
from lm_eval.models.utils import normalize_gen_kwargs
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence
from transformers import (
    GenerationConfig,
    LogitsProcessor,
    PreTrainedTokenizerBase,
    StoppingCriteria,
    TemperatureLogitsWarper,
    TopPLogitsWarper,
)

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.visible import visible
from spor_tasks.models.backends import TOKEN_IDS
from spor_tasks.text.filters import SEPARATOR

_ENTITY = "[ENT]"
_log = logging.getLogger(__name__)


def padded(rows: Iterable[Sequence[int]], pad_id: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return rows of ids as a batch that is padded on the left, and its mask."""
    tensors = [torch.tensor(row) for row in rows]
    pad = partial(pad_sequence, batch_first=True, padding_side="left")
    return pad(tensors, padding_value=pad_id), pad([*map(torch.ones_like, tensors)])


# --- What a checkpoint asks for -------------------------------------------------------------------


@contextmanager
def without_own_settings(model: torch.nn.Module) -> Iterator[None]:
    """Let nothing of a model's ``generation_config`` act in the block but ``TOKEN_IDS``.

    ``generate`` takes every setting that it is not given from there: beams, penalties, words that
    may not occur, and more.
    """
    own = model.generation_config
    bare = GenerationConfig(**{name: getattr(own, name, None) for name in TOKEN_IDS})
    owners = [part for part in model.modules() if vars(part).get("generation_config") is own]
    for owner in owners:
        owner.generation_config = bare
    try:
        yield
    finally:
        for owner in owners:
            owner.generation_config = own


# --- Where a text ends ----------------------------------------------------------------------------


class LastTokens:
    """Which tokens may be the last of a text that ends in one of some letters.

    Each token is decoded once, when a row first ends in it. A token of half a letter may be any.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, letters: AbstractSet[str]) -> None:
        self._tokenizer, self._letters = tokenizer, letters
        # At the start of a text decoders take blanks away, and cleaning changes what stands before.
        self._any = tokenizer.clean_up_tokenization_spaces or not letters.isdisjoint({" ", ""})
        self._known = torch.empty(0, dtype=torch.int8)  # 1 or 0 for each token, -1 before it is met

    def among(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the places of those that may be, among a row of tokens."""
        if self._any:
            return torch.arange(len(tokens), device=tokens.device)
        if (more := int(tokens.max()) + 1 - len(self._known)) > 0:
            self._known = functional.pad(self._known.to(tokens.device), (0, more), value=-1)
        if (met := self._known[tokens]).min() < 0:
            for token in tokens[met < 0].unique().tolist():
                text = self._tokenizer.decode([token])
                may_end = not text or "\ufffd" in text or not self._letters.isdisjoint(text)
                self._known[token] = int(may_end)
            met = self._known[tokens]
        return met.nonzero().flatten()


@dataclass
class StopAtText(StoppingCriteria):  # type: ignore[misc]  # skipped, as is lm-eval
    """Ends a row, a sample's or a beam's, as soon as its own text is complete."""

    tokenizer: PreTrainedTokenizerBase
    is_ended: Callable[[str], bool]
    prompt_length: int
    last: LastTokens
    """The tokens with which a text may become complete."""

    def __call__(self, input_ids: torch.Tensor, scores: object, **_: object) -> torch.Tensor:  # noqa: ARG002 - part of the calling convention
        """Return a verdict for each row of ``input_ids``, which begins with the prompt's tokens."""
        ended = torch.zeros(len(input_ids), dtype=torch.bool, device=input_ids.device)
        rows = self.last.among(input_ids[:, -1])
        if len(rows):
            texts = self.tokenizer.batch_decode(input_ids[rows, self.prompt_length :])
            ended[rows] = ended.new_tensor([*map(self.is_ended, texts)])
        return ended


@dataclass
class StopAtLength(StoppingCriteria):  # type: ignore[misc]
    """Ends each row after a number of new tokens of its own."""

    limits: Sequence[int]
    prompt_length: int

    def __call__(self, input_ids: torch.Tensor, scores: object, **_: object) -> torch.Tensor:  # noqa: ARG002 - part of the calling convention
        """Return which rows have all their tokens."""
        limits = torch.tensor(self.limits, device=input_ids.device)
        return input_ids.shape[1] - self.prompt_length >= limits


# --- Which tokens may follow ----------------------------------------------------------------------


@dataclass
class TemplateFirst(LogitsProcessor):  # type: ignore[misc]
    """Forbids a row to go on with a token that may not follow what it has written after its prompt.

    It needs the ids of the two tokens.
    """

    entity: int
    separator: int
    prompt_length: int

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return the scores with minus infinity for what is forbidden."""
        written = input_ids[:, self.prompt_length :]
        separated = (written == self.separator).any(1)
        allowed = scores.clone()
        allowed[separated, self.separator] = -torch.inf
        allowed[separated | (written[:, -1:] == self.entity).any(1), self.entity] = -torch.inf
        return allowed


def template_first(tokenizer: PreTrainedTokenizerBase, prompt_length: int) -> list[LogitsProcessor]:
    """Return what keeps outputs after prompts of this length in form.

    If a tokenizer lacks either as a single token, there is nothing that does, which is logged once.
    """
    vocabulary = tokenizer.get_vocab()
    if _ENTITY in vocabulary and SEPARATOR in vocabulary:
        return [TemplateFirst(vocabulary[_ENTITY], vocabulary[SEPARATOR], prompt_length)]
    _warn(
        f"{visible(tokenizer.name_or_path)} does not have {_ENTITY} and {SEPARATOR} as single "
        "tokens, so nothing keeps templates in form"
    )
    return []


_warn = cache(_log.warning)  # each text once


# --- How tokens are drawn -------------------------------------------------------------------------


SEED = "sampling_seed"
_UNSEEDED = ("min_p", "top_h", "typical_p", "epsilon_cutoff", "eta_cutoff")


def as_drawn(settings: dict[str, Any]) -> dict[str, Any]:
    """Return a request's settings, with a seed only if its texts are to be drawn by seeds.

    Raises:
        ConfigError: a seed is given beside settings that do not draw by seeds.
    """
    unseeded = [name for name in _UNSEEDED if settings.get(name)]
    unseeded += ["num_beams"] * (settings.get("num_beams", 1) > 1)
    if unseeded and SEED in settings:
        raise ConfigError(f"{SEED} does not go with {unseeded[0]}", where="--gen_kwargs")
    if not normalize_gen_kwargs(settings)["do_sample"]:
        return {name: value for name, value in settings.items() if name != SEED}
    # 50 is what transformers' own sampling takes by default
    return settings if unseeded or SEED in settings else {"top_k": 50, SEED: 0, **settings}


class Seeded(str):
    """A prompt with the seed of what is drawn after it, of at most ``limit`` tokens."""

    __slots__ = ("limit", "seed")
    limit: int
    seed: int

    @classmethod
    def from_key(cls, prompt: str, limit: int, *key: object) -> "Seeded":
        """Return the prompt with a seed that depends only on ``key``."""
        seeded = cls(prompt)
        digest = hashlib.sha256("\n".join(map(str, key)).encode()).digest()
        seeded.limit, seeded.seed = limit, int.from_bytes(digest[:8], "little", signed=True)
        return seeded


@dataclass
class SeededSampling(LogitsProcessor):  # type: ignore[misc]
    """Adds noise to the logits, so that the largest one is a draw."""

    seeds: Sequence[int]
    """One for each row."""
    prompt_length: int
    """The number of tokens before the first draw."""
    temperature: float = 1.0
    top_k: int = 0
    """Only so many of the likeliest tokens are drawn, if it is positive."""
    top_p: float = 1.0
    """Of these, the likeliest are drawn that have this probability together."""

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return scores that are finite only for the token that each row draws."""
        if self.temperature != 1:
            scores = TemperatureLogitsWarper(self.temperature)(input_ids, scores)
        likely, tokens = scores, torch.arange(scores.shape[1], device=scores.device)[None]
        if self.top_k > 0:  # noise for all tokens would take ten times as long
            likely, tokens = _likeliest(scores, self.top_k)
        if self.top_p < 1:
            likely = TopPLogitsWarper(self.top_p)(input_ids, likely)
        seeds = torch.tensor(self.seeds, device=scores.device)[:, None]
        step = input_ids.shape[1] - self.prompt_length
        bits = _mixed(_mixed(_mixed(seeds) + step) + tokens)
        uniform = (_shifted(bits, 11).double() + 0.5) / (1 << 53)
        places = (likely.double() - torch.log(-torch.log(uniform))).argmax(1, keepdim=True)
        drawn = tokens.expand_as(likely).gather(1, places)
        return torch.full_like(scores, -torch.inf).scatter_(1, drawn, 0.0)


def _likeliest(scores: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the largest scores of each row, and their tokens.

    As in transformers these are more than ``count`` where several equal the last of them.
    """
    if count > scores.shape[1]:
        total = scores.shape[1]
        _warn(f"top_k={count} is above the vocabulary of {total} tokens, all of which count")
    size = count = min(count, scores.shape[1])
    while True:
        size = min(2 * size, scores.shape[1])
        values, tokens = scores.topk(size)
        least, last = values[:, count - 1, None], values[:, -1:]
        if size == scores.shape[1] or ((last < least) | (last == -torch.inf)).all():
            return values.masked_fill(values < least, -torch.inf), tokens


# The constants of SplitMix64, as signed numbers.
_STEP, _FIRST, _SECOND = (
    number - (1 << 64) for number in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


def _mixed(numbers: torch.Tensor) -> torch.Tensor:
    """Return well mixed bits of 64-bit integers: the finalizer of SplitMix64 (Steele, 2014)."""
    numbers = numbers * _STEP
    numbers = (numbers ^ _shifted(numbers, 30)) * _FIRST
    numbers = (numbers ^ _shifted(numbers, 27)) * _SECOND
    return numbers ^ _shifted(numbers, 31)


def _shifted(numbers: torch.Tensor, by: int) -> torch.Tensor:
    """Shift as if the numbers had no sign."""
    return (numbers >> by) & ((1 << (64 - by)) - 1)
