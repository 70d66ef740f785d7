import importlib.util
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.weights import digest_weights
from tests.support import damage
from tests.support.tiny_bases import make_tokenizer
from training.bases import check_ids, git_commit, load_base
from training.config import ModelConfig
from training.encoding import Row


@pytest.fixture
def copy(base, tmp_path):
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
def test_a_base_has_its_style_positions_and_digest(base, name, style, positions, pad_id):
    loaded = load_base(ModelConfig(str(base(name))))
    assert (loaded.style, loaded.positions, loaded.pad_id) == (style, positions, pad_id)
    assert loaded.sha256 == digest_weights(base(name))
    assert loaded.revision is None


def test_what_is_no_checkpoint_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    names = (tmp_path, tmp_path / "missing", "someone/no-such-model", damage.LONG_NAME)
    for name in map(str, names):
        with pytest.raises(ConfigError) as caught:
            load_base(ModelConfig(name))
        assert caught.value.where == name
        assert caught.value.remedy


NORM = "model.norm.weight"


def damage_file(folder, file, *, how):
    content = (folder / file).read_bytes()
    if how == "half":
        (folder / file).write_bytes(content[: len(content) // 2])
    elif how == "gone":
        (folder / file).unlink()
    elif how == "strange":
        (folder / file).write_text('{"model_type": "no-such-type"}')
    else:
        weights = load_file(folder / file)
        norm = weights.pop(NORM)
        kept = weights | ({NORM: norm[:3].clone()} if how == "short" else {})
        save_file(kept, folder / file, metadata={"format": "pt"})


@pytest.mark.parametrize(
    ("file", "how", "message"),
    [
        ("config.json", "half", "cannot be loaded"),
        ("config.json", "strange", "cannot be loaded: .*no-such-type"),
        ("tokenizer.json", "half", "cannot be loaded"),
        ("tokenizer.json", "strange", "cannot be loaded"),
        ("model.safetensors", "half", "cannot be loaded"),
        ("model.safetensors", "gone", "cannot be loaded"),
        ("model.safetensors", "short", "cannot be loaded"),
        # which transformers would fill with random numbers
        ("model.safetensors", "without", f"lacks 1 weight of its architecture: {NORM}"),
    ],
)
def test_a_damaged_checkpoint_is_refused(copy, file, how, message):
    damage_file(copy, file, how=how)
    with pytest.raises(ConfigError, match=message) as caught:
        load_base(ModelConfig(str(copy)))
    assert caught.value.where == str(copy)
    assert caught.value.remedy


class Harmful:
    """Writes a file when it is unpickled."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return Path.touch, (self.file,)


def test_a_pickle_is_not_opened(copy):
    (copy / "model.safetensors").unlink()
    torch.save({"weight": Harmful(copy / "marker")}, copy / "pytorch_model.bin")
    with pytest.raises(ConfigError, match="a pickle") as caught:
        load_base(ModelConfig(str(copy)))
    assert "weights_only" not in str(caught.value)
    assert not (copy / "marker").exists()


def test_the_commit_is_known_where_there_is_git(monkeypatch):
    commit = git_commit()
    assert commit is None or len(commit.removesuffix("-dirty")) == 40
    monkeypatch.setenv("PATH", "")
    assert git_commit() is None


def test_a_token_without_an_embedding_is_refused(base):
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


def test_four_bits_need_their_package(base, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match="needs the package bitsandbytes"):
        load_base(ModelConfig(str(base("llama")), quantization="nf4"))
