import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.weights import digest_weights
from tests.support import damage
from training.bases import git_commit, load_base, versions
from training.config import ModelConfig

Base = Callable[..., Path]


@pytest.fixture
def copy(base: Base, tmp_path: Path) -> Path:
    return Path(shutil.copytree(base("llama"), tmp_path / "copy"))


@pytest.mark.parametrize(
    ("name", "style", "positions", "pad_id"),
    [
        ("llama", "causal", 256, 0),
        ("gpt2", "causal", 256, 2),
        ("t5", "seq2seq", None, 0),
        ("bart", "seq2seq", 256, 0),
    ],
)
def test_a_base_tells_what_it_is(
    base: Base, name: str, style: str, positions: int | None, pad_id: int
) -> None:
    loaded = load_base(ModelConfig(str(base(name))))
    assert (loaded.style, loaded.positions, loaded.pad_id) == (style, positions, pad_id)
    assert loaded.sha256 == digest_weights(base(name))
    assert loaded.revision is None


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_base_is_loaded_in_the_type_that_is_asked_for(base: Base, dtype: str) -> None:
    loaded = load_base(ModelConfig(str(base("llama")), dtype=dtype))  # type: ignore[arg-type]
    assert {str(weight.dtype) for weight in loaded.model.parameters()} == {f"torch.{dtype}"}


def test_another_architecture_than_asked_for_is_refused(base: Base) -> None:
    assert load_base(ModelConfig(str(base("llama")), architecture="causal")).style == "causal"
    with pytest.raises(ConfigError, match=r"is a causal model, and model\.architecture says seq2"):
        load_base(ModelConfig(str(base("llama")), architecture="seq2seq"))


def test_a_folder_that_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"config\.json") as caught:
        load_base(ModelConfig(str(tmp_path)))
    assert caught.value.where == str(tmp_path)


def test_a_path_that_leads_nowhere_is_refused_without_asking_the_hub(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such folder"):
        load_base(ModelConfig(str(tmp_path / "missing")))


def test_a_model_that_the_hub_does_not_give_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ConfigError, match="someone/no-such-model: cannot be loaded"):
        load_base(ModelConfig("someone/no-such-model"))


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_checkpoint_with_a_damaged_file_is_refused(copy: Path, file: str) -> None:
    whole = (copy / file).read_bytes()
    (copy / file).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ConfigError, match="cannot be loaded") as caught:
        load_base(ModelConfig(str(copy)))
    assert caught.value.where == str(copy)


def test_a_checkpoint_with_a_tokenizer_that_is_none_is_refused(copy: Path) -> None:
    (copy / "tokenizer.json").write_text("{}")
    with pytest.raises(ConfigError, match="cannot be loaded"):
        load_base(ModelConfig(str(copy)))


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("config.json", "a number"),
        ("config.json", "100,000 brackets"),
        ("config.json", "a named pipe"),
        ("config.json", "a folder"),
        ("tokenizer.json", "a list"),
        ("tokenizer.json", "many levels"),
        ("tokenizer_config.json", "a number"),
        ("tokenizer_config.json", "a number of 5,000 digits"),
        ("model.safetensors", "a pickle"),
        ("model.safetensors", "a folder"),
        ("model.safetensors", "a link to nothing"),
        ("model.safetensors", "a named pipe"),
    ],
)
def test_a_checkpoint_with_something_else_in_place_of_a_file_is_refused(
    copy: Path, file: str, kind: str
) -> None:
    damage.replace(copy / file, kind)
    with pytest.raises(ConfigError, match=r"cannot be loaded|is not a checkpoint"):
        load_base(ModelConfig(str(copy)))


class Harmful:
    """Writes a file when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Callable[..., object], tuple[Path]]:
        return Path.touch, (self.file,)


def test_a_pickle_is_not_opened(copy: Path) -> None:
    (copy / "model.safetensors").unlink()
    torch.save({"weight": Harmful(copy / "marker")}, copy / "pytorch_model.bin")
    with pytest.raises(ConfigError, match="a pickle that holds more than tensors") as caught:
        load_base(ModelConfig(str(copy)))
    assert "weights_only" not in str(caught.value)
    assert not (copy / "marker").exists()


def test_a_name_that_no_folder_can_have_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"cannot be loaded|there is no such folder"):
        load_base(ModelConfig(damage.LONG_NAME))


def test_a_checkpoint_with_weights_of_another_shape_is_refused(copy: Path) -> None:
    weights = load_file(copy / "model.safetensors")
    weights["model.norm.weight"] = weights["model.norm.weight"][:3].clone()
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ConfigError, match="cannot be loaded"):
        load_base(ModelConfig(str(copy)))


def test_a_checkpoint_without_weights_is_refused(copy: Path) -> None:
    (copy / "model.safetensors").unlink()
    with pytest.raises(ConfigError, match="cannot be loaded"):
        load_base(ModelConfig(str(copy)))


def test_a_checkpoint_that_lacks_weights_is_not_filled_with_random_ones(copy: Path) -> None:
    weights = load_file(copy / "model.safetensors")
    del weights["model.norm.weight"]
    save_file(weights, copy / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ConfigError, match=r"lacks 1 weights .*, model\.norm\.weight first"):
        load_base(ModelConfig(str(copy)))


def test_a_checkpoint_of_an_unknown_model_is_refused(copy: Path) -> None:
    (copy / "config.json").write_text(json.dumps({"model_type": "no-such-type"}))
    with pytest.raises(ConfigError, match=r"cannot be loaded: .*no-such-type"):
        load_base(ModelConfig(str(copy)))


def test_versions_name_everything_that_can_change_an_adapter() -> None:
    named = versions()
    assert {"python", "spor-tasks", "torch", "transformers", "peft"} <= set(named)
    assert all(number[0].isdigit() for number in named.values())
    in_four_bits = versions(ModelConfig("base", quantization="nf4"))
    assert in_four_bits.keys() - named.keys() == {"bitsandbytes"}


def test_the_commit_of_a_checkout_is_known_and_without_git_it_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    commit = git_commit()
    assert commit is None or len(commit.removesuffix("-dirty")) == 40
    monkeypatch.setenv("PATH", "")
    assert git_commit() is None
    monkeypatch.setenv("SPOR_COMMIT", "f00d")
    assert git_commit() == "f00d"
