"""A checkpoint may bring Python code along: none of it runs unasked, and nobody is asked for it."""

import builtins
import json
import shutil

import pytest
import transformers
from transformers import dynamic_module_utils

from spor_tasks.core.errors import ConfigError
from tests.support import commands
from tests.support.checkpoints import *  # noqa: F403 - pytest takes fixtures from here
from training.bases import load_base
from training.config import ModelConfig

TASK = "spor_systematicity_mini"
CODE = """
from pathlib import Path
Path({marker!r}).touch()
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

class OwnConfig(LlamaConfig):
    model_type = "own"

class OwnModel(LlamaForCausalLM):
    config_class = OwnConfig
    def generate(self, *args, **kwargs):
        Path({marker!r}).write_text("generated")
        return super().generate(*args, **kwargs)

class OwnTokenizer(PreTrainedTokenizerFast):
    pass
"""
CLASSES = {
    "config.json": {"AutoConfig": "own.OwnConfig", "AutoModelForCausalLM": "own.OwnModel"},
    "tokenizer_config.json": {"AutoTokenizer": [None, "own.OwnTokenizer"]},
}
NEEDS_CODE = "needs code of its own, which is not run unless you ask for it"
UNCLEAR = "is neither True nor False"


@pytest.fixture
def marker(tmp_path):
    """What the code of a checkpoint writes."""
    return tmp_path / "marker"


@pytest.fixture
def make(tmp_path, marker, checkpoint):
    """Return the folder of a tiny checkpoint with code, of a model type."""

    def build(model_type):
        folder = shutil.copytree(checkpoint("llama"), tmp_path / model_type)
        (folder / "own.py").write_text(CODE.format(marker=str(marker)))
        for name, classes in CLASSES.items():
            content = json.loads((folder / name).read_bytes()) | {"auto_map": classes}
            content |= {"model_type": model_type} if name == "config.json" else {}
            (folder / name).write_text(json.dumps(content))
        return folder

    return build


@pytest.fixture(autouse=True)
def asked(monkeypatch, tmp_path):
    """Nothing is asked on the terminal; copies of code stay here."""
    questions = []
    monkeypatch.setattr(builtins, "input", lambda *what: questions.append(str(what)) or "n")
    monkeypatch.setattr(dynamic_module_utils, "HF_MODULES_CACHE", str(tmp_path / "modules"))
    commands.without_other_tasks(monkeypatch, tmp_path)
    yield
    assert questions == []


def test_training_and_classifiers_run_no_code(make, marker):
    from spor_tasks.metrics.judges import judges  # as it is imported where it is used

    own = make("own")
    with pytest.raises(ConfigError, match="needs code of its own, which is not run unless"):
        load_base(ModelConfig(str(own)))
    with pytest.raises(ConfigError, match="cannot be loaded"):
        judges.facts(str(own))
    assert type(load_base(ModelConfig(str(make("llama")))).model) is transformers.LlamaForCausalLM
    assert not marker.exists()


@pytest.mark.parametrize(
    ("model", "fault"),
    [
        ("hf own", NEEDS_CODE),
        ("spor-hf own", NEEDS_CODE),
        ("hf llama trust_remote_code=None", UNCLEAR),
        ("hf llama trust_remote_code=no", UNCLEAR),
        ("spor-hf llama", None),
        ("spor-hf own trust_remote_code=True", None),
    ],
)
def test_an_evaluation_runs_code_only_if_its_user_trusts_it(model, fault, make, marker, spor):
    kind, model_type, *trust = model.split()
    arguments = ",".join([f"pretrained={make(model_type)}", *trust])
    options = f"--tasks {TASK} --limit 1 --gen_kwargs max_gen_toks=4 --device cpu"
    command = f"eval --model {kind} --model_args {arguments} {options}"
    printed = spor(command, ends=2 if fault else 0)
    assert fault is None or fault in printed
    assert fault != NEEDS_CODE or "trust_remote_code=True" in printed
    runs = model.endswith("True")
    assert (marker.read_text() if marker.exists() else None) == ("generated" if runs else None)


def test_a_list_of_models_runs_no_code(make, marker, tmp_path, spor):
    models, own = tmp_path / "models.yaml", make("own")
    for text, fault in (
        (f"{{pretrained: {own}, trust_remote_code: null}}", UNCLEAR),
        (f"pretrained={own}", NEEDS_CODE),
    ):
        models.write_text(f"- {text}\n")
        given = f"--models {models} --model spor-hf --tasks {TASK} --device cpu"
        assert fault in spor(f"eval {given}", ends=2)
    assert not marker.exists()
