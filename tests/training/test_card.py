"""The model card: what the hub needs, and what a reader wants to know."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from transformers import AutoTokenizer

from spor_tasks.aspects import named
from spor_tasks.core.contracts import SetSpec
from spor_tasks.core.folders import read_manifest
from spor_tasks.core.sample import SetName
from spor_tasks.harness import task_files
from training import card
from training.config import parse_config
from training.lora import train


@pytest.fixture(scope="module")
def finished(base: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an adapter whose two epochs were judged, of a base without a padding token."""
    output = tmp_path_factory.mktemp("finished") / "adapter"
    settings = (
        *(f"model.path={base('gpt2')}", f"output={output}"),
        *("data.corpus=mini", "data.aspect=systematicity", "data.arm=atom", "data.limit=6"),
        *("optimization.epochs=2", "selection.policy=dev-best", "selection.samples=2"),
    )
    return train(parse_config("{}", settings), progress=False).folder


@pytest.fixture
def adapter(finished: Path, tmp_path: Path) -> Path:
    """Return a copy of it, which may be changed."""
    return Path(shutil.copytree(finished, tmp_path / "adapter"))


def test_a_card_says_what_was_trained_how_it_went_and_how_it_is_used(adapter: Path) -> None:
    manifest = read_manifest(adapter)
    text = (adapter / "README.md").read_text()
    _, front, body = text.split("---\n", 2)
    front_matter = yaml.safe_load(front)
    assert front_matter["library_name"] == "peft"
    assert "spor" in front_matter["tags"]
    assert "base_model" not in front_matter, "a folder of this machine is no model of the hub"
    assert "| arm | atom, of systematicity on mini |" in body
    for epoch, loss in enumerate(manifest["losses"], start=1):
        score = manifest["selection"]["scores"][epoch - 1]["parent"]
        assert f"| {epoch} | {loss:.4f} | {score:.2f} |" in body
    assert AutoTokenizer.from_pretrained(adapter).pad_token is None
    assert "AutoModelForCausalLM" in body
    assert f"--model_args pretrained={manifest['base_model']['path']},peft=THIS_FOLDER " in body
    assert "--tasks spor_systematicity_mini " in body


def test_a_base_of_the_hub_is_named_for_it_and_a_last_epoch_has_no_scores(adapter: Path) -> None:
    manifest = read_manifest(adapter)
    manifest["base_model"]["path"] = manifest["config"]["model"]["path"] = "some/base"
    manifest["selection"] |= {"policy": "last", "scores": []}
    of_e2e = {"aspect": "productivity", "corpus": "e2e", "part": "n3"}
    text = card.render_card(manifest | {"prompt_style": "seq2seq"} | of_e2e)
    assert yaml.safe_load(text.split("---\n")[1])["base_model"] == "some/base"
    assert "# base, tuned on Atom of SPOR" in text
    assert "AutoModelForSeq2SeqLM" in text
    assert "on e2e, part n3 |" in text
    assert "PARENT" not in text


@pytest.mark.parametrize("spec", named.available(), ids=lambda spec: str(spec.name))
def test_the_tasks_that_a_card_names_exist_and_test_its_sets(spec: SetSpec) -> None:
    tasks = card.tasks_of(spec.name._asdict()).split(",")
    assert {file.name for file in task_files.expand(tasks)} == {*tasks}
    assert spec.task in tasks
    if spec.benchmark == "spor" and spec.name.corpus in {"webnlg", "e2e", "mini"}:
        is_shared = spec.trained_on.part is None != spec.name.part
        assert spec.name.protocol == "twin" or (len(tasks) > 1) == is_shared


def test_sets_of_a_corpus_of_one_s_own_have_their_task() -> None:
    name = SetName("systematicity", "lighthouses", "strict")
    assert card.tasks_of(name._asdict()) == "spor_systematicity_lighthouses"
