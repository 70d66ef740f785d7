"""What a tiny base reads before it is tuned on ToTTo's embedded corpus: tables of another seed.

Like a pretrained model it knows the words, how to copy and how to say a cell, alone or with others.
It never sees two headers in one table that the training tables keep apart.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

from transformers import PreTrainedTokenizerFast

from spor_tasks.core.sample import DataUnit, Sample
from spor_tasks.corpora.totto.linearize import in_variant
from spor_tasks.corpora.totto_mini import worlds
from spor_tasks.prompts.styles import prompt
from training.data import TrainingPair
from training.encoding import Row, encode
from training.tiny_base import BaseSettings, Lessons

SETTINGS = BaseSettings(width=64, worlds=2000, steps=2000)


def _words() -> Iterator[str]:
    for sample in worlds.samples("train", 1, 600):
        yield prompt(in_variant(sample, "fulltable_metadata"), "causal")
        yield from sample.references


def _rows(
    tested: Sequence[Sample], settings: BaseSettings, tokenizer: PreTrainedTokenizerFast
) -> list[Row]:
    """Return a row for each sample that tells no two things that a tested one tells together.

    One half of the samples has a sentence for each cell, the other one for all of them.
    """
    half = settings.worlds // 2
    read = (*worlds.said_apart(1, half), *worlds.samples("train", 2, half))
    told = {pair for sample in tested for pair in _pairs(sample)}
    return list(
        encode(
            (
                TrainingPair(prompt(sample, "causal"), sample.references[0])
                for sample in read
                if told.isdisjoint(_pairs(sample))
            ),
            tokenizer,
            "causal",
            None,
        ).rows
    )


def _pairs(sample: Sample) -> Iterator[tuple[str | None, frozenset[DataUnit]]]:
    """Yield what two cells tell together; of a page alone, what one tells of it."""
    for pair in combinations((*sample.units, *sample.units[:1]), 2):
        yield sample.about("title"), frozenset(pair)


LESSONS = Lessons("totto_mini", _words, _rows)
