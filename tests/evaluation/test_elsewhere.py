"""Adapters that other programs trained: the pairs of an arm, and the record that lets them in."""

import json
import shutil

import pytest

from spor_tasks import report
from spor_tasks.core.errors import ConfigError, SporError
from spor_tasks.core.folders import MANIFEST, read_manifest, write_manifest
from spor_tasks.evaluation import elsewhere
from spor_tasks.harness import plan, task_files
from spor_tasks.prompts.styles import prompt
from spor_tasks.report.document import plain_text
from spor_tasks.results import runs
from spor_tasks.results.facts import ELSEWHERE
from tests.support.checkpoints import *  # noqa: F403 - pytest takes fixtures from here
from tests.support.result_files import edited, write_result

TASK = "spor_systematicity_mini"


@pytest.fixture
def pairs(tmp_path):
    """Write the pairs of an arm into the folder of the test."""

    def write(arm="atom", task=TASK, name="pairs.jsonl", **settings):
        elsewhere.write(tmp_path / name, task, arm, settings, overwrite=True)
        return tmp_path / name

    return write


@pytest.fixture
def adapter(lora, tmp_path):
    """Return an adapter of the tiny Llama, which names no base."""
    return shutil.copytree(lora("llama"), tmp_path / "adapter")


def planned(task=TASK, **model):
    (file,) = task_files.find([task])
    return plan.resolve(plan.read({**file.metadata, **{k: str(v) for k, v in model.items()}}))


@pytest.mark.parametrize("style", ["causal", "seq2seq"])
def test_a_pair_is_a_prompt_of_the_evaluation_and_a_reference(style, pairs):
    rows = [json.loads(line) for line in pairs(prompt_style=style).read_bytes().splitlines()]
    arm = planned().pair.arms["atom"]
    assert [tuple(row.values()) for row in rows] == [
        (prompt(sample, style), text) for sample in arm for text in sample.references
    ]
    assert {tuple(row) for row in rows} == {("prompt", "completion")}


def test_the_training_set_of_a_split_is_that_of_its_name(pairs):
    file = pairs("train", "compmctg_mini_holdout", split="1")
    found = elsewhere.read(file).adapter
    assert found.sets.part == "1"
    assert len(file.read_text().splitlines()) == found.pairs
    other = elsewhere.read(pairs("train", "compmctg_mini_holdout", split="2")).adapter
    assert other.arm_sha256 != found.arm_sha256


def test_an_adapter_with_a_record_is_of_its_arm_alone(adapter, checkpoint, pairs):
    base = checkpoint()
    model = {"pretrained": base, "peft": adapter}
    assert planned(**model).adapter.arm is None
    elsewhere.adopt(adapter, pairs(), seed=7, base=str(base))
    found = planned(**model)
    assert (found.adapter.arm, found.adapter.seed, found.adapter.log) == ("atom", 7, None)
    assert found.warnings == (f"{adapter} was trained elsewhere: only its record says on what",)
    with pytest.raises(ConfigError, match="was trained on atom of systematicity mini"):
        planned("spor_productivity_mini_n3", **model)
    with pytest.raises(ConfigError, match="was trained on another base"):
        planned(pretrained=checkpoint("llama", 1), peft=adapter)
    write_manifest(adapter, {**read_manifest(adapter), "arm": "combination"})
    with pytest.raises(ConfigError, match="says that it was trained on combination"):
        planned(**model)


def test_a_model_that_was_trained_whole_is_of_its_arm_too(checkpoint, pairs, tmp_path):
    whole = shutil.copytree(checkpoint("llama", 1), tmp_path / "whole")
    found = elsewhere.adopt(whole, pairs(), seed=0, base=str(checkpoint())).adapter
    assert found.settings["method"] == "full"
    assert elsewhere.arguments_of(whole, found) == {"pretrained": str(whole)}
    assert planned(pretrained=whole).adapter.arm == "atom"


def test_an_unknown_recipe_equals_no_other_and_a_named_one_its_like(
    adapter, checkpoint, pairs, tmp_path
):
    other = shutil.copytree(checkpoint("llama", 1), tmp_path / "other")
    file, base = pairs(), str(checkpoint())

    def settings(folder, recipe=None):
        found = elsewhere.adopt(folder, file, seed=0, base=base, recipe=recipe).adapter.settings
        return {key: value for key, value in runs.flat(found).items() if "lora" not in key}

    assert settings(adapter)["recipe"] != settings(other)["recipe"]
    assert settings(adapter)["recipe"].startswith("unknown")
    assert settings(adapter, "mine")["recipe"] == settings(other, "mine")["recipe"]
    assert settings(adapter)["trained"] == "elsewhere"


@pytest.mark.parametrize(("recipes", "rows"), [(("mine", "mine"), 1), (("mine", "other"), 2)])
def test_a_report_has_a_row_for_each_recipe_and_says_so(recipes, rows, tmp_path):
    for number, (arm, recipe) in enumerate(zip(("atom", "combination"), recipes, strict=True)):
        file = write_result(tmp_path / f"results_{number}.json", arm=arm)
        with edited(file) as content:
            facts = content["configs"][TASK]["metadata"]["spor"]["adapter"]
            facts["settings"] = {**ELSEWHERE, "recipe": recipe}
    text = plain_text(report.write([tmp_path]))
    names = [line for line in text.splitlines() if line.startswith("base")]
    assert len(names) == rows
    assert "trained elsewhere: only the adapter's record says on what" in text
    assert ("spor data pairs" in text) == (rows == 2)


def changed(file):
    file.write_text(file.read_text().replace("drum", "lute"))


def test_what_cannot_be_sure_is_refused(adapter, checkpoint, pairs, tmp_path):
    base, file = str(checkpoint()), pairs()

    def refused(match, folder=adapter, base=base):
        with pytest.raises(SporError, match=match) as caught:
            elsewhere.adopt(folder, file, seed=0, base=base)
        assert caught.value.remedy
        assert not (folder / MANIFEST).exists()

    refused("does not say which base", base=None)
    refused("is not on this machine", base="some/where")
    refused("has no weight files", folder=tmp_path)
    config = json.loads((adapter / "adapter_config.json").read_text())
    config["base_model_name_or_path"] = str(checkpoint("llama", 1))
    (adapter / "adapter_config.json").write_text(json.dumps(config))
    refused("whose weights are not those of")
    changed(file)
    refused("is not the file that was recorded")
    elsewhere.record_of(file).write_text("{}")
    refused("is no record of pairs")
    elsewhere.record_of(file).unlink()
    refused("is no record of pairs: is not a finished folder: it has no pairs.jsonl.spor.json")


def test_a_record_of_pairs_is_none_of_an_adapter(adapter, checkpoint, pairs):
    shutil.copyfile(elsewhere.record_of(pairs()), adapter / MANIFEST)
    with pytest.raises(ConfigError) as caught:
        planned(pretrained=checkpoint(), peft=adapter)
    assert "spor data record" in caught.value.remedy
    assert elsewhere.adopt(adapter, pairs(), seed=0, base=str(checkpoint())).adapter.arm == "atom"


def test_the_record_of_our_own_training_is_kept(adapter, checkpoint, pairs):
    elsewhere.adopt(adapter, pairs(), seed=0, base=str(checkpoint()))
    ours = {**read_manifest(adapter), "settings": {"method": "lora"}}
    write_manifest(adapter, ours)
    with pytest.raises(ConfigError, match="was trained by this package"):
        elsewhere.adopt(adapter, pairs(), seed=0, base=str(checkpoint()))
    assert read_manifest(adapter) == ours


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (f"{TASK} --arm atoms", "has no arm 'atoms'"),
        (f"{TASK} --arm atom --split 0", "has no splits"),
        ("spor_* --arm atom", " tasks\n  Name one of them, such as spor_"),
        ("hellaswag --arm atom", "is not a task\n  `spor tasks list` names all."),
        (f"{TASK}_icl_atom --arm atom", f"Name {TASK} instead"),
        ("compmctg_mini_holdout --arm train", "name one with --split"),
        ("spor_systematicity_mni --arm atom", "The nearest names are spor_systematicity_mini"),
    ],
)
def test_a_wrong_name_is_one_error_and_writes_nothing(words, said, spor, tmp_path):
    assert said in spor(f"data pairs {words} --out {tmp_path}/new", ends=2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("seed", ["-1", "x", str(2**53)])
def test_a_seed_is_a_number_that_a_record_can_hold(seed, spor):
    assert "argument --seed" in spor(f"data record adapter --pairs pairs.jsonl --seed {seed}", 2)


def test_a_folder_is_no_file_of_pairs(spor, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert ".: is a folder" in spor(f"data pairs {TASK} --arm atom --out .", ends=2)
    assert ".: is a folder" in spor("data record . --base . --seed 0 --pairs .", ends=2)


def test_existing_pairs_are_replaced_on_request_alone(pairs, spor):
    file = pairs()
    before = file.read_bytes()
    command = f"data pairs {TASK} --arm combination --out {file}"
    assert "already exists" in spor(command, ends=2)
    assert file.read_bytes() == before
    assert "pairs of combination" in spor(f"{command} --overwrite")
    assert elsewhere.read(file).adapter.arm == "combination"
    file.write_text("mine")
    assert "is no file of pairs as it was written" in spor(f"{command} --overwrite", ends=2)
    assert file.read_text() == "mine"
