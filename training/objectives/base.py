"""Shared parts of objectives: the material of a run, combinations, and back-propagation."""

import logging
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import TypeAlias

import torch
from torch.func import functional_call

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import AttributeValue, Sample
from spor_tasks.prompts.pairs import TrainingPair
from training.bases import Base, check_ids
from training.batches import Batch, Model
from training.config import OptimizationConfig
from training.data import PairsOf
from training.encoding import Rows, encode
from training.state import Training

_log = logging.getLogger(__name__)

Combination: TypeAlias = tuple[str, ...]
"""One value of each aspect."""


@dataclass(frozen=True, slots=True)
class Material:
    """The samples to train on, the base, and the settings that decide how pairs become rows.

    ``limit`` is the most pairs to learn from. Long prompts are cut before one of the texts of
    ``cut_before``. ``processes`` is the number of processes that share a step.
    """

    samples: Sequence[Sample]
    base: Base
    optimization: OptimizationConfig = field(default_factory=OptimizationConfig)
    limit: int | None = None
    cut_before: Sequence[str] = ()
    processes: int = 1

    def pairs(self, pairs_of: PairsOf) -> Iterator[TrainingPair]:
        """Yield the pairs of all samples, or ``limit`` of them drawn with the seed, in order.

        Neither samples nor pairs are kept, so that an arm may be larger than the memory.
        """

        def pairs() -> Iterator[TrainingPair]:
            return chain.from_iterable(pairs_of(each, self.base.style) for each in self.samples)

        if self.limit is None or self.limit >= (count := sum(1 for _ in pairs())):
            yield from pairs()
            return
        _log.info("data.limit keeps %d of %d pairs", self.limit, count)
        rng = random.Random(f"limit {self.optimization.seed}")
        drawn = set(rng.sample(range(count), self.limit))
        yield from (pair for number, pair in enumerate(pairs()) if number in drawn)

    def encode(self, pairs: Iterable[TrainingPair]) -> Rows:
        """Return pairs in token ids.

        Raises:
            ConfigError: the base cannot read the pairs, or they are all too long.
        """
        base = self.base
        limits = (self.optimization.max_length, base.positions)
        longest = min((limit for limit in limits if limit), default=None)
        rows = encode(pairs, base.tokenizer, base.style, longest, self.cut_before)
        check_ids(base, rows.rows)
        return rows


def combination_of(sample: Sample) -> Combination:
    """Return the values of a sample's aspects.

    Raises:
        ConfigError: its units are not values of aspects.
    """
    if not all(isinstance(unit, AttributeValue) for unit in sample.units) or not sample.units:
        raise ConfigError(
            f"the objective needs samples with values of aspects, and {sample.id} has others",
            where="data",
            remedy="Set data.aspect=compmctg, or objective=likelihood.",
        )
    return tuple(unit[-1] for unit in sample.units)


def backpropagate(
    run: Training,
    loss_of: Callable[[Model, Batch], torch.Tensor],
    batches: Sequence[Batch],
    divisors: Sequence[int],
    weight: float = 1.0,
) -> torch.Tensor:
    """Add the gradient of ``weight`` times the batches' losses, each divided by its own divisor.

    Return the sum that this is the gradient of.
    """
    precision, device = run.settings.mixed_precision, run.model.device
    dtype = None if precision is None else getattr(torch, precision)
    computed = _Loss(run.model, loss_of)

    def add_gradient(batch: Batch, divisor: int | torch.Tensor) -> torch.Tensor:
        short = {} if dtype is None else in_one_cast(run.factors, dtype)
        in_loss = {f"model.{name}": factor for name, factor in short.items()}
        with torch.autocast(device.type, dtype, enabled=dtype is not None):
            loss = functional_call(computed, in_loss, (batch,), tie_weights=False)
            loss = loss / divisor * weight
        loss.backward()
        return loss.detach()

    total = torch.zeros((), device=device)
    add = partial(run.graphs.add_gradient, add_gradient) if run.graphs else add_gradient
    for batch, divisor in zip(batches, divisors, strict=True):
        total += add(batch, divisor)
    return total


class _Loss(torch.nn.Module):  # type: ignore[misc]
    """A loss as a module, so that other weights can stand in for those of its model."""

    def __init__(self, model: Model, loss_of: Callable[[Model, Batch], torch.Tensor]) -> None:
        super().__init__()
        self.model, self.loss_of = model, loss_of

    def forward(self, batch: Batch) -> torch.Tensor:
        return self.loss_of(self.model, batch)


def in_one_cast(
    weights: Mapping[str, torch.nn.Parameter], dtype: torch.dtype
) -> dict[str, torch.Tensor]:
    """Return the weights in another type, as autocast does, but all of them by one operator.

    Their gradients come back by one too.
    """
    if not weights:
        return {}
    flat = torch.cat([weight.flatten() for weight in weights.values()]).to(dtype)
    parts = flat.split([weight.numel() for weight in weights.values()])
    pairs = zip(weights.items(), parts, strict=True)
    return {name: part.view_as(weight) for (name, weight), part in pairs}
