"""The arguments of a model: folders, adapters and their bases, and prompt styles."""

import importlib
import json
import logging
import re

import pytest

from spor_tasks.core.errors import ConfigError, SporError
from spor_tasks.core.folders import write_manifest
from spor_tasks.core.weights import digest_weights
from spor_tasks.models import checkpoints
from spor_tasks.results.facts import Adapter
from tests.support import damage
from tests.support.damage import DAMAGE
from tests.support.result_files import adapter_manifest


@pytest.fixture
def base(tmp_path):
    return save(tmp_path / "base", "config.json", "model.safetensors", b"weights of the base")


@pytest.fixture
def adapter(tmp_path, base):
    folder = save(tmp_path / "adapter", "adapter_config.json", "adapter_model.safetensors", b"LoRA")
    write_manifest(folder, adapter_manifest(folder, base))
    return folder


def save(folder, config, weights, content, **settings):
    folder.mkdir(parents=True)
    (folder / config).write_text(json.dumps(settings))
    (folder / weights).write_bytes(content)
    return folder


def arguments(base, adapter=None, **more):
    return {"pretrained": str(base), **({"peft": str(adapter)} if adapter else {}), **more}


def style(given):
    model = checkpoints.Checkpoint.read(given)
    found = checkpoints.find_adapter(model)
    return checkpoints.prompt_style(model, found, given.get("prompt_style"))


def find_adapter(given):
    return checkpoints.find_adapter(checkpoints.Checkpoint.read(given))


def has_chat_template(given):
    return checkpoints.has_chat_template(checkpoints.Checkpoint.read(given))


@pytest.mark.parametrize("argument", checkpoints.ADAPTERS)
def test_an_adapter_is_found_with_its_manifest(base, adapter, argument):
    found = find_adapter(arguments(base, None, **{argument: str(adapter)}))
    assert found == Adapter.read(adapter_manifest(adapter, base), adapter)
    assert find_adapter(arguments(base)) is find_adapter({}) is None
    moved = base.rename(base.with_name("moved"))
    assert find_adapter(arguments(moved, adapter)) == found
    (adapter / "spor.json").unlink()
    found = find_adapter(arguments(moved, adapter))
    assert found == Adapter.of(sha256=digest_weights(adapter))


def test_an_adapter_of_other_weights_is_refused(tmp_path, base, adapter):
    """A base that is not here is compared by its name, any other one by its weights."""
    other = save(tmp_path / "other", "config.json", "model.safetensors", b"weights of the bast")
    with pytest.raises(ConfigError, match="trained on another base than") as caught:
        find_adapter(arguments(other, adapter))
    assert caught.value.where == str(adapter)
    assert str(base) in str(caught.value.remedy)
    (adapter / "adapter_model.safetensors").write_bytes(b"later LoRA")
    with pytest.raises(ConfigError, match="not those that the manifest describes"):
        find_adapter(arguments(base, adapter))
    named = {"path": "someone/some-base", "revision": None, "sha256": "f" * 64}
    write_manifest(adapter, adapter_manifest(adapter, base, base_model=named))
    assert find_adapter({"pretrained": "someone/some-base", "peft": str(adapter)})
    with pytest.raises(ConfigError, match="another base than someone/some-bast"):
        find_adapter({"pretrained": "someone/some-bast", "peft": str(adapter)})


@pytest.mark.parametrize(("key", "value"), [("seed", "3"), ("arm", None), ("base_model", {})])
def test_wrong_types_in_manifests_fail(base, adapter, key, value):
    write_manifest(adapter, adapter_manifest(adapter, base, **{key: value}))
    with pytest.raises(ConfigError, match="not the manifest of an adapter") as caught:
        find_adapter(arguments(base, adapter))
    assert key in caught.value.what


@pytest.mark.parametrize("file", ["spor.json", "adapter_config.json", "adapter_model.safetensors"])
@pytest.mark.parametrize("kind", sorted(DAMAGE.keys() - {"nothing"}))
def test_a_damaged_adapter_is_refused(base, adapter, file, kind):
    damage.replace(adapter / file, kind)
    with pytest.raises(SporError):
        find_adapter(arguments(base, adapter))


def test_a_folder_without_a_checkpoint_is_refused(tmp_path, base):
    (tmp_path / "empty").mkdir()
    for base_folder, adapter_folder, fault in (
        (tmp_path / "empty", None, r"empty: has no config\.json"),
        (base, tmp_path / "empty", r"empty: has no adapter_config\.json"),
        (tmp_path / "missing", None, "missing: there is no such folder"),
    ):
        with pytest.raises(ConfigError, match=fault):
            find_adapter(arguments(base_folder, adapter_folder))


@pytest.mark.parametrize(
    ("config", "more", "expected"),
    [
        ({}, {}, "causal"),
        ({"is_encoder_decoder": False}, {}, "causal"),
        ({"is_encoder_decoder": True}, {}, "seq2seq"),
        ({}, {"backend": "seq2seq"}, "seq2seq"),
        ({}, {"backend": "default"}, "causal"),
        ({}, {"prompt_style": "instruction"}, "instruction"),
    ],
)
def test_the_style_is_that_of_the_base(tmp_path, config, more, expected):
    save(tmp_path / "all" / "one", "config.json", "model.safetensors", b"", **config)
    assert style(arguments(tmp_path / "all" / "one", **more)) == expected
    assert style(arguments(tmp_path / "all", subfolder="one", **more)) == expected


def test_adapters_decide_before_bases_and_users_before_both(base, adapter):
    write_manifest(adapter, adapter_manifest(adapter, base, prompt_style="seq2seq"))
    assert style(arguments(base)) == "causal"
    assert style(arguments(base, adapter)) == "seq2seq"
    assert style(arguments(base, adapter, prompt_style="causal")) == "causal"
    with pytest.raises(ConfigError, match="prompt_style=seq-to-seq is unknown") as caught:
        style(arguments(base, prompt_style="seq-to-seq"))
    assert caught.value.remedy == "Use causal or seq2seq or instruction."


def test_a_model_without_files_is_causal(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        assert style({"model": "some-model", "base_url": "http://localhost"}) == "causal"
        assert style({"pretrained": str(tmp_path), "gguf_file": "weights.gguf"}) == "causal"
        assert "some-model" not in caplog.text
        assert style({"pretrained": "someone/not-on-this-machine"}) == "causal"
    assert "someone/not-on-this-machine is not on this machine" in caplog.text


@pytest.mark.parametrize(
    ("file", "content", "expected"),
    [
        ("chat_template.jinja", "{{ messages }}", True),
        ("tokenizer_config.json", '{"chat_template": "{{ messages }}"}', True),
        ("tokenizer_config.json", "{}", False),
    ],
)
def test_a_chat_template_is_found(base, file, content, *, expected):
    (base / "tokenizer_config.json").write_text("{}")
    (base / file).write_text(content)
    assert has_chat_template(arguments(base)) is expected
    assert has_chat_template({"pretrained": "no/such-model"}) is None
    assert has_chat_template({"model": "of a server"}) is None


def test_a_missing_package_is_named_with_its_extra():
    with (
        pytest.raises(ConfigError, match="needs the package no_such") as caught,
        checkpoints.loading("base", "Check its folder."),
    ):
        importlib.import_module("no_such")
    assert "spor-tasks[hf]" in str(caught.value.remedy)


@pytest.mark.parametrize(
    ("error", "what", "remedy"),
    [
        (
            ModuleNotFoundError("tenacity is missing. Please run `pip install lm-eval[api]`"),
            "ModuleNotFoundError: tenacity is missing$",
            "^Run `pip install 'spor-tasks\\[api\\]'`",
        ),
        (
            TypeError("f() got an unexpected keyword argument 'flavour'"),
            "flavour",
            "^If flavour is",
        ),
    ],
)
def test_an_error_of_lm_eval_gets_the_advice_that_it_needs(error, what, remedy):
    with pytest.raises(ConfigError) as caught, checkpoints.loading("base", "Check its folder."):
        raise error
    assert re.search(what, caught.value.what)
    assert re.search(remedy, caught.value.remedy)


def test_a_name_of_an_argument_may_be_any_text():
    assert checkpoints.Checkpoint.read({"\ud800": None, "peft": "a"}).adapter == "a"
