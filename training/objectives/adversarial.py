"""The likelihood of the text, and less of a false one: LogicNLG's adversarial regularization.

The paper maximizes log p(Y) − λ log p(Y_adv), where Y_adv is Y with other names and numbers of the
table. Its second term has no bound: the surest way to win is to make Y_adv impossible, and with it
the words that it shares with Y. Here the term is a hinge on the margin between the two mean log
probabilities of a token, which is what Adv-Acc compares:

    −log p(Y) + λ |Y| max(0, margin − (mean log p(Y) − mean log p(Y_adv)))

Within the margin its gradient is the paper's, by token, and what both texts begin with cancels;
where Y_adv is less likely by the margin, nothing more is gained.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import torch
from pydantic.dataclasses import dataclass as settings_dataclass

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import Contrast, Sample
from spor_tasks.prompts.styles import PromptStyle, prompt
from training.batches import Batch, Model, load_batch, target_losses
from training.data import TrainingPair
from training.encoding import Row, encode
from training.objectives.base import Material
from training.objectives.corruption import corrupted
from training.objectives.likelihood import Likelihood
from training.settings import CLOSED, Positive


@settings_dataclass(frozen=True, slots=True, config=CLOSED)
class AdversarialSettings:
    """``weight`` is λ, and ``margin`` is in nats by token."""

    weight: Positive = 1.0
    margin: Positive = 0.5


@dataclass(frozen=True)
class Adversarial(Likelihood):
    """Cross-entropy, and a hinge on each sample that has a false text."""

    settings: ClassVar[type] = AdversarialSettings
    weight: float = 0.0
    margin: float = 0.0
    against: Mapping[str, Row] = field(default_factory=dict)
    pad_id: int = 0

    def bound(self, material: Material) -> Self:
        """Return the objective with the false text of every sample that has one.

        It is the sample's own, or else made with the run's seed, the same in every epoch.

        Raises:
            ConfigError: there is none, or none is short enough.
        """
        base, samples = material.base, material.samples.values()
        pairs = [
            pair
            for sample in samples
            if (pair := opposed(sample, base.style, material.seed)) is not None
        ]
        if not pairs:
            raise ConfigError(
                "objective adversarial needs samples with a table, or with a false text",
                where="data",
                remedy="Set data.aspect=logicnlg, or objective=likelihood.",
            )
        rows = encode(pairs, base.tokenizer, base.style, material.longest).rows
        return replace(
            self,
            **material.settings,
            against={row.sample: row for row in rows},
            pad_id=base.pad_id,
        )

    def loss(self, model: Model, batch: Batch) -> torch.Tensor:
        """Return the cross-entropy and the hinges, summed over the target tokens."""
        losses = target_losses(model, batch)
        paired = [
            (own, self.against[sample])
            for own, sample in zip(losses.split(batch.sizes), batch.samples, strict=True)
            if sample in self.against
        ]
        if not paired:
            return losses.sum()
        false = load_batch([row for _, row in paired], self.pad_id, model)
        others = target_losses(model, false).split(false.sizes)
        hinges = [
            len(own) * torch.relu(self.margin - other.mean() + own.mean())
            for (own, _), other in zip(paired, others, strict=True)
        ]
        return losses.sum() + self.weight * torch.stack(hinges).sum()


def opposed(sample: Sample, style: PromptStyle, seed: int) -> TrainingPair | None:
    """Return the false text of a sample after its own prompt, or None if it has none."""
    if isinstance(other := sample.challenge, Contrast):
        return TrainingPair(
            prompt(replace(sample, units=other.units), style), other.text, sample.id
        )
    text = corrupted(sample, seed)
    return None if text is None else TrainingPair(prompt(sample, style), text, sample.id)


ADVERSARIAL = Adversarial()
