"""The likelihood of the text, and less of a false one: LogicNLG's adversarial regularization.

The paper maximizes log p(Y) − λ log p(Y_adv), where Y_adv is Y with other names and numbers of the
table. Its second term has no bound: the surest way to win is to make Y_adv impossible, and with it
the words that it shares with Y. Here the term is a hinge on the margin between the two mean log
probabilities of a token, which is what Adv-Acc compares:

    −log p(Y) + λ |Y| max(0, margin − (mean log p(Y) − mean log p(Y_adv)))

Within the margin its gradient is the paper's, by token, and what both texts begin with cancels;
where Y_adv is less likely by the margin, nothing more is gained.
"""

from dataclasses import replace
from typing import ClassVar

import torch
from pydantic.dataclasses import dataclass as settings_dataclass

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import Contrast, Sample
from spor_tasks.prompts.pairs import TrainingPair
from spor_tasks.prompts.styles import PromptStyle, prompt
from training.batches import Batch, Model, load_batch, target_losses
from training.objectives.base import Material
from training.objectives.corruption import corrupted
from training.objectives.likelihood import Likelihood
from training.settings import CLOSED, Positive


@settings_dataclass(frozen=True, slots=True, config=CLOSED)
class AdversarialSettings:
    """``weight`` is λ, and ``margin`` is in nats by token."""

    weight: Positive = 1.0
    margin: Positive = 0.5


class Adversarial(Likelihood):
    """Cross-entropy, and a hinge on each sample that has a false text.

    That text is the sample's own, or else made with the run's seed, the same in every epoch.
    """

    settings: ClassVar[type] = AdversarialSettings
    how: AdversarialSettings

    def __init__(self, settings: AdversarialSettings, material: Material) -> None:
        """Encode the pairs, and the false text of every sample that has one.

        Raises:
            ConfigError: there is none, or none is short enough.
        """
        super().__init__(settings, material)
        style, seed = material.base.style, material.optimization.seed
        made = (false_pair(sample, style, seed) for sample in material.samples)
        false_pairs = [pair for pair in made if pair]
        if not false_pairs:
            raise ConfigError(
                "objective adversarial needs samples with a table, or with a false text",
                where="data",
                remedy="Set data.aspect=logicnlg, or objective=likelihood.",
            )
        self.false_rows = {row.sample: row for row in material.encode(false_pairs).rows}

    def loss(self, model: Model, batch: Batch) -> torch.Tensor:
        """Return the cross-entropy and the hinges, summed over the target tokens."""
        losses = target_losses(model, batch)
        paired = [
            (true_losses, self.false_rows[sample])
            for true_losses, sample in zip(losses.split(batch.sizes), batch.samples, strict=True)
            if sample in self.false_rows
        ]
        if not paired:
            return losses.sum()
        false = load_batch([row for _, row in paired], self.material.base.pad_id, model)
        false_losses = target_losses(model, false).split(false.sizes)
        hinges = [
            len(of_true) * torch.relu(self.how.margin - of_false.mean() + of_true.mean())
            for (of_true, _), of_false in zip(paired, false_losses, strict=True)
        ]
        return losses.sum() + self.how.weight * torch.stack(hinges).sum()


def false_pair(sample: Sample, style: PromptStyle, seed: int) -> TrainingPair | None:
    """Return the false text of a sample after its own prompt, or None if it has none."""
    if isinstance(contrast := sample.challenge, Contrast):
        false_prompt = prompt(replace(sample, units=contrast.units), style)
        return TrainingPair(false_prompt, contrast.text, sample.id)
    text = corrupted(sample, seed)
    return None if text is None else TrainingPair(prompt(sample, style), text, sample.id)
