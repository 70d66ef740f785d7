"""The files under configs/models: valid, short, and true to the paper they name."""

from pathlib import Path

import pytest
import yaml

from tests.conftest import REPOSITORY
from training.config import PAPER_LORA, load_config, parse_config
from training.settings import to_dict

FOLDER = REPOSITORY / "configs" / "models"
ALL = [file for file in sorted(FOLDER.rglob("*.yaml")) if not file.stem.startswith("classifier-")]
IN_THE_PAPERS_WAY = [
    *("bart-large", "flan-t5-xxl", "gpt2-large", "llama-2-13b", "mistral-7b", "t5-large"),
    *("flan-t5-base", "gemma-3-270m", "llama-3.2-1b", "qwen3-0.6b", "smollm2-360m"),
]


@pytest.mark.parametrize("file", ALL, ids=lambda file: file.stem)
def test_a_config_is_valid_and_states_only_differences(file: Path) -> None:
    written, config = yaml.safe_load(file.read_text()), to_dict(load_config(file))
    least = {"model": {"path": "?"}, "data": dict.fromkeys(("aspect", "corpus", "arm"), "?")}
    default = to_dict(parse_config(yaml.safe_dump(least)))
    for section, values in written.items():
        for key in values if section in {"model", "data", "optimization", "selection"} else ():
            assert config[section][key] != default[section][key], f"{section}.{key}"


@pytest.mark.parametrize("name", IN_THE_PAPERS_WAY)
def test_a_model_is_trained_as_in_the_paper(name: str) -> None:
    config = load_config(FOLDER / f"{name}.yaml")
    assert config.lora == PAPER_LORA
    settings = config.optimization
    assert (settings.learning_rate, settings.batch_size, settings.epochs) == (1e-4, 6, 10)
    assert (settings.gradient_accumulation, settings.max_steps) == (1, None)
    assert settings.packing == (name != "bart-large")
    assert (config.data.limit, config.data.protocol) == (None, "published")
