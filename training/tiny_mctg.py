"""What a tiny base reads before it is tuned on CompMCTG's embedded corpus: texts of another seed.

Like a pretrained model it knows the words, and how texts of every combination begin and go on. It
has never seen a control code before one, so what a code stands for is learned from the tuned texts.
"""

from collections.abc import Iterator, Sequence

from transformers import PreTrainedTokenizerFast

from spor_tasks.core.sample import Sample
from spor_tasks.corpora.compmctg.linearize import START
from spor_tasks.corpora.compmctg_mini import worlds
from spor_tasks.prompts.styles import prompt
from training.data import TrainingPair
from training.encoding import Row, encode
from training.tiny_base import BaseSettings, Lessons

SETTINGS = BaseSettings(width=64, worlds=200, steps=600)

# Codes and beginning are written together, as in GPT-2's tokens: `FoodIn short`
_PATTERN = r"[A-Z]?[a-z]+|[^\w\s]"


def _words() -> Iterator[str]:
    for sample in worlds.samples(1):
        yield prompt(sample, "causal")
        yield from sample.references


def _rows(
    _: Sequence[Sample], settings: BaseSettings, tokenizer: PreTrainedTokenizerFast
) -> list[Row]:
    """Return the rows of so many texts of each combination."""
    texts = (sample.references[0] for sample in worlds.samples(1, settings.worlds))
    pairs = (TrainingPair(START, text) for text in texts)
    return list(encode(pairs, tokenizer, "causal", None).rows)


LESSONS = Lessons(worlds.NAME, _words, _rows, _PATTERN)
