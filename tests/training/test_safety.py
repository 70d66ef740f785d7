"""What is refused before anything is trained, and what is said instead of a traceback."""

import importlib.util
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from accelerate.tracking import LOGGER_TYPE_TO_CLASS
from transformers import AutoTokenizer

from spor_tasks.aspects import named
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.folders import read_manifest
from spor_tasks.core.sample import Split, SplitPair
from tests.support.tiny_bases import make_tokenizer
from training import trackers
from training.bases import check_ids, load_base
from training.config import ModelConfig, TrainingConfig
from training.encoding import Row
from training.lora import train

Configure = Callable[..., TrainingConfig]


def test_strict_sets_that_break_a_requirement_are_refused(
    configure: Configure, invented: SplitPair, tmp_path: Path
) -> None:
    with pytest.raises(SplitError, match="2 atoms do not occur in Atom; ") as caught:
        train(configure(), replace(invented, protocol="strict"), progress=False)
    assert "breaks what strict sets promise" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_published_sets_are_trained_on_with_what_they_break(
    configure: Configure, invented: SplitPair, caplog: pytest.LogCaptureFixture
) -> None:
    result = train(configure(), invented, progress=False)
    violations = read_manifest(result.adapter)["violations"]
    assert f"break {len(violations)} of their requirements: {violations[0]}" in caplog.text


def test_sound_sets_break_nothing(configure: Configure) -> None:
    result = train(configure("data.corpus=mini", "optimization.max_steps=1"), progress=False)
    assert read_manifest(result.adapter)["violations"] == []


def test_an_arm_without_a_text_is_refused(
    configure: Configure, invented: SplitPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    textless = tuple(replace(sample, references=()) for sample in invented.arms[0].samples)
    for samples in ((), textless):
        pair = replace(invented, arms=(Split("atom", samples), invented.arms[1]))
        monkeypatch.setattr(named, "load", lambda *_, pair=pair: pair)
        with pytest.raises(ConfigError, match="atom of systematicity webnlg is empty"):
            train(configure(), progress=False)


def test_a_token_without_an_embedding_is_refused_and_an_embedding_without_a_token_is_not(
    base: Callable[..., Path],
) -> None:
    loaded = load_base(ModelConfig(str(base("llama"))))
    embeddings = loaded.model.get_input_embeddings().num_embeddings
    check_ids(loaded, [Row([0, embeddings - 1], [-100, 0])])
    for row in (Row([embeddings], [0]), Row([0], [embeddings])):
        with pytest.raises(ConfigError, match=f"has {embeddings} embeddings, and its tokenizer"):
            check_ids(loaded, [row])
    longer = make_tokenizer("llama")
    longer.add_special_tokens({"pad_token": "<another>"})
    with pytest.raises(ConfigError, match=f"made the token {embeddings}, '<another>'"):
        check_ids(replace(loaded, tokenizer=longer), [Row([0], [0])])


def test_a_base_without_a_padding_token_is_judged_and_saved_without_one(
    configure: Configure,
) -> None:
    config = configure(
        "data.corpus=mini",
        "optimization.max_steps=1",
        "selection.policy=dev-best",
        "selection.samples=3",
        name="gpt2",
    )
    train(config, progress=False)
    assert len(read_manifest(config.output)["selection"]["scores"]) == 1
    assert AutoTokenizer.from_pretrained(config.output).pad_token is None


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_float16_is_refused_without_a_gpu(configure: Configure, invented: SplitPair) -> None:
    with pytest.raises(ConfigError, match="float16 needs a GPU"):
        train(configure("optimization.precision=float16"), invented, progress=False)


def test_four_bits_need_their_package(
    base: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match="needs the package bitsandbytes"):
        load_base(ModelConfig(str(base("llama")), quantization="nf4"))


@pytest.mark.parametrize("name", ["llama", "t5"])
@pytest.mark.parametrize(
    "setting", ["optimization.gradient_checkpointing=true", "optimization.save_steps=1"]
)
def test_what_changes_only_how_a_step_is_computed_changes_no_loss(
    configure: Configure, invented: SplitPair, setting: str, name: str
) -> None:
    settings = ("optimization.learning_rate=1e-2", "optimization.epochs=2")
    plain = train(configure(*settings, name=name), invented, progress=False)
    other = configure(*settings, setting, f"output={plain.adapter}-2", name=name)
    assert train(other, invented, progress=False).losses == pytest.approx(plain.losses, rel=1e-6)


def test_the_blocks_of_a_model_are_compiled_where_asked_for(
    configure: Configure, invented: SplitPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler takes minutes; that it is asked is all that is shown here."""
    compiled: list[str] = []
    monkeypatch.setattr(
        torch.nn.Module, "compile", lambda self, **_: compiled.append(type(self).__name__)
    )
    train(configure("optimization.compile=true"), invented, progress=False)
    assert compiled == ["LlamaDecoderLayer"] * 2


@pytest.mark.parametrize(("setting", "key"), [("dora", "use_dora"), ("rslora", "use_rslora")])
def test_variants_of_lora_are_peft_s_and_learn_otherwise(
    configure: Configure, invented: SplitPair, setting: str, key: str
) -> None:
    settings = ("optimization.learning_rate=1e-2", "optimization.epochs=2")
    plain = train(configure(*settings), invented, progress=False)
    config = configure(*settings, f"lora.{setting}=true", f"output={plain.adapter}-2")
    other = train(config, invented, progress=False)
    assert f'"{key}": true' in (other.adapter / "adapter_config.json").read_text()
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


def test_a_tracker_is_told_every_loss(
    configure: Configure, invented: SplitPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trackers, "get_available_trackers", lambda: ["tensorboard"])
    monkeypatch.setitem(LOGGER_TYPE_TO_CLASS, "tensorboard", Remembering)
    train(configure("report_to=tensorboard"), invented, progress=False)
    told = [("adapter", "logs"), ("loss", 1), ("loss", 2), ("finished",)]
    assert Remembering.told == told


def test_a_tracker_that_is_not_installed_is_named(
    configure: Configure, invented: SplitPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trackers, "get_available_trackers", list)
    with pytest.raises(ConfigError, match="report_to wandb needs a package") as caught:
        train(configure("report_to=wandb"), invented, progress=False)
    assert "pip install wandb" in str(caught.value)
