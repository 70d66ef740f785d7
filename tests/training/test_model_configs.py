"""The files under configs/models: complete, true to their headers, and to the paper they name."""

from pathlib import Path

import pytest
import yaml

from tests.conftest import REPOSITORY
from training.config import LoraConfig, TrainingConfig, load_config
from training.settings import keys

FILES = sorted((REPOSITORY / "configs" / "models").glob("*.yaml"))
OF_THE_PAPER = {
    "bart-large": ("facebook/bart-large", "seq2seq"),
    "flan-t5-xxl": ("google/flan-t5-xxl", "seq2seq"),
    "gpt2-large": ("openai-community/gpt2-large", "causal"),
    "llama-2-13b": ("meta-llama/Llama-2-13b-hf", "causal"),
    "mistral-7b": ("mistralai/Mistral-7B-v0.1", "causal"),
    "t5-large": ("google-t5/t5-large", "seq2seq"),
}
SMALL = {
    "flan-t5-base": ("google/flan-t5-base", "seq2seq"),
    "gemma-3-270m": ("google/gemma-3-270m", "causal"),
    "llama-3.2-1b": ("meta-llama/Llama-3.2-1B", "causal"),
    "qwen3-0.6b": ("Qwen/Qwen3-0.6B", "causal"),
    "smollm2-360m": ("HuggingFaceTB/SmolLM2-360M", "causal"),
}
IN_THE_PAPERS_WAY = OF_THE_PAPER | SMALL
NAMES = [file.stem for file in FILES]
OF_LOGICNLG = sorted((REPOSITORY / "configs" / "models" / "logicnlg").glob("*.yaml"))
OF_TOTTO = sorted((REPOSITORY / "configs" / "models" / "totto").glob("*.yaml"))
OF_COMPMCTG = sorted(
    file
    for file in (REPOSITORY / "configs" / "models" / "compmctg").glob("*.yaml")
    if not file.stem.startswith("classifier-")
)
ALL = {
    str(file.relative_to(REPOSITORY)): file
    for file in (*FILES, *OF_LOGICNLG, *OF_TOTTO, *OF_COMPMCTG)
}
RECIPE = ("schedule", "warmup", "optimizer", "weight_decay", "decay_norms", "clip_norm")


def test_each_model_of_the_paper_has_its_file_and_so_have_small_ones() -> None:
    assert sorted([*IN_THE_PAPERS_WAY, "mini", "smollm2-135m"]) == NAMES


@pytest.mark.parametrize("file", ALL.values(), ids=ALL)
def test_a_config_is_valid_and_writes_every_key_out(file: Path) -> None:
    load_config(file)
    written = yaml.safe_load(file.read_text())
    written_keys = [
        f"{section}.{key}" if isinstance(values, dict) else section
        for section, values in written.items()
        for key in (values if isinstance(values, dict) else [section])
    ]
    left_out = {"data.seed", "data.restarts", "data.hide"}  # of corpora of one's own
    if file in FILES:
        left_out |= {"method", "objective_settings"}  # an adapter, by likelihood
    else:
        known = load_config(file).objective_settings
        assert written["objective_settings"].keys() == known.keys()
        written_keys = [key for key in written_keys if not key.startswith("objective_settings.")]
        written_keys.append("objective_settings")
    if file not in OF_TOTTO:
        left_out.add("optimization.cut")  # their prompts are short
    if file not in OF_COMPMCTG:
        left_out |= {f"optimization.{key}" for key in RECIPE}  # Adam at a constant rate
    assert sorted(written_keys) == sorted(set(keys(TrainingConfig)) - left_out)


@pytest.mark.parametrize("file", ALL.values(), ids=ALL)
def test_the_commands_of_a_header_are_valid_and_write_to_different_folders(file: Path) -> None:
    command = f"python -m training train {file.relative_to(REPOSITORY)}"
    header = file.read_text().partition("\nmodel:")[0].replace("\\\n#", "")
    commands = [line for line in header.splitlines() if command in line]
    configs = [load_config(file, line.partition(command)[2].split()) for line in commands]
    assert len(configs) >= 2
    assert len({config.output for config in configs}) == len(configs)
    for config in configs:
        arm, seed = config.data.arm, config.optimization.seed
        assert config.output.name == f"{config.data.aspect}-{config.data.corpus}-{arm}-{seed}"


@pytest.mark.parametrize(("name", "base"), IN_THE_PAPERS_WAY.items(), ids=IN_THE_PAPERS_WAY)
def test_a_model_is_trained_as_in_the_paper(name: str, base: tuple[str, str]) -> None:
    config = load_config(REPOSITORY / "configs" / "models" / f"{name}.yaml")
    assert (config.model.path, config.model.architecture) == base
    assert config.lora == LoraConfig(rank=8, alpha=32.0, dropout=0.1, target_modules=None)
    settings = config.optimization
    assert (settings.learning_rate, settings.batch_size, settings.epochs) == (1e-4, 6, 10)
    assert (settings.gradient_accumulation, settings.max_steps) == (1, None)
    assert not settings.group_by_length
    assert settings.packing == (name != "bart-large")
    assert config.data.limit is None
    assert config.data.protocol == "published"
