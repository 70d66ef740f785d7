"""TRL learns from the pairs of an arm what the recipe learns, and its adapters are let in."""

import json
import re
import shutil

import datasets
import pytest
import torch
from transformers import AutoTokenizer

from spor_tasks.evaluation import elsewhere
from spor_tasks.models.checkpoints import Checkpoint, find_adapter
from spor_tasks.prompts.pairs import TrainingPair
from tests.conftest import REPOSITORY
from training.adapters import add_lora
from training.bases import load_base
from training.config import ModelConfig
from training.data import sets_of
from training.encoding import IGNORED, encode
from training.objectives.base import Material
from training.objectives.likelihood import Likelihood, NoSettings

pytestmark = pytest.mark.filterwarnings("ignore")  # its own, of packages that it is behind
TASK = "spor_systematicity_mini"
PAGE = (REPOSITORY / "docs" / "train.md").read_text("utf-8")
(CODE,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def trl():
    """TRL, which no extra brings."""
    return pytest.importorskip("trl")


def tokens_by(tokenizer):
    """Return the function of the page."""
    found = {"tokenizer": tokenizer}
    exec(CODE.partition("\n\n\n")[2].partition("\n\n\n")[0], found)  # noqa: S102
    return found["tokens"]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))


def test_tokens_of_the_page_are_those_of_the_recipe(base):
    tokenizer = AutoTokenizer.from_pretrained(base("llama"))
    pairs = [TrainingPair("a: Output:", "Bo sang."), TrainingPair("a: Output:", '"Bo" sang.')]
    for pair, row in zip(pairs, encode(pairs, tokenizer, "causal", None).rows, strict=True):
        found = tokens_by(tokenizer)({"prompt": pair.prompt, "completion": pair.text})
        assert found["input_ids"] == [*row.input_ids, row.labels[-1]]
        assert found["labels"] == [IGNORED, *row.labels]
    spanned = tokenizer(pair.prompt + pair.text)["input_ids"]
    assert found["input_ids"][: len(spanned)] != spanned


@pytest.mark.parametrize("encoded", [True, False])
def test_losses_of_trl_are_those_of_the_recipe(encoded, trl, configure, tune, tmp_path):
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
    dataset = datasets.Dataset.from_list(ordered)
    if encoded:
        tokens = tokens_by(base.tokenizer)
        dataset = dataset.map(tokens, remove_columns=dataset.column_names)
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
        train_dataset=dataset,
    )
    trainer.train()
    theirs = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert theirs == pytest.approx(ours, abs=1e-4)


@pytest.mark.usefixtures("trl")
def test_the_example_of_the_page_gives_an_adapter_of_its_arm(base, spor, tmp_path):
    shutil.copytree(base("llama"), "model")
    elsewhere.write(tmp_path / "atom.jsonl", TASK, "atom", {}, overwrite=False)
    code = CODE
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
