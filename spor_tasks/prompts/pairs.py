"""The pairs of prompt and text that a model is tuned on."""

from collections.abc import Iterator
from typing import NamedTuple

from spor_tasks.core.sample import Sample
from spor_tasks.prompts.styles import PromptStyle, prompt


class TrainingPair(NamedTuple):
    """The prompt, the text to write after it, and the id of the sample that both come from."""

    prompt: str
    text: str
    sample: str = ""


def pairs_of(sample: Sample, style: PromptStyle) -> Iterator[TrainingPair]:
    """Yield one pair for each reference, or one for the sample's own target."""
    target = sample.about("target")
    for text in sample.references if target is None else (target,):
        yield TrainingPair(prompt(sample, style), text, sample.id)
