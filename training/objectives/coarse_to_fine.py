"""First the template of a sentence, then the sentence: LogicNLG's coarse-to-fine generation.

As published there are two stages. The first learns to write the template, in which ``[ENT]`` stands
for every name and number; the second goes on from there, and learns to write the template,
``[SEP]`` and the sentence, with the loss on all of it. Both are in one run, which is planned,
resumed and evaluated as a whole, and whose manifest has the losses of both.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from pydantic.dataclasses import dataclass as settings_dataclass

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import Sample
from spor_tasks.corpora.logicnlg.linearize import variant_of
from spor_tasks.prompts.styles import PromptStyle, prompt
from spor_tasks.text.filters import SEPARATOR
from training.data import TrainingPair
from training.objectives.base import Material
from training.objectives.likelihood import Likelihood
from training.settings import CLOSED, Count


@settings_dataclass(frozen=True, slots=True, config=CLOSED)
class CoarseToFineSettings:
    """``template_epochs`` is the length of the first stage; ``optimization`` says the second's."""

    template_epochs: Count = 10


@dataclass(frozen=True)
class CoarseToFine(Likelihood):
    """Cross-entropy over the template, then over the template and the sentence."""

    settings: ClassVar[type] = CoarseToFineSettings
    tokens: ClassVar[tuple[str, ...]] = ("[ENT]", SEPARATOR)
    stages: tuple[int, ...] = (CoarseToFineSettings().template_epochs,)

    def bound(self, material: Material) -> Self:
        """Return the objective with the stages of the settings.

        Raises:
            ConfigError: a sample's own target has no template.
        """
        if any(variant_of(sample) != "coarse_to_fine" for sample in material.samples.values()):
            raise ConfigError(
                "objective coarse_to_fine needs samples whose text begins with its template",
                where="data.part",
                remedy="Set data.part=c2f, of the corpora logicnlg or logicnlg_mini.",
            )
        return replace(self, stages=(material.settings["template_epochs"],))

    def rows(self, sample: Sample, style: PromptStyle) -> Iterator[TrainingPair]:
        """Yield the template of the first stage, and what the second learns."""
        if template := sample.about("template"):
            yield TrainingPair(prompt(sample, style), template, sample.id)
        for pair in super().rows(sample, style):
            yield pair._replace(stage=1)


COARSE_TO_FINE = CoarseToFine()
