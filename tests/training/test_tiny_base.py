"""The demo's base: what it reads, and that it comes out the same."""

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast

from spor_tasks.aspects import named
from spor_tasks.core.folders import read_manifest
from spor_tasks.core.sample import Sample, Triple
from spor_tasks.core.weights import digest_weights
from spor_tasks.corpora.logicnlg.linearize import in_variant
from spor_tasks.corpora.logicnlg_mini import worlds
from spor_tasks.corpora.mini import worlds as mini
from spor_tasks.prompts.styles import prompt
from training import tiny_base, tiny_logic
from training.encoding import IGNORED, collate
from training.tiny_base import BaseSettings

TINY = BaseSettings(width=16, layers=1, heads=2, worlds=1, steps=3)


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    corpus = mini.samples()
    return tiny_base.word_tokenizer(
        text for sample in corpus for text in (prompt(sample, "causal"), *sample.references)
    )


def make_sample(*units: Triple, text: str = "Lucky Gull carries salt.") -> Sample:
    return Sample(id="0", corpus="mini", units=units, references=(text,))


CARGO = Triple("Lucky_Gull", "cargo", "salt")
LENGTH = Triple("Lucky_Gull", "length", "18_metres")


def test_every_text_of_the_corpus_comes_back_from_its_tokens(
    tokenizer: PreTrainedTokenizerFast,
) -> None:
    for sample in mini.samples():
        for text in sample.references:
            assert tokenizer.decode(tokenizer(text)["input_ids"]) == text


def test_tokens_are_the_words_of_every_world(tokenizer: PreTrainedTokenizerFast) -> None:
    for sample in mini.samples(1):
        for text in (prompt(sample, "causal"), *sample.references):
            assert tokenizer.unk_token_id not in tokenizer(text)["input_ids"]


def test_a_prompt_does_not_run_into_the_text(tokenizer: PreTrainedTokenizerFast) -> None:
    cue, text = prompt(make_sample(CARGO), "causal"), "Lucky Gull carries salt."
    assert tokenizer(cue + text)["input_ids"] == [
        *tokenizer(cue)["input_ids"],
        *tokenizer(text)["input_ids"],
    ]


def test_no_two_units_of_a_test_sample_meet_in_what_the_base_reads() -> None:
    tested = named.load("systematicity", "mini").test.samples
    apart = {frozenset(two) for sample in tested for two in combinations(sample.units, 2)}
    together = [
        {frozenset(two) for two in combinations(sample.units, 2)} & apart
        for number in range(1, 4)
        for sample in mini.samples(number)
    ]
    read = list(tiny_base.other_worlds(3, tested))
    assert any(together)  # so there is something to leave out
    assert len(read) == sum(not met for met in together)
    assert not any(
        frozenset(two) in apart for sample in read for two in combinations(sample.units, 2)
    )


def test_a_single_unit_is_read_as_a_sentence_and_several_as_a_list(
    tokenizer: PreTrainedTokenizerFast,
) -> None:
    samples = (make_sample(CARGO), make_sample(CARGO, LENGTH, text="Never read."))
    rows = tiny_base.reading(samples, tokenizer)
    targets = [tokenizer.decode([i for i in row.labels if i != IGNORED]) for row in rows]
    assert targets == [
        "Lucky Gull carries salt. <end>",
        "Lucky Gull cargo salt. Lucky Gull length 18 metres. <end>",
        "Gull carries salt. <end>",
    ]
    assert [IGNORED in row.labels for row in rows] == [True, True, False]


def test_a_base_for_tables_reads_other_tables_than_those_of_the_corpus() -> None:
    tokenizer = tiny_base.word_tokenizer(tiny_logic.LESSONS.words())
    rows = tiny_logic.LESSONS.rows((), replace(TINY, worlds=20), tokenizer)
    assert len(rows) == 40
    read = {tokenizer.decode(row.input_ids) for row in rows}
    for sample in worlds.samples("test"):
        ids = tokenizer(prompt(in_variant(sample, "full_table"), "causal"))["input_ids"]
        assert tokenizer.unk_token_id not in ids
        assert not any(text.startswith(tokenizer.decode(ids)) for text in read)
    whole, single = (row.labels.count(tokenizer.eos_token_id) for row in rows[:2])
    assert (whole, single) == (6, 1)


def test_a_base_is_an_ordinary_checkpoint(tmp_path: Path) -> None:
    tiny_base.build(tmp_path, (), TINY, progress=False)
    model = AutoModelForCausalLM.from_pretrained(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    assert model.config.vocab_size == len(tokenizer)
    assert model.config.eos_token_id == tokenizer.eos_token_id
    assert tokenizer.decode(tokenizer("Lucky Gull carries salt.")["input_ids"]) == (
        "Lucky Gull carries salt."
    )


def test_steps_make_a_base_better_at_what_it_has_not_read(
    tokenizer: PreTrainedTokenizerFast,
) -> None:
    rows = tiny_base.reading(mini.samples(1), tokenizer)
    unread = collate(tiny_base.reading(mini.samples(2), tokenizer)[:50], tokenizer.pad_token_id)
    losses = []
    for steps in (1, 60):
        settings = replace(TINY, steps=steps)
        model = tiny_base.pretrain(rows, tokenizer, settings, progress=False)
        losses.append(tiny_base._loss(model, unread).item())
    assert losses[1] < losses[0] - 1 / 2


def test_equal_settings_make_equal_weights(tmp_path: Path) -> None:
    digests = set()
    for name, seed in (("one", 0), ("same", 0), ("other", 1)):
        tiny_base.build(tmp_path / name, (), replace(TINY, seed=seed), progress=False)
        digests.add(digest_weights(tmp_path / name))
    assert len(digests) == 2


def test_the_manifest_tells_what_the_base_was_made_of(tmp_path: Path) -> None:
    tiny_base.build(tmp_path, (), TINY, progress=False)
    manifest = read_manifest(tmp_path)
    assert manifest.items() >= tiny_base.facts((), TINY).items()
    assert manifest["sha256"] == digest_weights(tmp_path)
    assert manifest["settings"]["threads"] == 1
