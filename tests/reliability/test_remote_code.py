"""A checkpoint may bring Python code along: none of it runs unasked, and nobody is asked for it."""

import builtins
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import transformers
from transformers import dynamic_module_utils

from spor_tasks import cli
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

Make = Callable[[str], Path]


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """What the code of a checkpoint writes."""
    return tmp_path / "marker"


@pytest.fixture
def make(tmp_path: Path, marker: Path, checkpoint: Callable[[str], Path]) -> Make:
    """Return the folder of a tiny checkpoint with code, of a model type."""

    def build(model_type: str) -> Path:
        folder = shutil.copytree(checkpoint("llama"), tmp_path / model_type)
        (folder / "own.py").write_text(CODE.format(marker=str(marker)))
        for name, classes in CLASSES.items():
            content = json.loads((folder / name).read_bytes()) | {"auto_map": classes}
            if name == "config.json":
                content["model_type"] = model_type
            (folder / name).write_text(json.dumps(content))
        return folder

    return build


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Nothing is asked on the terminal; copies of code stay here."""
    questions: list[str] = []
    monkeypatch.setattr(builtins, "input", lambda *what: questions.append(str(what)) or "n")
    monkeypatch.setattr(dynamic_module_utils, "HF_MODULES_CACHE", str(tmp_path / "modules"))
    commands.without_other_tasks(monkeypatch, tmp_path)
    yield
    assert questions == []


def run(kind: str, arguments: str) -> int:
    short = ["--limit", "1", "--gen_kwargs", "max_gen_toks=4", "--device", "cpu"]
    given = ["--model", kind, "--model_args", arguments, "--tasks", TASK]
    return cli.main(["eval", *given, *short])


def test_training_takes_a_base_that_does_without_its_code_and_no_other(
    make: Make, marker: Path
) -> None:
    with pytest.raises(ConfigError, match="needs code of its own, which is not run unless"):
        load_base(ModelConfig(str(make("own"))))
    assert type(load_base(ModelConfig(str(make("llama")))).model) is transformers.LlamaForCausalLM
    assert not marker.exists()


NEEDS_CODE = "needs code of its own, which is not run unless you ask for it"


@pytest.mark.parametrize(
    ("kind", "model_type", "trust", "fault"),
    [
        ("hf", "own", "", NEEDS_CODE),
        ("spor-hf", "own", "", NEEDS_CODE),
        ("hf", "llama", ",trust_remote_code=None", "is neither True nor False"),
        ("hf", "llama", ",trust_remote_code=no", "is neither True nor False"),
        ("spor-hf", "llama", "", None),
        ("spor-hf", "own", ",trust_remote_code=True", None),
    ],
)
def test_an_evaluation_runs_code_only_if_its_user_trusts_it(
    kind: str,
    model_type: str,
    trust: str,
    fault: str | None,
    *,
    make: Make,
    marker: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    status = run(kind, f"pretrained={make(model_type)}{trust}")
    printed = capsys.readouterr().err
    assert status == (2 if fault else 0), printed
    assert fault is None or fault in printed
    assert fault != NEEDS_CODE or "trust_remote_code=True" in printed
    runs = trust.endswith("True")
    assert (marker.read_text() if marker.exists() else None) == ("generated" if runs else None)


def test_a_list_of_models_may_not_ask_for_code_without_a_word(
    make: Make, marker: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = tmp_path / "models.yaml"
    own = make("own")
    given = ["--models", str(models), "--model", "spor-hf", "--tasks", TASK, "--device", "cpu"]
    for text, fault in (
        (f"{{pretrained: {own}, trust_remote_code: null}}", "is neither True nor False"),
        (f"pretrained={own}", NEEDS_CODE),
    ):
        models.write_text(f"- {text}\n")
        assert cli.main(["eval", *given]) == 2
        assert fault in capsys.readouterr().err
    assert not marker.exists()


def test_a_classifier_runs_no_code(make: Make, marker: Path) -> None:
    from spor_tasks.metrics import readers  # noqa: PLC0415 - as it is imported where it is used

    with pytest.raises(ConfigError, match="cannot be loaded"):
        readers.facts(str(make("own")))
    assert not marker.exists()
