"""First the template of a sentence, then the sentence: LogicNLG's coarse-to-fine generation.

As published there are two stages. The first learns to write the template, in which ``[ENT]`` stands
for every name and number. The second continues from there: it learns to write the template,
``[SEP]`` and the sentence, with the loss on all three. Both stages are one run, which is planned,
resumed and evaluated as a whole, and whose manifest has the losses of both.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

from pydantic.dataclasses import dataclass as settings_dataclass

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import Sample
from spor_tasks.corpora.logicnlg.linearize import variant_of
from spor_tasks.prompts.pairs import TrainingPair
from spor_tasks.prompts.styles import PromptStyle, prompt
from spor_tasks.text.filters import SEPARATOR
from training.encoding import Rows, Step, plan_steps
from training.objectives.base import Material
from training.objectives.likelihood import Likelihood
from training.settings import CLOSED, Count


@settings_dataclass(frozen=True, slots=True, config=CLOSED)
class CoarseToFineSettings:
    """``template_epochs`` is the length of the first stage; ``optimization`` has the second's."""

    template_epochs: Count = 10


class CoarseToFine(Likelihood):
    """Cross-entropy over the template, then over the template and the sentence."""

    settings: ClassVar[type] = CoarseToFineSettings
    tokens: ClassVar[tuple[str, ...]] = ("[ENT]", SEPARATOR)
    how: CoarseToFineSettings

    def __init__(self, settings: CoarseToFineSettings, material: Material) -> None:
        """Encode the templates and the sentences.

        Raises:
            ConfigError: a sample's own target has no template, or a stage has no short pairs.
        """
        if any(variant_of(sample) != "coarse_to_fine" for sample in material.samples):
            raise ConfigError(
                "objective coarse_to_fine needs samples whose text begins with its template",
                where="data.part",
                remedy="Set data.part=c2f, of the corpora logicnlg or logicnlg_mini.",
            )
        self.how, self.material = settings, material
        pairs = [*material.pairs(self.pairs)]
        first = material.encode(pair for pair in pairs if SEPARATOR not in pair.text)
        second = material.encode(pair for pair in pairs if SEPARATOR in pair.text)
        self.rows = Rows(
            first.rows + second.rows, first.too_long + second.too_long, first.cut + second.cut
        )
        self.templates = len(first.rows)
        self.judged_from = settings.template_epochs

    @staticmethod
    def pairs(sample: Sample, style: PromptStyle) -> Iterable[TrainingPair]:
        """Yield the template of the first stage, and the text of the second."""
        if template := sample.about("template"):
            yield TrainingPair(prompt(sample, style), template, sample.id)
        yield from Likelihood.pairs(sample, style)

    def steps(self) -> list[Step]:
        """Return the steps of both stages, with epochs that count on."""
        lengths = [row.tokens for row in self.rows.rows]
        second, epochs = self.material.optimization, self.how.template_epochs
        first = replace(second, epochs=epochs, max_steps=None)
        steps = plan_steps(lengths[: self.templates], first)
        for step in plan_steps(lengths[self.templates :], second):
            batches = (tuple(self.templates + n for n in batch) for batch in step.batches)
            steps.append(Step(epochs + step.epoch, tuple(batches)))
        return steps
