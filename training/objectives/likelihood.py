"""The likelihood of every reference, given the prompt: what the paper maximizes."""

from collections.abc import Iterator

import torch

from spor_tasks.core.sample import Sample
from spor_tasks.prompts.styles import PromptStyle, prompt
from training.batches import Batch, Model, target_loss
from training.data import TrainingPair
from training.objectives.base import Objective


class Likelihood(Objective):
    """Cross-entropy over the tokens of the text and its end."""

    def rows(self, sample: Sample, style: PromptStyle) -> Iterator[TrainingPair]:
        """Yield one pair for each reference, or one for the sample's own target."""
        own = sample.about("target")
        for text in sample.references if own is None else (own,):
            yield TrainingPair(prompt(sample, style), text, sample.id)

    def loss(self, model: Model, batch: Batch) -> torch.Tensor:
        """Return the cross-entropy, summed over the target tokens."""
        return target_loss(model, batch)


LIKELIHOOD = Likelihood()
