import json
import logging
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import peft
import pytest
import torch
from transformers import AutoTokenizer

from spor_tasks.aspects import named
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.folders import read_manifest
from spor_tasks.core.sample import Split, SplitPair
from spor_tasks.core.weights import digest_weights
from spor_tasks.harness import checkpoints as evaluation
from tests.training.losses import rows_of, without_dropout
from training import adapters, batches, lora, processes, threads
from training.adapters import add_lora
from training.bases import load_base, versions
from training.batches import load_batch, target_loss
from training.config import (
    LoraConfig,
    ModelConfig,
    OptimizationConfig,
    TrainingConfig,
    load_config,
    settings_sha256,
    shared_settings,
)
from training.encoding import Rows, plan_steps
from training.fit import fit
from training.lora import train
from training.objectives.likelihood import LIKELIHOOD, Likelihood
from training.settings import to_dict
from training.state import Run

NAMES = ("llama", "gpt2", "t5", "bart")
Folders = Callable[..., Path]
Configure = Callable[..., TrainingConfig]


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("llama", 5.5832, 5.4695),
        ("gpt2", 5.5594, 5.4446),
        ("t5", 6.6053, 4.3363),
        ("bart", 5.5653, 5.4762),
    ],
)
def test_a_seeded_run_has_these_losses(
    configure: Configure, invented: SplitPair, name: str, first: float, last: float
) -> None:
    config = configure(
        "lora.target_modules=all-linear",
        "lora.dropout=0",
        "optimization.learning_rate=1e-2",
        "optimization.epochs=5",
        name=name,
    )
    result = train(config, invented, progress=False)
    assert len(result.losses) == 10
    assert (result.losses[0], result.losses[-1]) == pytest.approx((first, last), abs=1e-3)
    assert result.losses[-1] < result.losses[0]


@pytest.mark.parametrize("name", ["llama", "t5"])
def test_a_packed_run_has_the_losses_of_a_padded_one(
    configure: Configure, invented: SplitPair, tmp_path: Path, name: str
) -> None:
    def run(*, packing: bool) -> tuple[tuple[float, ...], float]:
        output = tmp_path / f"packing-{packing}"
        config = configure(
            "lora.dropout=0",
            "optimization.learning_rate=1e-2",
            "optimization.epochs=5",
            f"optimization.packing={packing}".lower(),
            f"output={output}",
            name=name,
        )
        losses = train(config, invented, progress=False).losses
        return losses, read_manifest(output)["padding"]

    padded, padding = run(packing=False)
    packed, no_padding = run(packing=True)
    assert packed == pytest.approx(padded, rel=1e-4)
    assert packed[-1] < 0.99 * packed[0]
    assert (no_padding, padding > 0) == (0, True)


@pytest.mark.parametrize("name", ["llama", "t5"])
def test_four_bits_learn_about_the_same_and_are_not_disturbed_by_evaluation(
    configure: Configure, tmp_path: Path, name: str
) -> None:
    """Where bitsandbytes evaluates, gradients may be lost in silence afterwards."""

    def losses(number: int, *settings: str) -> tuple[float, ...]:
        config = configure(
            "data.corpus=mini",
            "data.limit=12",
            "lora.target_modules=all-linear",
            "lora.dropout=0",
            "optimization.learning_rate=1e-2",
            "optimization.epochs=3",
            *settings,
            f"output={tmp_path / str(number)}",
            name=name,
        )
        return train(config, progress=False).losses

    four_bits = "model.quantization=nf4"
    judged = ("selection.policy=dev-best", "selection.samples=2", "optimization.packing=true")
    expected, found = losses(0, four_bits), losses(1, four_bits, *judged)
    plain = losses(2)
    assert found == pytest.approx(expected, rel=1e-2)
    assert found == pytest.approx(plain, rel=0.02)
    assert found[0] != pytest.approx(plain[0], rel=1e-5)


def test_float16_scales_its_losses_and_learns_the_same(base: Folders, invented: SplitPair) -> None:
    """On a CPU, where `train` refuses it because it is slow, it can be tried all the same."""

    def losses(precision: Literal["float32", "float16"]) -> tuple[list[float], float]:
        loaded = load_base(ModelConfig(str(base("llama"))))
        settings = OptimizationConfig(
            batch_size=2, gradient_accumulation=2, epochs=4, learning_rate=1e-2, precision=precision
        )
        encoded = Rows(tuple(rows_of(loaded, invented)), ("a",) * 4, 0, 0)
        steps = plan_steps([1] * 4, settings)
        run = Run(without_dropout(loaded), settings)
        for _ in fit(run, LIKELIHOOD, steps, encoded, pad_id=loaded.pad_id, team=processes.join()):
            pass
        return run.losses, run.scaler.get_scale()

    plain, none = losses("float32")
    scaled, scale = losses("float16")
    assert (none, scale > 1) == (1.0, True)
    assert scaled == pytest.approx(plain, rel=5e-4)
    assert scaled != plain
    assert scaled[-1] < scaled[0] - 0.05


def test_packing_is_refused_where_it_would_change_what_is_learned(
    configure: Configure, invented: SplitPair, tmp_path: Path
) -> None:
    config = configure("optimization.packing=true", name="bart")
    with pytest.raises(ConfigError, match=r"optimization\.packing does not suit this model"):
        train(config, invented, progress=False)
    assert list(tmp_path.iterdir()) == []


def test_too_little_memory_to_try_packing_is_told(
    configure: Configure, invented: SplitPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_out(*_: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    monkeypatch.setattr(batches, "target_losses", run_out)
    with pytest.raises(ConfigError, match="memory ran out on the longest pair"):
        train(configure("optimization.packing=true"), invented, progress=False)


def test_equal_settings_give_equal_bytes_and_another_seed_gives_others(
    configure: Configure, invented: SplitPair, tmp_path: Path
) -> None:
    def adapter(name: str, seed: int) -> bytes:
        output = tmp_path / name
        config = configure(f"output={output}", f"optimization.seed={seed}")
        torch.manual_seed(len(name))  # which must not matter
        train(config, invented, progress=False)
        return (output / "adapter_model.safetensors").read_bytes()

    first = adapter("first", 0)
    assert adapter("second", 0) == first
    assert adapter("third", 1) != first


def test_training_leaves_the_process_as_it_was(configure: Configure, invented: SplitPair) -> None:
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    train(
        configure("data.limit=1", f"optimization.threads={threads + 1}"), invented, progress=False
    )
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads


def test_a_finished_run_says_all_that_is_needed_to_trust_and_repeat_it(
    configure: Configure, base: Folders, invented: SplitPair
) -> None:
    config = configure("optimization.epochs=3", "optimization.seed=7", "data.limit=8")
    result = train(config, invented, progress=False)
    manifest = read_manifest(result.adapter)

    assert (result.adapter, result.pairs, result.pairs_seen) == (config.output, 8, 24)
    assert len(result.losses) == 6
    means = [sum(result.losses[epoch : epoch + 2]) / 2 for epoch in (0, 2, 4)]
    assert manifest.pop("losses") == pytest.approx(means)
    assert manifest.pop("wall_seconds") >= manifest.pop("fitting_seconds")
    assert result.seconds > 0
    assert manifest.pop("peak_memory_bytes") > 10**6
    assert 0 < manifest.pop("padding") < 0.5
    assert "2 atoms do not occur in Atom" in manifest.pop("violations")
    assert manifest.pop("versions") == versions()
    del manifest["git_commit"]
    settings = manifest.pop("settings")
    assert manifest.pop("settings_sha256") == settings_sha256(settings)
    assert settings == json.loads(json.dumps(shared_settings(config)))
    assert manifest == {
        "schema": 1,
        "kind": "adapter",
        "aspect": "systematicity",
        "corpus": "webnlg",
        "protocol": "published",
        "part": None,
        "arm": "atom",
        "arm_sha256": digest(invented.arms[0].samples),
        "test_sha256": digest(invented.test.samples),
        "prompt_style": "causal",
        "seed": 7,
        "pairs": 8,
        "pairs_too_long": 0,
        "pairs_split_apart": 0,
        "steps": 6,
        "resumed_from": 0,
        "selection": {
            "policy": "last",
            "metric": "parent",
            "samples": 0,
            "samples_sha256": digest([]),
            "with_unseen_units": 0,
            "held_out": 0,
            "scores": [],
            "epoch": 3,
            "seconds": 0.0,
        },
        "base_model": {
            "path": str(base("llama")),
            "revision": None,
            "sha256": digest_weights(base("llama")),
        },
        "adapter_sha256": digest_weights(result.adapter),
        "config": json.loads(json.dumps(to_dict(config))),
        "device": "cpu",
        "processes": 1,
    }
    assert load_config(result.adapter / "training.yaml") == config


@pytest.mark.parametrize("name", NAMES)
def test_a_saved_adapter_gives_what_was_trained_and_its_base_and_tokenizer_fit(
    configure: Configure,
    base: Folders,
    invented: SplitPair,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    config = configure("lora.target_modules=all-linear", "lora.dropout=0", name=name)
    trained: list[peft.PeftModel] = []

    def remember(*settings: Any) -> peft.PeftModel:  # noqa: ANN401 - of add_lora
        trained.append(add_lora(*settings))
        return trained[-1]

    monkeypatch.setattr(adapters, "add_lora", remember)
    train(config, invented, progress=False)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
        loaded = load_base(ModelConfig(str(base(name))))
        model = peft.PeftModel.from_pretrained(loaded.model, config.output).eval()
    rows = rows_of(loaded, invented)
    with torch.no_grad():
        losses = [
            target_loss(one, load_batch(rows, loaded.pad_id, one))
            for one in (model, trained[0].eval())
        ]
    assert torch.equal(*losses)
    saved = AutoTokenizer.from_pretrained(config.output)
    assert saved("Ann sang.")["input_ids"] == loaded.tokenizer("Ann sang.")["input_ids"]
    found = evaluation.find_adapter({"pretrained": str(base(name)), "peft": str(config.output)})
    assert found == read_manifest(config.output)


def test_the_adapter_s_modules_are_written_in_one_order(
    configure: Configure, invented: SplitPair
) -> None:
    config = configure("lora.target_modules=all-linear")
    train(config, invented, progress=False)
    settings = json.loads((config.output / "adapter_config.json").read_bytes())
    modules = settings["target_modules"]
    assert modules == sorted(modules)
    kinds = {"down_proj", "gate_proj", "k_proj", "o_proj", "q_proj", "up_proj", "v_proj"}
    assert {name.rpartition(".")[2] for name in modules} == kinds
    assert (settings["r"], settings["lora_alpha"], settings["lora_dropout"]) == (8, 32.0, 0.1)


@pytest.mark.parametrize(
    ("name", "modules"),
    [
        ("llama", ["q_proj", "v_proj"]),
        ("gpt2", ["c_attn"]),
        ("t5", ["q", "v"]),
        ("bart", ["q_proj", "v_proj"]),
    ],
)
def test_the_default_modules_are_the_paper_s(base: Folders, name: str, modules: list[str]) -> None:
    loaded = load_base(ModelConfig(str(base(name))))
    model = add_lora(loaded.model, LoraConfig(), loaded.style)
    assert sorted(model.peft_config["default"].target_modules) == modules
    trained = {name for name, weight in model.named_parameters() if weight.requires_grad}
    assert trained
    assert all(".lora_" in name for name in trained)


def test_modules_that_the_model_does_not_have_are_refused(
    configure: Configure, invented: SplitPair, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=r"lora\.target_modules does not fit this model"):
        train(configure("lora.target_modules=[c_attn]"), invented, progress=False)
    assert list(tmp_path.iterdir()) == []


def test_pairs_that_are_too_long_are_left_out_and_that_is_said(
    configure: Configure, invented: SplitPair, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        result = train(configure("optimization.max_length=115"), invented, progress=False)
    left_out = 10 - result.pairs
    assert 0 < left_out < 10
    assert f"{left_out} more pairs are too long and are left out" in caplog.text
    assert read_manifest(result.adapter)["pairs_too_long"] == left_out


@pytest.mark.parametrize("limit", ["null", "1000"])
def test_no_pair_is_longer_than_the_model_has_positions(
    configure: Configure, invented: SplitPair, limit: str
) -> None:
    sample = invented.arms[0].samples[0]
    long = replace(sample, references=("A short one.", "o" * 256))
    pair = replace(invented, arms=(Split("atom", (long,)), invented.arms[1]))
    result = train(configure(f"optimization.max_length={limit}"), pair, progress=False)
    assert result.pairs == 1
    assert read_manifest(result.adapter)["pairs_too_long"] == 1


def test_the_fastest_number_of_threads_is_suggested_and_not_taken(
    configure: Configure,
    invented: SplitPair,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    used = []
    step = Likelihood.step

    def measure(work: Callable[[], Any]) -> int:
        work()
        return 3

    def watched(*arguments: Any) -> torch.Tensor:  # noqa: ANN401 - passed on
        used.append(torch.get_num_threads())
        return step(*arguments)

    monkeypatch.setattr(threads, "fastest_threads", lambda _: pytest.fail("nobody asked"))
    given = configure("output=" + str(configure().output) + "-given")
    train(given, invented, progress=False)
    monkeypatch.setattr(threads, "fastest_threads", measure)
    monkeypatch.setattr(Likelihood, "step", watched)
    advised = configure()
    with caplog.at_level("INFO"):
        train(advised, invented, progress=False, advise=True)
    assert "optimization.threads=3 is faster than the 1 that are set" in caplog.text
    assert set(used) == {1}
    # measuring must leave neither gradients nor used-up randomness behind
    name = "adapter_model.safetensors"
    assert (advised.output / name).read_bytes() == (given.output / name).read_bytes()


def test_a_loss_that_is_no_number_ends_the_run_and_nothing_is_saved(
    configure: Configure, invented: SplitPair
) -> None:
    config = configure("optimization.learning_rate=1e30", "optimization.epochs=5")
    message = r"the loss became (nan|inf) at step \d+ of 10, on the samples a\d, a"
    with pytest.raises(ConfigError, match=message):
        train(config, invented, progress=False)
    assert not config.output.exists()


@pytest.mark.parametrize("place", ["fit", "save_adapter", "describe_adapter"])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_run_that_breaks_off_loses_nothing_and_leaves_only_what_it_can_go_on_from(
    configure: Configure,
    invented: SplitPair,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    error: type[BaseException],
) -> None:
    config = configure("overwrite=true")
    train(config, invented, progress=False)
    before = {path: path.read_bytes() for path in config.output.iterdir()}

    def break_off(*_: object, **__: object) -> Iterator[None]:
        raise error

    monkeypatch.setattr(lora, place, break_off)
    with pytest.raises(error):
        train(config, invented, progress=False)
    assert {path: path.read_bytes() for path in config.output.iterdir()} == before
    kept = ["adapter.unfinished"] if place != "fit" else []
    assert sorted(path.name for path in config.output.parent.iterdir()) == ["adapter", *kept]


def test_a_finished_adapter_is_not_trained_over(configure: Configure, invented: SplitPair) -> None:
    train(configure(), invented, progress=False)
    with pytest.raises(ConfigError, match="already exists"):
        train(configure("optimization.seed=1"), invented, progress=False)
    assert read_manifest(configure().output)["seed"] == 0
    train(configure("optimization.seed=1", "overwrite=true"), invented, progress=False)
    assert read_manifest(configure().output)["seed"] == 1


def test_the_split_is_that_which_the_settings_name(
    configure: Configure, invented: SplitPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[object, ...]] = []

    def load_split(*name: object) -> SplitPair:
        asked.append(name)
        return invented

    monkeypatch.setattr(named, "load", load_split)
    settings = ("data.arm=combination", "data.protocol=strict", "data.part=n4")
    train(configure(*settings), progress=False)
    assert asked == [("systematicity", "webnlg", "strict", "n4")]
    assert read_manifest(configure().output)["arm"] == "combination"


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        (["data.arm=match"], ConfigError, r"'match'"),
        (["data.aspect=productivty"], SplitError, "there is no split"),
        (["model.path=no/such/base"], ConfigError, "there is no such folder"),
    ],
)
def test_what_does_not_exist_is_refused_and_leaves_nothing(
    configure: Configure,
    tmp_path: Path,
    settings: list[str],
    error: type[Exception],
    message: str,
) -> None:
    config = configure("data.corpus=mini", *settings)
    with pytest.raises(error, match=message):
        train(config, progress=False)
    assert list(tmp_path.iterdir()) == []


def test_a_progress_bar_shows_loss_and_speed(
    configure: Configure, invented: SplitPair, capsys: pytest.CaptureFixture[str]
) -> None:
    train(configure(), invented)
    bar = capsys.readouterr().err
    assert "10/10" in bar
    assert "pairs/s" in bar
    assert "loss=5." in bar
