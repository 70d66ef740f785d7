from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.errors import ConfigError
from training.config import (
    DataConfig,
    LoraConfig,
    ModelConfig,
    OptimizationConfig,
    SelectionConfig,
    TrainingConfig,
    load_config,
    parse_config,
    settings_sha256,
    shared_settings,
)
from training.settings import dump_settings, keys, to_dict

LEAST = """
model: {path: some/base}
data: {aspect: systematicity, corpus: webnlg, arm: atom}
output: runs/some
"""
WORDS = st.text(min_size=1)
COUNTS = st.integers(1, 10**6)
MAYBE = st.none() | COUNTS
POSITIVE = st.floats(0, exclude_min=True, allow_infinity=False)
SOME = st.booleans()
CONFIGS = st.builds(
    TrainingConfig,
    model=st.builds(ModelConfig, WORDS, st.none() | WORDS),
    data=st.builds(
        DataConfig,
        WORDS,
        WORDS,
        WORDS,
        limit=MAYBE,
        restarts=MAYBE,
        hide=st.lists(WORDS).map(tuple),
    ),
    output=WORDS.map(Path),
    lora=st.builds(
        LoraConfig,
        *(COUNTS, POSITIVE, st.floats(0, 1, exclude_max=True)),
        target_modules=st.none() | st.just("all-linear") | st.lists(WORDS, min_size=1).map(tuple),
    ),
    optimization=st.builds(
        OptimizationConfig,
        *(POSITIVE, COUNTS, COUNTS, COUNTS, MAYBE, MAYBE, SOME, SOME),
        threads=COUNTS,
        save_steps=MAYBE,
        seed=st.integers(0, 2**32 - 1),
    ),
    selection=st.builds(SelectionConfig, samples=COUNTS, seed=st.integers(), beams=COUNTS),
    overwrite=SOME,
)


@given(CONFIGS)
def test_a_resolved_config_reads_back_equal_and_means_the_same_to_any_yaml_reader(
    config: TrainingConfig,
) -> None:
    assert parse_config(dump_settings(config)) == config
    assert yaml.safe_load(dump_settings(config)) == to_dict(config)


@given(WORDS | st.sampled_from(["1e-3", "1E5", "yes", "010", "null", "1:30", "true", "~", ".5"]))
def test_what_looks_like_something_else_stays_text_where_text_is_meant(arm: str) -> None:
    config = parse_config(LEAST)
    changed = replace(config, data=replace(config.data, arm=arm))
    assert parse_config(dump_settings(changed)) == changed


def test_defaults_are_those_of_the_paper() -> None:
    config = parse_config(LEAST)
    assert config.lora == LoraConfig(rank=8, alpha=32.0, dropout=0.1, target_modules=None)
    assert config.optimization == OptimizationConfig(
        learning_rate=1e-4, batch_size=6, gradient_accumulation=1, epochs=10, group_by_length=False
    )


def test_a_file_and_the_command_line_make_one_config(tmp_path: Path) -> None:
    file = tmp_path / "some.yaml"
    file.write_text(LEAST)
    overrides = ["lora.target_modules=[up, down]", "optimization.seed=3", "data.protocol=strict"]
    config = load_config(file, overrides)
    assert config.lora.target_modules == ("up", "down")
    assert config.optimization.seed == 3
    assert config.data == DataConfig("systematicity", "webnlg", "atom", protocol="strict")
    assert config.output == Path("runs/some")


def test_the_last_of_equal_settings_wins() -> None:
    assert parse_config(LEAST, ["lora.rank=2", "lora.rank=4"]).lora.rank == 4


@pytest.mark.parametrize("spelling", ["1e-3", "1E-3", "1.e-3", "0.001", ".001", "+.1e-2"])
def test_every_spelling_of_a_number_is_one(spelling: str) -> None:
    rate = parse_config(
        LEAST, [f"optimization.learning_rate={spelling}"]
    ).optimization.learning_rate
    assert rate == 1e-3


def test_an_integer_may_stand_for_a_number() -> None:
    alpha = parse_config(LEAST, ["lora.alpha=16"]).lora.alpha
    assert (alpha, type(alpha)) == (16.0, float)


WRONG = {
    "optimization.seed": ["yes", "true", "1.0", "010", "1_0", "", "null", "-1", "4294967296"],
    "optimization.threads": ["null", "0"],
    "overwrite": ["1", "yes"],
    "lora.alpha": ["true", ".inf", "1" + "0" * 400, "0", "1e999"],
    "lora.rank": ["0", "'4'"],
    "lora.dropout": ["1", "-0.1"],
    "model.path": ["3", "''"],
    "output": ["3", "''"],
    "data.limit": ["all", "0"],
    "data.protocol": ["Strict"],
    "lora.target_modules": ["all", "{a: b}"],
    "objective": ["likelyhood", "null"],
    "optimization.precision": ["[float32]", "float64"],
    "optimization.learning_rate": ["0", "fast"],
    "optimization.batch_size": ["0"],
    "optimization.gradient_accumulation": ["-1"],
    "optimization.epochs": ["0"],
    "optimization.max_steps": ["0"],
    "optimization.max_length": ["0"],
    "optimization.save_steps": ["0"],
    "selection.samples": ["0"],
    "selection.beams": ["0"],
    "selection.batch_size": ["0"],
}


@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key, values in WRONG.items() for value in values]
)
def test_a_wrong_value_is_refused_with_its_key_and_place(key: str, value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(LEAST, [f"{key}={value}"])
    assert caught.value.where == "command line"
    assert caught.value.what.startswith(f"{key} must ")
    assert ", not " in caught.value.what


@pytest.mark.parametrize(
    ("setting", "allowed"),
    [
        ("data.limit=all", ["an integer", "null"]),
        ("data.protocol=Strict", ["'published'", "'strict'", "null"]),
        ("lora.target_modules=all", ["a list", "'all-linear'", "null"]),
        ("lora.rank=0", ["1"]),
        ("objective=likelyhood", ["'likelihood'"]),
    ],
)
def test_what_is_allowed_is_said(setting: str, allowed: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(LEAST, [setting])
    assert all(word in caught.value.what for word in allowed)


def test_an_item_of_a_list_is_named_by_its_number() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(LEAST, ["lora.target_modules=[up, 1]"])
    assert caught.value.what.startswith("lora.target_modules[1] must ")
    assert caught.value.where == "command line"


@pytest.mark.parametrize("setting", ["lora.target_modules=[]", "optimization.epochs=null"])
def test_a_rule_that_no_type_says_is_told_by_its_key(setting: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(LEAST, [setting])
    assert caught.value.what.startswith(setting.partition("=")[0])
    assert caught.value.where == "config"


def test_keys_that_version_0_1_did_not_have_are_written_only_where_they_say_something() -> None:
    new = ("objective=likelihood", "data.seed=null", "data.restarts=null", "data.hide=[]")
    assert dump_settings(parse_config(LEAST, new)) == dump_settings(parse_config(LEAST))
    assert "objective" not in dump_settings(parse_config(LEAST))
    assert to_dict(parse_config(LEAST, ["data.seed=0"]))["data"]["seed"] == 0


def test_without_epochs_steps_are_enough() -> None:
    settings = parse_config(
        LEAST, ["optimization.epochs=null", "optimization.max_steps=5"]
    ).optimization
    assert (settings.epochs, settings.max_steps) == (None, 5)


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("lora.rnak", "lora.rank"),
        ("learning_rate", "optimization.learning_rate"),
        ("optimisation.learning_rate", "optimization.learning_rate"),
        ("lernrate", "optimization.learning_rate"),
    ],
)
def test_a_mistyped_key_is_refused_with_the_one_that_was_meant(key: str, meant: str) -> None:
    with pytest.raises(ConfigError, match=f"unknown key '{key}'") as caught:
        parse_config(LEAST, [f"{key}=1"])
    assert caught.value.remedy == f"Did you mean {meant}?"
    assert caught.value.where == "command line"


def test_a_key_like_no_other_is_refused_with_all_there_are() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(LEAST, ["xyzzy=1"])
    assert all(key in str(caught.value.remedy) for key in keys(TrainingConfig))


def test_a_section_in_place_of_a_key_is_refused_with_its_keys() -> None:
    with pytest.raises(ConfigError, match="'lora'") as caught:
        parse_config(LEAST, ["lora={rank: 4}"])
    assert caught.value.remedy
    assert "lora.rank, lora.alpha" in caught.value.remedy
    assert "model.path" not in caught.value.remedy


@pytest.mark.parametrize(
    ("addition", "named"),
    [
        ("lora: {rnak: 4}", "'lora.rnak'"),
        ("learning_rate: 4", "'learning_rate'"),
        ("1: 4", "'1'"),
        ("lora: 4", "lora must be a mapping, not 4"),
        ("lora:", "lora must be a mapping, not null"),
        ("output: elsewhere", "twice"),
        ("lora: {rank: 4, rank: 8}", "twice"),
        ("lora: {rank: '4'}", "lora.rank must be an integer, not '4'"),
        ("optimization: {learning_rate: fast}", "optimization.learning_rate .*'fast'"),
        ("overwrite: !!timestamp 2024-01-01", "timestamp"),
        ('report_to: "\\ud800"', "Unicode"),
        ("lora: {rank: [", "is not valid YAML"),
        ("lora: !!python/name:os.system", "is not valid YAML"),
    ],
)
def test_a_bad_file_is_refused_by_its_name(tmp_path: Path, addition: str, named: str) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(LEAST + addition)
    with pytest.raises(ConfigError, match=named) as caught:
        load_config(file)
    assert caught.value.where == str(file)


def test_an_override_does_not_hide_a_fault_of_the_file() -> None:
    with pytest.raises(ConfigError, match="lora must be a mapping") as caught:
        parse_config(f"{LEAST}lora: 4", ["lora.rank=4"])
    assert caught.value.where == "config"


@pytest.mark.parametrize("text", ["", "- a", "a"])
def test_a_file_of_something_else_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="must be a mapping"):
        parse_config(text)


@pytest.mark.parametrize("key", ["model.path", "data.aspect", "data.corpus", "data.arm", "output"])
def test_a_key_without_a_default_is_needed(key: str) -> None:
    needed = ("model.path=b", "data.aspect=a", "data.corpus=c", "data.arm=d", "output=o")
    with pytest.raises(ConfigError, match=f"lacks the key {key}"):
        parse_config("{}", [setting for setting in needed if not setting.startswith(key)])


def test_a_word_that_is_no_setting_is_refused() -> None:
    with pytest.raises(ConfigError, match="'seed'") as caught:
        parse_config(LEAST, ["seed"])
    assert caught.value.remedy == "Write key=value."


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ("optimization.seed=3", True),
        ("output=elsewhere", True),
        ("data.arm=combination", True),
        ("model.path=another/place", True),
        ("optimization.save_steps=7", True),
        ("data.limit=150", False),
        ("optimization.precision=bfloat16", False),
        ("optimization.threads=2", False),
        ("lora.rank=4", False),
        ("selection.policy=last", False),
        ("model.quantization=nf4", False),
        ("objective=likelihood", True),
    ],
)
def test_runs_are_of_one_system_if_they_differ_in_seed_arm_and_places_alone(
    change: str, *, same: bool
) -> None:
    one, other = (
        settings_sha256(shared_settings(parse_config(LEAST, overrides)))
        for overrides in ((), (change,))
    )
    assert (one == other) == same
