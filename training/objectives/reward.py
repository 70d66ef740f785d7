"""The likelihood of the text, and the expected reward of what the model writes: REINFORCE.

The paper samples each token in turn, lets the model go on from it greedily, and rewards the token
for the sentence that comes of it. Here a whole sentence is sampled for each prompt, and all of its
tokens get its reward, less that of the sentence that the model writes greedily:

    −log p(Y) − weight (r(sampled) − r(greedy)) log p(sampled)

A reward is of a whole sentence anyway. So this too has the expected reward's gradient, which the
greedy sentence, a baseline that does not depend on what is sampled, leaves as it is and makes less
noisy. It costs two sentences for each prompt; one roll-out for each token would cost as many as
there are tokens. Several processes draw sentences of their own, so they do not learn exactly what
one process does.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar, TypeAlias

import torch
from pydantic.dataclasses import dataclass as settings_dataclass

from spor_tasks.core.contracts import Score
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import Sample
from spor_tasks.metrics.scores import metrics_for, score_infos
from spor_tasks.metrics.totals import MEAN
from training.batches import Batch, Model, load_batch, target_loss, target_losses
from training.objectives.base import Material
from training.objectives.likelihood import Likelihood
from training.objectives.writing import write
from training.settings import CLOSED, Count, Positive

Reward: TypeAlias = Callable[[Sequence[Sample], Sequence[str]], Sequence[float]]
"""Returns a number from 0 to 1 for the text about each sample; more is better."""

CONSTANT = "constant"
"""The reward that is 1 for every text: nothing is learned from it."""


@settings_dataclass(frozen=True, slots=True, config=CLOSED)
class RewardSettings:
    """``reward`` is a score of a registered metric that is a mean over texts, or ``constant``.

    ``weight`` is that of the reward, the likelihood's being 1, and ``max_tokens`` the most that a
    sentence may have.
    """

    reward: str
    weight: Positive = 1.0
    max_tokens: Count = 30


class Rewarded(Likelihood):
    """Cross-entropy, and the reward of sampled sentences less that of greedy ones."""

    settings: ClassVar[type] = RewardSettings
    how: RewardSettings

    def __init__(self, settings: RewardSettings, material: Material) -> None:
        """Encode the pairs, and find the reward.

        Raises:
            ConfigError: the score does not exist, or it is not a mean over texts.
        """
        super().__init__(settings, material)
        self.reward = find_reward(settings.reward)
        self.places = {sample.id: place for place, sample in enumerate(material.samples)}

    def loss(self, model: Model, batch: Batch) -> torch.Tensor:
        """Return the cross-entropy and the reward's loss, summed over their tokens."""
        likelihood = target_loss(model, batch)
        samples = [self.material.samples[self.places[name]] for name in batch.samples]
        base, most = self.material.base, self.how.max_tokens
        sampled, sampled_rows = write(model, base, samples, most, sampling=True)
        greedy, _ = write(model, base, samples, most, sampling=False)
        rewards, baselines = self.reward(samples, sampled), self.reward(samples, greedy)
        gains = [reward - base for reward, base in zip(rewards, baselines, strict=True)]
        worth = [(row, gain) for row, gain in zip(sampled_rows, gains, strict=True) if gain]
        if not worth:
            return likelihood
        written = load_batch([row for row, _ in worth], base.pad_id, model)
        surprises = target_losses(model, written).split(written.sizes)
        policy = [
            gain * surprise.sum() for (_, gain), surprise in zip(worth, surprises, strict=True)
        ]
        return likelihood + self.how.weight * torch.stack(policy).sum()


def find_reward(name: str) -> Reward:
    """Return the reward of this name.

    Raises:
        ConfigError: the name is not ``constant`` and not a score that is a mean over texts.
    """
    if name == CONSTANT:
        return lambda samples, _: [1.0] * len(samples)
    owners = [each for each in metrics_for([Score(name)]) if each.answers == "texts"]
    info = score_infos(name).get(name)
    if not owners or info is None or info.totals is not MEAN:
        raise ConfigError(
            f"{name!r} is not a reward",
            where="objective_settings",
            remedy=f"Set reward to {CONSTANT}, or to a score that is a mean over texts, such as "
            "truth.",
        )

    def scored(samples: Sequence[Sample], texts: Sequence[str]) -> list[float]:
        """Return the scores from 0 to 1; 0 for a text without a verdict."""
        judgements = owners[0].judge(samples, [(text,) for text in texts])
        values = (judgement.values.get(name) for judgement in judgements)
        span = info.high - info.low
        good = [(v - info.low) / span if isinstance(v, int | float) else 0.0 for v in values]
        return good if info.higher_is_better else [1 - share for share in good]

    return scored
