"""The files under configs/models: valid, short, and true to the paper they name."""

from pathlib import Path

import pytest
import yaml

from tests.conftest import REPOSITORY
from training.config import PAPER_LORA, load_config, parse_config
from training.settings import to_dict

FILES = sorted((REPOSITORY / "configs" / "models").glob("*.yaml"))
OF_THE_PAPER = {
    "bart-large": "facebook/bart-large",
    "flan-t5-xxl": "google/flan-t5-xxl",
    "gpt2-large": "openai-community/gpt2-large",
    "llama-2-13b": "meta-llama/Llama-2-13b-hf",
    "mistral-7b": "mistralai/Mistral-7B-v0.1",
    "t5-large": "google-t5/t5-large",
}
SMALL = {
    "flan-t5-base": "google/flan-t5-base",
    "gemma-3-270m": "google/gemma-3-270m",
    "llama-3.2-1b": "meta-llama/Llama-3.2-1B",
    "qwen3-0.6b": "Qwen/Qwen3-0.6B",
    "smollm2-360m": "HuggingFaceTB/SmolLM2-360M",
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


def test_each_model_of_the_paper_has_its_file_and_so_have_small_ones() -> None:
    assert sorted([*IN_THE_PAPERS_WAY, "mini", "smollm2-135m"]) == NAMES


@pytest.mark.parametrize("file", ALL.values(), ids=ALL)
def test_a_config_is_valid_and_states_only_differences(file: Path) -> None:
    written, config = yaml.safe_load(file.read_text()), to_dict(load_config(file))
    least = {"model": {"path": "?"}, "data": dict.fromkeys(("aspect", "corpus", "arm"), "?")}
    default = to_dict(parse_config(yaml.safe_dump(least)))
    for section, values in written.items():
        for key in values if section in {"model", "data", "optimization", "selection"} else ():
            assert config[section][key] != default[section][key], f"{section}.{key}"


@pytest.mark.parametrize(("name", "base"), IN_THE_PAPERS_WAY.items(), ids=IN_THE_PAPERS_WAY)
def test_a_model_is_trained_as_in_the_paper(name: str, base: str) -> None:
    config = load_config(REPOSITORY / "configs" / "models" / f"{name}.yaml")
    assert config.model.path == base
    assert config.lora == PAPER_LORA
    settings = config.optimization
    assert (settings.learning_rate, settings.batch_size, settings.epochs) == (1e-4, 6, 10)
    assert (settings.gradient_accumulation, settings.max_steps) == (1, None)
    assert not settings.group_by_length
    assert settings.packing == (name != "bart-large")
    assert config.data.limit is None
    assert config.data.protocol == "published"
