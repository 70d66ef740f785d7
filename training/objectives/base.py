"""What an objective is: the pairs that it learns from, the loss of a batch, and a step.

To add one: a module with an object that has the parts of :class:`Objective`, and a line of
:data:`training.objectives.OBJECTIVES`.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

import peft
import torch

from spor_tasks.core.sample import Sample
from spor_tasks.prompts.styles import PromptStyle
from training.batches import Batch
from training.data import TrainingPair
from training.objectives import OBJECTIVES
from training.state import Run


class Objective(Protocol):
    """What training minimizes."""

    def rows(self, sample: Sample, style: PromptStyle) -> Iterable[TrainingPair]:
        """Return the pairs of prompt and text that are learned from a sample."""

    def loss(self, model: peft.PeftModel, batch: Batch) -> torch.Tensor:
        """Return the loss of a batch, summed over its target tokens, so that batches add up."""

    def step(self, run: Run, batches: Sequence[Batch], targets: int) -> torch.Tensor:
        """Add the gradient of these batches to the weights that are fitted; return their loss.

        That is the summed loss divided by ``targets``, the step's token count over all processes.
        """
        model, precision = run.model, run.settings.mixed_precision
        dtype = None if precision is None else getattr(torch, precision)
        mean = torch.zeros((), device=model.device)
        for batch in batches:
            with torch.autocast(model.device.type, dtype, enabled=dtype is not None):
                loss = self.loss(model, batch) / targets
            run.scaler.scale(loss).backward()
            mean += loss.detach()
        return mean


def find_objective(name: str) -> Objective:
    """Return the objective of that name.

    Raises:
        ConfigError: there is none, or it lacks a part of the contract.
    """
    found: Objective = OBJECTIVES.get("objective", name)
    return found
