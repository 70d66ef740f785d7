"""TRL learns from the pairs of an arm what the recipe learns, and its adapters are let in."""

import json
import re
import shutil

import pytest
import torch

from spor_tasks.evaluation import elsewhere
from spor_tasks.models.checkpoints import Checkpoint, find_adapter
from tests.conftest import REPOSITORY
from training.adapters import add_lora
from training.bases import load_base
from training.config import ModelConfig
from training.data import sets_of
from training.objectives.base import Material
from training.objectives.likelihood import Likelihood, NoSettings

trl = pytest.importorskip("trl")
datasets = pytest.importorskip("datasets")

pytestmark = pytest.mark.filterwarnings("ignore")  # its own, of packages that it is behind
TASK = "spor_systematicity_mini"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))


def test_losses_of_trl_are_those_of_the_recipe(configure, tune, tmp_path):
    overrides = (
        *("model.path=training/pretrained/mini", "data.corpus=mini"),
        *("optimization.max_steps=12", "lora.lora_dropout=0"),
    )
    config = configure(*overrides)
    ours = tune(*overrides).losses
    file = tmp_path / "pairs.jsonl"
    elsewhere.write(file, TASK, "atom", {}, overwrite=False)
    base = load_base(ModelConfig(config.model.path))
    samples = sets_of(config.data).arms["atom"]
    steps = Likelihood(NoSettings(), Material(samples, base, config.optimization)).steps()
    rows = [json.loads(line) for line in file.read_bytes().splitlines()]
    ordered = [rows[number] for step in steps for batch in step.batches for number in batch]
    torch.manual_seed(config.optimization.seed)
    trainer = trl.SFTTrainer(
        model=add_lora(base.model, config.lora, base.style),
        processing_class=base.tokenizer,
        args=trl.SFTConfig(
            output_dir=str(tmp_path / "adapter"),
            max_steps=12,
            per_device_train_batch_size=6,
            learning_rate=1e-4,
            lr_scheduler_type="constant",
            max_grad_norm=0,
            logging_steps=1,
            train_sampling_strategy="sequential",
            bf16=False,
            use_cpu=True,
            report_to="none",
        ),
        train_dataset=datasets.Dataset.from_list(ordered),
    )
    trainer.train()
    theirs = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert theirs == pytest.approx(ours, abs=1e-4)


def test_the_example_of_the_page_gives_an_adapter_of_its_arm(base, spor, tmp_path):
    shutil.copytree(base("llama"), "model")
    elsewhere.write(tmp_path / "atom.jsonl", TASK, "atom", {}, overwrite=False)
    page = (REPOSITORY / "docs" / "train.md").read_text("utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    for old, new in (
        ("HuggingFaceTB/SmolLM2-135M", "model"),
        ("num_train_epochs=10", "max_steps=2, use_cpu=True"),
    ):
        assert old in code
        code = code.replace(old, new)
    exec(code, {})  # noqa: S102
    spor("data record adapter --pairs atom.jsonl --seed 0 --recipe SFT")
    found = find_adapter(Checkpoint.read({"pretrained": "model", "peft": "adapter"}))
    assert (found.arm, found.settings["recipe"], found.settings["lora"]["r"]) == ("atom", "SFT", 8)
