"""What a tiny base reads before it is tuned on LogicNLG's embedded corpus: tables of another seed.

Like a pretrained model it knows the words, how to copy, and what is said about tables; of what is
true of one it has an inkling.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, groupby

from transformers import PreTrainedTokenizerFast

from spor_tasks.core.sample import Sample
from spor_tasks.corpora.logicnlg.linearize import in_variant, table_of
from spor_tasks.corpora.logicnlg_mini import worlds
from spor_tasks.prompts.styles import prompt
from training.encoding import IGNORED, Row
from training.tiny_base import BaseSettings, Lessons

SETTINGS = BaseSettings(width=64, worlds=3000, steps=2400)


def _words() -> Iterator[str]:
    for sample in worlds.samples("train", 1, 300):
        yield prompt(sample, "causal")
        yield sample.target


def _rows(
    _: Sequence[Sample], settings: BaseSettings, tokenizer: PreTrainedTokenizerFast
) -> list[Row]:
    """Return two rows for each table, whose texts each have an end.

    One has the whole table, its cells again, and then its statements; the other a single statement,
    with the prompt as it is when the base is tuned.
    """
    rows = []
    told = worlds.samples("train", 1, settings.worlds)
    for number, (_, group) in enumerate(groupby(told, key=lambda sample: sample.about("name"))):
        samples = list(group)
        one = samples[number % len(samples)]
        cells = " . ".join(map(" ".join, table_of(one).rows))
        texts = [cells, *(sample.target for sample in samples)]
        rows.append(_row(in_variant(one, "full_table"), texts, tokenizer))
        rows.append(_row(one, [one.target], tokenizer))
    return rows


def _row(shown: Sample, texts: Sequence[str], tokenizer: PreTrainedTokenizerFast) -> Row:
    read = tokenizer(prompt(shown, "causal"))["input_ids"]
    ended = ([*ids, tokenizer.eos_token_id] for ids in tokenizer(texts)["input_ids"])
    said = list(chain.from_iterable(ended))
    return Row(read + said[:-1], [IGNORED] * (len(read) - 1) + said)


LESSONS = Lessons("logicnlg_mini", _words, _rows)
