"""What is refused before anything is trained, and what is said instead of a traceback."""

import importlib.util
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from accelerate.tracking import LOGGER_TYPE_TO_CLASS
from transformers import AutoTokenizer

from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.folders import read_manifest
from spor_tasks.core.sample import Split, SplitPair
from tests.support.tiny_bases import make_tokenizer
from training import trackers
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
        tune(pair=replace(invented, protocol="strict"))
    assert list(tmp_path.iterdir()) == []


def test_published_sets_are_trained_on_with_what_they_break(
    tune: Tune, caplog: pytest.LogCaptureFixture
) -> None:
    violations = read_manifest(tune().adapter)["violations"]
    assert f"break {len(violations)} of their requirements: {violations[0]}" in caplog.text
    sound = tune("data.corpus=mini", "optimization.max_steps=1", to="sound").adapter
    assert read_manifest(sound)["violations"] == []


def test_an_arm_without_a_text_is_refused(tune: Tune, invented: SplitPair) -> None:
    textless = tuple(replace(sample, references=()) for sample in invented.arms[0].samples)
    for samples in ((), textless):
        pair = replace(invented, arms=(Split("atom", samples), invented.arms[1]))
        with pytest.raises(ConfigError, match="atom of systematicity webnlg has no text"):
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
    output = tune("data.corpus=mini", *settings, name="gpt2").adapter
    assert len(read_manifest(output)["selection"]["scores"]) == 1
    assert AutoTokenizer.from_pretrained(output).pad_token is None


def test_four_bits_need_their_package(
    base: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match="needs the package bitsandbytes"):
        load_base(ModelConfig(str(base("llama")), quantization="nf4"))


@pytest.mark.parametrize("name", ["llama", "t5"])
def test_what_changes_only_how_a_step_is_computed_changes_no_loss(tune: Tune, name: str) -> None:
    settings = ("optimization.learning_rate=1e-2", "optimization.epochs=2")
    free = ("optimization.gradient_checkpointing=true", "optimization.save_steps=1")
    plain = tune(*settings, name=name)
    other = tune(*settings, *free, name=name, to="other")
    assert other.losses == pytest.approx(plain.losses, rel=1e-6)


def test_the_blocks_of_a_model_are_compiled_where_asked_for(
    tune: Tune, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler takes minutes; that it is asked is all that is shown here."""
    compiled: list[str] = []
    monkeypatch.setattr(
        torch.nn.Module, "compile", lambda self, **_: compiled.append(type(self).__name__)
    )
    tune("optimization.compile=true")
    assert compiled == ["LlamaDecoderLayer"] * 2


def test_variants_of_lora_are_peft_s_and_learn_otherwise(tune: Tune) -> None:
    settings = ("optimization.learning_rate=1e-2", "optimization.epochs=2")
    plain = tune(*settings)
    for variant in ("dora", "rslora"):
        other = tune(*settings, f"lora.{variant}=true", to=variant)
        assert f'"use_{variant}": true' in (other.adapter / "adapter_config.json").read_text()
        assert other.losses[0] == pytest.approx(plain.losses[0], rel=1e-5)
        assert other.losses[-1] != plain.losses[-1]


class Remembering:
    """Stands for a tracker of accelerate."""

    requires_logging_directory = True
    told: list[tuple[object, ...]]

    def __init__(self, run_name: str, logging_dir: str) -> None:
        Remembering.told = [(run_name, Path(logging_dir).name)]

    def store_init_configuration(self, values: dict[str, str]) -> None:
        assert '"rank": 8' in values["config"]

    def log(self, values: dict[str, float], step: int) -> None:
        self.told.append((*values, step))

    def finish(self) -> None:
        self.told.append(("finished",))


def test_a_tracker_is_told_every_loss(tune: Tune, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trackers, "get_available_trackers", lambda: ["tensorboard"])
    monkeypatch.setitem(LOGGER_TYPE_TO_CLASS, "tensorboard", Remembering)
    tune("report_to=tensorboard")
    told = [("adapter", "logs"), ("loss", 1), ("loss", 2), ("finished",)]
    assert Remembering.told == told
