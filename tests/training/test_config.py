from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.errors import ConfigError
from tests.conftest import REPOSITORY
from training import shipped
from training.config import (
    DataConfig,
    ModelConfig,
    OptimizationConfig,
    SelectionConfig,
    TrainingConfig,
    load_config,
    parse_config,
)
from training.identity import settings_sha256, shared_settings
from training.settings import dump_settings, to_dict

LEAST = """
model: {path: some/base}
data: {aspect: systematicity, corpus: webnlg, arm: atom}
output: runs/some
"""
WORDS = st.text(min_size=1)
COUNTS = st.integers(1, 10**6)
MAYBE = st.none() | COUNTS
POSITIVE = st.floats(0, exclude_min=True, allow_infinity=False)
CONFIGS = st.builds(
    TrainingConfig,
    model=st.builds(ModelConfig, WORDS),
    data=st.builds(DataConfig, WORDS, WORDS, WORDS, limit=MAYBE, hide=st.lists(WORDS).map(tuple)),
    output=WORDS.map(Path),
    lora=st.fixed_dictionaries({"r": COUNTS}, optional={"target_modules": st.lists(WORDS)}),
    optimization=st.builds(OptimizationConfig, POSITIVE, save_steps=MAYBE, packing=st.booleans()),
    selection=st.builds(SelectionConfig, seed=st.integers()),
)


@given(CONFIGS)
def test_a_resolved_config_reads_back_equal_in_any_yaml_reader(config):
    assert parse_config(dump_settings(config)) == config
    assert yaml.safe_load(dump_settings(config)) == to_dict(config)


def test_a_file_names_the_folder_of_its_adapters(tmp_path):
    file = tmp_path / "some.yaml"
    file.write_text(LEAST.replace("output: runs/some", ""))
    found = {
        load_config(file, overrides).output
        for overrides in ([], ["data.arm=combination"], ["optimization.seed=1"], ["data.part=n3"])
    }
    assert len(found) == 4
    assert Path("runs/some/systematicity-webnlg-atom-0") in found


WRONG = {
    "optimization.seed": ["fast", "null", "-1", "4294967296"],
    "optimization.threads": ["null", "0", "1000000"],
    "optimization.precision": ["[float32]", "float16"],
    "optimization.learning_rate": ["0", "fast", ".inf"],
    "optimization.batch_size": ["0"],
    "optimization.epochs": ["0"],
    "overwrite": ["perhaps"],
    "lora": ["4", "null"],
    "model.path": ["''"],
    "data.limit": ["all", "0"],
    "objective": ["likelyhood"],
    "selection.policy": ["first"],
    "optimization.compile": ["true"],
    "xyzzy": ["1"],
}


@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key, values in WRONG.items() for value in values]
)
def test_a_wrong_value_or_key_is_refused_by_its_key(key, value):
    with pytest.raises(ConfigError) as caught:
        parse_config(LEAST, [f"{key}={value}"])
    assert key.rpartition(".")[2] in caught.value.what
    assert (caught.value.where, "\n" in caught.value.what) == ("config", False)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("optimization.learningrate", "optimization.learning_rate"),
        ("learning_rate", "optimization.learning_rate"),
        ("optimisation.epochs", "optimization"),
        ("data.arms", "data.arm"),
        ("modle.path", "model"),
    ],
)
def test_a_misspelt_key_gets_the_nearest(key, nearest):
    with pytest.raises(ConfigError, match="there is no such setting") as caught:
        parse_config(LEAST, [f"{key}=1"])
    assert nearest in caught.value.remedy.split(". ")[0]


def test_every_fault_of_a_file_is_in_one_error(tmp_path):
    file = tmp_path / "bad.yaml"
    file.write_text(LEAST + "optimization: {epochs: 0, sede: 1}")
    with pytest.raises(
        ConfigError, match=r"optimization\.epochs: .*optimization\.sede: "
    ) as caught:
        load_config(file)
    assert caught.value.where == str(file)


@pytest.mark.parametrize("text", ["", "- a", "a", "lora: {r: [", "lora: !!python/name:os.system"])
def test_a_file_of_something_else_is_refused(text):
    with pytest.raises(ConfigError):
        parse_config(text)


SAME = (
    *("optimization.seed=3", "output=elsewhere", "data.arm=combination"),
    *("model.path=another/place", "optimization.save_steps=7", "objective=likelihood"),
    "optimization.cuda_graphs=true",
)
OTHER = (
    *("data.limit=150", "optimization.precision=bfloat16", "optimization.threads=2", "lora.r=4"),
    *("selection.policy=last", "model.quantization=nf4"),
)


def test_runs_are_of_one_system_if_they_differ_in_seed_arm_and_places_alone():
    def system(*overrides):
        return settings_sha256(shared_settings(parse_config(LEAST, overrides)))

    assert {system(change) for change in SAME} == {system()}
    assert len({system(), *map(system, OTHER)}) == 1 + len(OTHER)


# --- The files of models -------------------------------------------------------------------------

FOLDER = REPOSITORY / "configs" / "models"
ALL = [file for file in sorted(FOLDER.rglob("*.yaml")) if not file.stem.startswith("classifier-")]
IN_THE_PAPERS_WAY = [
    *("bart-large", "flan-t5-xxl", "gpt2-large", "llama-2-13b", "mistral-7b", "t5-large"),
    *("flan-t5-base", "gemma-3-270m", "llama-3.2-1b", "qwen3-0.6b", "smollm2-360m"),
]


@pytest.mark.parametrize("file", ALL, ids=lambda file: file.stem)
def test_a_config_is_valid_and_states_only_differences(file):
    written, config = yaml.safe_load(file.read_text()), to_dict(load_config(file))
    least = {"model": {"path": "?"}, "data": dict.fromkeys(("aspect", "corpus", "arm"), "?")}
    default = to_dict(parse_config(yaml.safe_dump(least)))
    for section, values in written.items():
        for key in values if section in {"model", "data", "optimization", "selection"} else ():
            assert config[section][key] != default[section][key], f"{section}.{key}"


@pytest.mark.parametrize("name", IN_THE_PAPERS_WAY)
def test_a_model_is_trained_as_in_the_paper(name):
    config = load_config(FOLDER / f"{name}.yaml")
    assert config.lora == {"r": 8, "lora_alpha": 32, "lora_dropout": 0.1, "target_modules": None}
    settings = config.optimization
    assert (settings.learning_rate, settings.batch_size, settings.epochs) == (1e-4, 6, 10)
    assert (settings.gradient_accumulation, settings.max_steps) == (1, None)
    assert (settings.group_by_length, settings.packing) == (False, name != "bart-large")
    assert (config.data.limit, config.data.protocol) == (None, "published")


def test_shipped_files_are_found_from_any_folder_after_ones_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "configs/models/mini.yaml"
    base = load_config(Path(shipped.find(name))).model.path
    assert Path(base).samefile(REPOSITORY / "training/pretrained/mini")
    for own in (name, "training/pretrained/mini"):
        Path(own).parent.mkdir(parents=True)
        Path(own).touch()
        assert shipped.find(own) == own
    assert shipped.find("mini") == "mini"
    with pytest.raises(ConfigError, match="does not exist") as caught:
        load_config(Path(shipped.find("configs/models/smolm2.yaml")))
    assert "are configs/models/smollm2-" in str(caught.value.remedy)
