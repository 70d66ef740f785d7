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
    dump,
    known_keys,
    load,
    parse,
    settings_sha256,
    shared_settings,
    to_dict,
)

LEAST = """
model: {path: some/base}
data: {aspect: systematicity, corpus: webnlg, arm: atom}
output: runs/some
"""
WORDS = st.text(min_size=1)
COUNTS = st.integers(1, 10**6)
CONFIGS = st.builds(
    TrainingConfig,
    model=st.builds(
        ModelConfig,
        path=WORDS,
        revision=st.none() | WORDS,
        architecture=st.sampled_from(["auto", "causal", "seq2seq"]),
        dtype=st.sampled_from(["auto", "float32", "bfloat16", "float16"]),
        quantization=st.sampled_from(["nf4", None]),
    ),
    data=st.builds(
        DataConfig,
        aspect=WORDS,
        corpus=WORDS,
        arm=WORDS,
        protocol=st.sampled_from(["published", "strict", None]),
        part=st.sampled_from(["n3", "main", None]),
        limit=st.none() | COUNTS,
    ),
    output=WORDS.map(Path),
    lora=st.builds(
        LoraConfig,
        rank=COUNTS,
        alpha=st.floats(0, exclude_min=True, allow_infinity=False),
        dropout=st.floats(0, 1, exclude_max=True),
        target_modules=st.none() | st.just("all-linear") | st.lists(WORDS, min_size=1).map(tuple),
        dora=st.booleans(),
        rslora=st.booleans(),
    ),
    optimization=st.builds(
        OptimizationConfig,
        learning_rate=st.floats(0, exclude_min=True, allow_infinity=False),
        batch_size=COUNTS,
        gradient_accumulation=COUNTS,
        epochs=COUNTS,
        max_steps=st.none() | COUNTS,
        max_length=st.none() | COUNTS,
        group_by_length=st.booleans(),
        precision=st.sampled_from(["float32", "bfloat16", "float16"]),
        gradient_checkpointing=st.booleans(),
        compile=st.booleans(),
        threads=COUNTS,
        save_steps=st.none() | COUNTS,
        seed=st.integers(0, 2**32 - 1),
    ),
    selection=st.builds(
        SelectionConfig,
        policy=st.sampled_from(["dev-best", "test-best", "last"]),
        samples=COUNTS,
        seed=st.integers(),
        beams=COUNTS,
        batch_size=COUNTS,
    ),
    report_to=st.sampled_from(["tensorboard", "trackio", "wandb", None]),
    overwrite=st.booleans(),
)


@given(CONFIGS)
def test_a_resolved_config_reads_back_equal(config: TrainingConfig) -> None:
    assert parse(dump(config)) == config


@given(CONFIGS)
def test_a_resolved_config_means_the_same_to_any_yaml_reader(config: TrainingConfig) -> None:
    assert yaml.safe_load(dump(config)) == to_dict(config)


@given(WORDS)
def test_what_looks_like_a_number_stays_text_where_text_is_meant(arm: str) -> None:
    config = parse(LEAST)
    changed = replace(config, data=replace(config.data, arm=arm))
    assert parse(dump(changed)) == changed


@pytest.mark.parametrize("arm", ["1e-3", "1E5", "yes", "010", "null", "1:30", "true", "~", ".5"])
def test_text_that_a_yaml_reader_might_take_for_something_else_is_quoted(arm: str) -> None:
    config = parse(LEAST)
    changed = replace(config, data=replace(config.data, arm=arm))
    assert parse(dump(changed)) == changed


def test_defaults_are_those_of_the_paper() -> None:
    config = parse(LEAST)
    assert config.lora == LoraConfig(rank=8, alpha=32.0, dropout=0.1, target_modules=None)
    assert config.optimization == OptimizationConfig(
        learning_rate=1e-4, batch_size=6, gradient_accumulation=1, epochs=10, group_by_length=False
    )


def test_a_file_and_the_command_line_make_one_config(tmp_path: Path) -> None:
    file = tmp_path / "some.yaml"
    file.write_text(LEAST)
    overrides = ["lora.target_modules=[up, down]", "optimization.seed=3", "data.protocol=strict"]
    config = load(file, overrides)
    assert config.lora.target_modules == ("up", "down")
    assert config.optimization.seed == 3
    assert config.data == DataConfig("systematicity", "webnlg", "atom", protocol="strict")
    assert config.output == Path("runs/some")


def test_the_last_of_equal_settings_wins() -> None:
    assert parse(LEAST, ["lora.rank=2", "lora.rank=4"]).lora.rank == 4


@pytest.mark.parametrize("spelling", ["1e-3", "1E-3", "1.e-3", "0.001", ".001", "+.1e-2"])
def test_every_spelling_of_a_number_is_one(spelling: str) -> None:
    rate = parse(LEAST, [f"optimization.learning_rate={spelling}"]).optimization.learning_rate
    assert rate == 1e-3


def test_an_integer_may_stand_for_a_number() -> None:
    alpha = parse(LEAST, ["lora.alpha=16"]).lora.alpha
    assert (alpha, type(alpha)) == (16.0, float)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("optimization.seed=yes", "optimization.seed must be an integer, not 'yes'"),
        ("optimization.seed=true", "optimization.seed must be an integer, not true"),
        ("optimization.seed=1.0", "optimization.seed must be an integer, not 1.0"),
        ("optimization.seed=010", "optimization.seed must be an integer, not '010'"),
        ("optimization.seed=1_0", "optimization.seed must be an integer, not '1_0'"),
        ("optimization.seed=", "optimization.seed must be an integer, not null"),
        ("optimization.threads=null", "optimization.threads must be an integer, not null"),
        ("overwrite=1", "overwrite must be true or false, not 1"),
        ("overwrite=yes", "overwrite must be true or false, not 'yes'"),
        ("lora.alpha=true", "lora.alpha must be a number, not true"),
        ("lora.alpha=.inf", "lora.alpha must be a number, not '.inf'"),
        ("lora.alpha=1" + "0" * 400, "lora.alpha must be a number, not 1000"),
        ("model.path=3", "model.path must be text, not 3"),
        ("output=3", "output must be a path, not 3"),
        ("output=''", "output must be a path, not ''"),
        ("data.limit=all", "data.limit must be an integer or null, not 'all'"),
        ("data.protocol=Strict", "must be published or strict or null, not 'Strict'"),
        ("lora.target_modules=all", "a list of texts or all-linear or null, not 'all'"),
        ("lora.target_modules=[1]", r"a list of texts or all-linear or null, not \[1\]"),
        ("optimization.precision=[float32]", r"bfloat16 or float16, not \['float32'\]"),
    ],
)
def test_a_value_of_another_type_is_refused(setting: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        parse(LEAST, [setting])
    assert caught.value.where == "command line"


@pytest.mark.parametrize(
    "setting",
    [
        "lora.rank=0",
        "lora.alpha=0",
        "lora.alpha=1e999",
        "lora.dropout=1",
        "lora.dropout=-0.1",
        "lora.target_modules=[]",
        "data.limit=0",
        "model.path=''",
        "optimization.learning_rate=0",
        "optimization.batch_size=0",
        "optimization.gradient_accumulation=-1",
        "optimization.epochs=0",
        "optimization.epochs=null",
        "optimization.max_steps=0",
        "optimization.max_length=0",
        "optimization.threads=0",
        "optimization.save_steps=0",
        "selection.samples=0",
        "selection.beams=0",
        "selection.batch_size=0",
        "optimization.seed=-1",
        "optimization.seed=4294967296",
    ],
)
def test_a_value_out_of_range_is_refused_by_its_key(setting: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(LEAST, [setting])
    assert caught.value.what.startswith(setting.partition("=")[0])
    assert caught.value.where == "config"


def test_without_epochs_steps_are_enough() -> None:
    settings = parse(LEAST, ["optimization.epochs=null", "optimization.max_steps=5"]).optimization
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
        parse(LEAST, [f"{key}=1"])
    assert caught.value.remedy == f"Did you mean {meant}?"
    assert caught.value.where == "command line"


def test_a_key_like_no_other_is_refused_with_all_there_are() -> None:
    with pytest.raises(ConfigError) as caught:
        parse(LEAST, ["xyzzy=1"])
    assert all(key in str(caught.value.remedy) for key in known_keys())


def test_a_section_in_place_of_a_key_is_refused_with_its_keys() -> None:
    with pytest.raises(ConfigError, match="unknown key 'lora'") as caught:
        parse(LEAST, ["lora={rank: 4}"])
    keys = "lora.rank, lora.alpha, lora.dropout, lora.target_modules, lora.dora, lora.rslora"
    assert caught.value.remedy == f"The keys are {keys}."


@pytest.mark.parametrize(
    ("addition", "message"),
    [
        ("lora: {rnak: 4}", "unknown key 'lora.rnak'"),
        ("1: 4", "unknown key '1'"),
        ("lora: 4", "lora must hold keys and values, not 4"),
        ("lora:", "lora must hold keys and values, not null"),
        ("output: elsewhere", "a key stands twice"),
        ("lora: {rank: 4, rank: 8}", "a key stands twice"),
        ("lora: {rank: '4'}", "lora.rank must be an integer, not '4'"),
        ("optimization: {learning_rate: fast}", "must be a number, not 'fast'"),
        ("lora: {rank: [", "is not valid YAML"),
        ("lora: !!python/name:os.system", "is not valid YAML"),
    ],
)
def test_a_bad_file_is_refused_by_its_name(tmp_path: Path, addition: str, message: str) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(LEAST + addition)
    with pytest.raises(ConfigError, match=message) as caught:
        load(file)
    assert caught.value.where == str(file)


@pytest.mark.parametrize("text", ["", "- a", "a"])
def test_a_file_of_something_else_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="must hold keys and values"):
        parse(text)


@pytest.mark.parametrize("key", ["model.path", "data.aspect", "data.corpus", "data.arm", "output"])
def test_a_key_without_a_default_is_needed(key: str) -> None:
    settings = {
        name: value
        for name, value in {
            "model.path": "base",
            "data.aspect": "a",
            "data.corpus": "c",
            "data.arm": "b",
            "output": "o",
        }.items()
        if name != key
    }
    with pytest.raises(ConfigError, match=f"lacks the key {key}"):
        parse("{}", [f"{name}={value}" for name, value in settings.items()])


def test_a_word_that_is_no_setting_is_refused() -> None:
    with pytest.raises(ConfigError, match="'seed' is no setting") as caught:
        parse(LEAST, ["seed"])
    assert caught.value.remedy == "Write key=value."


@pytest.mark.parametrize("content", [None, b"\xff\xfe\xff"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "some.yaml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError, match="cannot be read") as caught:
        load(file)
    assert caught.value.where == str(file)


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
    ],
)
def test_runs_are_of_one_system_if_they_differ_in_seed_arm_and_places_alone(
    change: str, *, same: bool
) -> None:
    one, other = (
        settings_sha256(shared_settings(parse(LEAST, overrides))) for overrides in ((), (change,))
    )
    assert (one == other) == same
