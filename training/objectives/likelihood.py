"""The likelihood of every reference, given the prompt: the paper's objective.

Every other objective is a class derived from :class:`Likelihood`. It may replace ``pairs``,
``loss``, ``steps`` and ``step``; a line of :mod:`training.registry` or an entry point
names it.
"""

from collections.abc import Iterable, Sequence
from typing import ClassVar

import torch
from pydantic.dataclasses import dataclass

from spor_tasks.core.sample import Sample
from spor_tasks.prompts.pairs import TrainingPair, pairs_of
from spor_tasks.prompts.styles import PromptStyle
from training import processes
from training.batches import Batch, Model, target_loss
from training.encoding import Step, plan_steps
from training.objectives.base import Material, backpropagate
from training.registry import OBJECTIVES
from training.settings import CLOSED
from training.state import Training


@dataclass(frozen=True, slots=True, config=CLOSED)
class NoSettings:
    """The settings of an objective that has none."""


class Likelihood:
    """Cross-entropy over the tokens of the text and its end.

    ``settings`` is the class of the objective's settings, a pydantic dataclass, and ``tokens`` are
    added to the tokenizer. ``rows`` holds the training set in token ids. ``model`` is the base with
    weights that the objective brings, None where these are the adapter's or the base's own.
    ``by_batch`` is true if the loss depends on the pairs that share a batch. Epochs before
    ``judged_from`` are not judged.
    """

    settings: ClassVar[type] = NoSettings
    tokens: ClassVar[tuple[str, ...]] = ()
    by_batch: ClassVar[bool] = False
    judged_from: int = 0
    model: Model | None = None

    def __init__(self, settings: object, material: Material) -> None:
        """Encode the pairs of all samples.

        Raises:
            ConfigError: the base cannot read them, or the objective does not fit them.
        """
        self.how, self.material = settings, material
        self.rows = material.encode(material.pairs(self.pairs))

    @staticmethod
    def pairs(sample: Sample, style: PromptStyle) -> Iterable[TrainingPair]:
        """Yield one pair for each reference, or one for the sample's own target."""
        yield from pairs_of(sample, style)

    def steps(self) -> list[Step]:
        """Return the steps of the whole run."""
        return plan_steps([row.tokens for row in self.rows.rows], self.material.optimization)

    def loss(self, model: Model, batch: Batch) -> torch.Tensor:
        """Return the loss of a batch, summed over its target tokens, so that batches add up."""
        return target_loss(model, batch)

    def step(self, run: Training, batches: Sequence[Batch], targets: int) -> torch.Tensor:
        """Give the trained weights the gradient of a step, clipped; return the step's loss.

        That is the summed loss divided by ``targets``, the step's token count. ``batches`` are this
        process's share of the step.
        """
        loss = backpropagate(run, self.loss, batches, [targets] * len(batches))
        loss = processes.add_up(loss, list(run.weights.values()), run.team)
        run.clip()
        return loss


def find_objective(name: str) -> type[Likelihood]:
    """Return the class of an objective.

    Raises:
        ConfigError: the name is unknown, or the objective cannot be imported.
    """
    objective: type[Likelihood] = OBJECTIVES.get("objective", name)
    return objective
