"""Errors before anything is trained, in words."""

import importlib.util
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from transformers import AutoTokenizer

from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.folders import read_manifest
from spor_tasks.core.sample import Split, SplitPair
from tests.support.tiny_bases import make_tokenizer
from training.bases import check_ids, load_base
from training.config import ModelConfig
from training.encoding import Row
from training.lora import TrainingResult

Tune = Callable[..., TrainingResult]


def test_strict_sets_that_break_a_requirement_are_refused(
    tune: Tune, invented: SplitPair, tmp_path: Path
) -> None:
    with pytest.raises(
        SplitError, match=r"breaks the requirements .*2 atoms do not occur in Atom; "
    ):
        tune(pair=replace(invented, name=invented.name._replace(protocol="strict")))
    assert list(tmp_path.iterdir()) == []


def test_an_arm_without_a_text_is_refused(tune: Tune, invented: SplitPair) -> None:
    textless = tuple(replace(sample, references=()) for sample in invented.arms[0].samples)
    for samples in ((), textless):
        pair = replace(invented, arms=(Split("atom", samples), invented.arms[1]))
        with pytest.raises(ConfigError, match="has no arm 'atom' with texts"):
            tune(pair=pair)


def test_a_token_without_an_embedding_is_refused_and_an_embedding_without_a_token_is_not(
    base: Callable[..., Path],
) -> None:
    loaded = load_base(ModelConfig(str(base("llama"))))
    embeddings = loaded.model.get_input_embeddings().num_embeddings
    check_ids(loaded, [Row([0, embeddings - 1], [-100, 0])])
    for row in (Row([embeddings], [0]), Row([0], [embeddings])):
        with pytest.raises(ConfigError, match=f"has {embeddings} embeddings, but its tokenizer"):
            check_ids(loaded, [row])
    longer = make_tokenizer("llama")
    longer.add_special_tokens({"pad_token": "<another>"})
    with pytest.raises(ConfigError, match=f"made the token {embeddings}, '<another>'"):
        check_ids(replace(loaded, tokenizer=longer), [Row([0], [0])])


@pytest.mark.usefixtures("short_outputs")
def test_a_base_without_a_padding_token_is_judged_and_saved_without_one(tune: Tune) -> None:
    settings = ("optimization.max_steps=1", "selection.policy=dev-best", "selection.samples=3")
    output = tune("data.corpus=mini", *settings, name="gpt2").folder
    assert len(read_manifest(output)["selection"]["scores"]) == 1
    assert AutoTokenizer.from_pretrained(output).pad_token is None


def test_four_bits_need_their_package(
    base: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match="needs the package bitsandbytes"):
        load_base(ModelConfig(str(base("llama")), quantization="nf4"))
