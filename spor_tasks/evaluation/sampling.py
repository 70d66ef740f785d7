"""Sampling that depends on a seed and on the request alone.

transformers draws one random number after another, so that what a request gets depends on those
before it and beside it. Here the number for a token depends on the request's own seed, the position
and the token: the same seed gives the same text at any batch size and on any device, as far as the
model gives equal probabilities. The token with the largest sum of log probability and Gumbel noise
is a draw from the probabilities (Gumbel, 1954).
"""

import hashlib
from collections.abc import Sequence

import torch
from transformers import (
    LogitsProcessor,
    LogitsProcessorList,
    StoppingCriteria,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)


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


class StopAtLength(StoppingCriteria):  # type: ignore[misc]  # skipped, as is lm-eval
    """Ends each row after a number of new tokens of its own."""

    def __init__(self, limits: Sequence[int], prompt_length: int) -> None:
        self._limits, self._prompt_length = torch.tensor(limits), prompt_length

    def __call__(self, input_ids: torch.Tensor, scores: object, **_: object) -> torch.Tensor:  # noqa: ARG002 - part of the calling convention
        """Return which rows have all their tokens."""
        return input_ids.shape[1] - self._prompt_length >= self._limits.to(input_ids.device)


class SeededSampling(LogitsProcessor):  # type: ignore[misc]  # skipped, as is lm-eval
    """Adds noise to the logits, so that the largest one is a draw.

    ``seeds`` has one for each row. ``prompt_length`` is the number of tokens before the first draw.
    Only the ``top_k`` likeliest tokens are drawn, if it is positive, and of these the likeliest
    that have the probability ``top_p`` together.
    """

    def __init__(
        self,
        seeds: Sequence[int],
        prompt_length: int,
        *,
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
    ) -> None:
        self._seeds, self._prompt_length = seeds, prompt_length
        warpers = [TemperatureLogitsWarper(temperature)] if temperature != 1 else []
        warpers += [TopKLogitsWarper(top_k)] if top_k > 0 else []
        warpers += [TopPLogitsWarper(top_p)] if top_p < 1 else []
        self._warpers = LogitsProcessorList(warpers)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return the logits of what may be drawn, each with its noise."""
        warped = self._warpers(input_ids, scores).double()
        seeds = torch.tensor(self._seeds, device=scores.device)[:, None]
        tokens = torch.arange(scores.shape[-1], device=scores.device)
        step = input_ids.shape[1] - self._prompt_length
        return warped + _gumbel(_mixed(_mixed(_mixed(seeds) + step) + tokens))


def _mixed(numbers: torch.Tensor) -> torch.Tensor:
    """Return well mixed bits of 64-bit integers: the finalizer of SplitMix64 (Steele, 2014)."""
    numbers = numbers * _signed(0x9E3779B97F4A7C15)
    numbers = (numbers ^ _shifted(numbers, 30)) * _signed(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ _shifted(numbers, 27)) * _signed(0x94D049BB133111EB)
    return numbers ^ _shifted(numbers, 31)


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number


def _shifted(numbers: torch.Tensor, by: int) -> torch.Tensor:
    """Shift as if the numbers had no sign."""
    return (numbers >> by) & ((1 << (64 - by)) - 1)


def _gumbel(bits: torch.Tensor) -> torch.Tensor:
    uniform = (_shifted(bits, 11).double() + 0.5) / (1 << 53)
    return -torch.log(-torch.log(uniform))
