"""What an objective is: the pairs that it learns from, the loss of a batch, and a step.

To add one: a module with an object that has the parts of :class:`Objective`, and a line of
:data:`training.objectives.OBJECTIVES`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, Self, TypeAlias

import torch
from pydantic.dataclasses import dataclass

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import AttributeValue, Sample
from spor_tasks.prompts.styles import PromptStyle
from training.bases import Base
from training.batches import Batch, Model
from training.config import OptimizationConfig
from training.data import TrainingPair
from training.encoding import Row, Step, plan_stages
from training.objectives import OBJECTIVES
from training.settings import CLOSED
from training.state import Run

Combination: TypeAlias = tuple[str, ...]
"""One value of each aspect."""


@dataclass(frozen=True, slots=True, config=CLOSED)
class NoSettings:
    """The settings of an objective that has none."""


class Material(NamedTuple):
    """What a run is made of, as far as an objective may need it beside its batches.

    ``settings`` are the run's ``objective_settings``, ``samples`` those that are trained on, by
    their ids, and ``longest`` is the most tokens that a row may have, None without a limit.
    ``rows`` are the run's pairs in token ids, and ``processes`` is the number of processes.
    """

    settings: Mapping[str, Any]
    samples: Mapping[str, Sample]
    base: Base
    longest: int | None
    seed: int
    rows: Sequence[Row] = ()
    optimization: OptimizationConfig = OptimizationConfig()
    processes: int = 1


class Objective(Protocol):
    """What training minimizes.

    ``settings`` is the class of its settings, a pydantic dataclass, and ``tokens`` are those that
    the tokenizer must have. ``stages`` has the epochs of each stage before the last.
    """

    settings: ClassVar[type] = NoSettings
    tokens: ClassVar[tuple[str, ...]] = ()
    stages: tuple[int, ...] = ()

    @property
    def clips(self) -> bool:
        """Whether a step shortens its gradient itself."""
        return False

    def methods(self, settings: Mapping[str, Any]) -> tuple[str, ...]:  # noqa: ARG002 - as below
        """Return the methods of training that the objective can be used with."""
        return ("lora", "full")

    def by_batch(self, settings: Mapping[str, Any]) -> bool:  # noqa: ARG002 - as below
        """Return whether it matters for the loss which pairs share a batch."""
        return False

    def bound(self, material: Material) -> Self:  # noqa: ARG002 - for those that need it
        """Return the objective of a run; the default needs nothing of it.

        Raises:
            ConfigError: it cannot be used with these samples or settings.
        """
        return self

    def fitted(self, base: Base) -> Model | None:  # noqa: ARG002 - as above
        """Return the base with weights of the objective's own to fit; None where it has none."""
        return None

    def among(self, combinations: Sequence[Combination]) -> Self:  # noqa: ARG002 - as above
        """Return the objective for texts that can only have one of these combinations."""
        return self

    def rows(self, sample: Sample, style: PromptStyle) -> Iterable[TrainingPair]:
        """Return the pairs of prompt and text that are learned from a sample."""

    def loss(self, model: Model, batch: Batch) -> torch.Tensor:
        """Return the loss of a batch, summed over its target tokens, so that batches add up."""

    def step(self, run: Run, batches: Sequence[Batch], targets: int) -> torch.Tensor:
        """Add the gradient of these batches to the weights that are fitted; return their loss.

        That is the summed loss divided by ``targets``, the step's token count over all processes.
        """
        return backpropagate(run, self.loss, batches, [targets] * len(batches))

    def plan(self, rows: Sequence[Row], settings: OptimizationConfig) -> list[Step]:
        """Return the steps of a run over its rows."""
        return plan_stages(rows, settings, self.stages)


def combination_of(sample: Sample) -> Combination:
    """Return the values of a sample's aspects.

    Raises:
        ConfigError: it has something else than values of aspects.
    """
    if not all(isinstance(unit, AttributeValue) for unit in sample.units) or not sample.units:
        raise ConfigError(
            f"the objective needs samples with values of aspects, and {sample.id} has others",
            where="data",
            remedy="Set data.aspect=compmctg, or objective=likelihood.",
        )
    return tuple(unit[-1] for unit in sample.units)


def backpropagate(
    run: Run,
    loss_of: Callable[[Model, Batch], torch.Tensor],
    batches: Sequence[Batch],
    divisors: Sequence[int],
    weight: float = 1.0,
) -> torch.Tensor:
    """Add the gradient of ``weight`` times the batches' losses, each divided by its own divisor.

    Return the sum that this is the gradient of.
    """
    model, precision = run.model, run.settings.mixed_precision
    dtype = None if precision is None else getattr(torch, precision)
    total = torch.zeros((), device=model.device)
    for batch, divisor in zip(batches, divisors, strict=True):
        with torch.autocast(model.device.type, dtype, enabled=dtype is not None):
            loss = loss_of(model, batch) / divisor * weight
        loss.backward()
        total += loss.detach()
    return total


def find_objective(name: str) -> Objective:
    """Return the objective of that name.

    Raises:
        ConfigError: there is none, or it lacks a part of the contract.
    """
    found: Objective = OBJECTIVES.get("objective", name)
    return found
