"""The model card: what the hub needs, and what a reader wants to know."""

import pytest
import yaml
from transformers import AutoTokenizer

from spor_tasks.aspects import named
from spor_tasks.core.folders import read_manifest
from spor_tasks.harness import task_files
from training import card


def test_a_card_says_what_was_trained_how_it_went_and_how_it_is_used(tune):
    """The base has no padding token."""
    settings = ("data.corpus=mini", "data.limit=6", "optimization.epochs=2")
    judged = ("selection.policy=dev-best", "selection.samples=2")
    adapter = tune(*settings, *judged, name="gpt2").folder
    manifest = read_manifest(adapter)
    assert "corpus_sha256" not in manifest, "a corpus that is shipped has a name"
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
    # A base of the hub is named for it, and a last epoch has no scores.
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
def test_the_tasks_that_a_card_names_exist_and_test_its_sets(spec):
    tasks = card.tasks_of(spec.name._asdict()).split(",")
    assert {file.name for file in task_files.expand(tasks)} == {*tasks}
    assert spec.task in tasks
    if spec.benchmark == "spor" and spec.name.corpus in {"webnlg", "e2e", "mini"}:
        is_shared = spec.trained_on.part is None != spec.name.part
        assert spec.name.protocol == "twin" or (len(tasks) > 1) == is_shared
