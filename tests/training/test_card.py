"""The model card: what the hub needs, and what a reader wants to know."""

import pytest
import yaml
from msgspec.structs import replace as changed
from transformers import AutoTokenizer

from spor_tasks.core import named
from spor_tasks.harness import task_files
from spor_tasks.results.facts import BaseModel, TrainedOn
from tests.conftest import REPOSITORY
from tests.support.result_files import adapter_in
from training import card


def test_a_card_says_what_was_trained_how_it_went_and_how_it_is_used(tune):
    """The base has no padding token."""
    settings = ("data.corpus=mini", "data.limit=6", "optimization.epochs=2")
    judged = ("selection.policy=dev-best", "selection.samples=2")
    adapter = tune(*settings, *judged, name="gpt2").folder
    facts = adapter_in(adapter)
    assert facts.sets.corpus_sha256 is None, "a corpus that is shipped has a name"
    text = (adapter / "README.md").read_text()
    _, front, body = text.split("---\n", 2)
    front_matter = yaml.safe_load(front)
    assert front_matter["library_name"] == "peft"
    assert "spor" in front_matter["tags"]
    assert "base_model" not in front_matter, "a folder of this machine is no model of the hub"
    assert "| arm | atom, of systematicity on mini |" in body
    for epoch, loss in enumerate(facts.log.losses, start=1):
        score = facts.selection["scores"][epoch - 1]["parent"]
        assert f"| {epoch} | {loss:.4f} | {score:.2f} |" in body
    assert AutoTokenizer.from_pretrained(adapter).pad_token is None
    assert "AutoModelForCausalLM" in body
    assert f"--model_args pretrained={facts.base_model.path},peft=THIS_FOLDER " in body
    assert "--tasks spor_systematicity_mini " in body
    # A base of the hub is named for it, and a last epoch has no scores.
    facts.log.config["model"]["path"] = "some/base"
    text = card.render_card(
        changed(
            facts,
            sets=TrainedOn(aspect="productivity", corpus="e2e", protocol="published", part="n3"),
            prompt_style="seq2seq",
            base_model=BaseModel(path="some/base"),
            selection=facts.selection | {"policy": "last", "scores": []},
        )
    )
    assert yaml.safe_load(text.split("---\n")[1])["base_model"] == "some/base"
    assert "# base, tuned on Atom of SPOR" in text
    assert "AutoModelForSeq2SeqLM" in text
    assert "on e2e, part n3 |" in text
    assert "PARENT" not in text


@pytest.mark.parametrize("spec", named.available(), ids=lambda spec: str(spec.sets))
def test_the_tasks_that_a_card_names_exist_and_test_its_sets(spec):
    tasks = card.tasks_of(spec).split(",")
    assert {file.name for file in task_files.expand(tasks)} == {*tasks}
    assert spec.task in tasks
    if spec.benchmark == "spor" and spec.sets.corpus in {"webnlg", "e2e", "mini"}:
        is_shared = spec.trained_on.part is None != spec.sets.part
        assert spec.sets.protocol == "twin" or (len(tasks) > 1) == is_shared


@pytest.mark.parametrize("name", ["sys-atom-0", "ctg-0-0"])
def test_a_manifest_in_the_form_of_0_2_gives_the_card_of_then(name):
    folder = REPOSITORY / "tests" / "data" / "runs-0.2" / "adapters" / name
    adapter = adapter_in(folder)
    assert adapter.sets.test_sha256
    assert adapter.log.device.name == "cpu"
    assert card.render_card(adapter) == (folder / "card.txt").read_text("utf-8")
