import json
import logging
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import peft
import pytest
import torch
from torch.nn import functional
from transformers import AutoTokenizer

from spor_tasks import checkpoints as evaluation
from spor_tasks.errors import ConfigError, SplitError
from spor_tasks.samples import Split, SplitPair
from spor_tasks.splits import registry
from spor_tasks.store import digest, digest_weights, read_manifest
from training import lora
from training.checkpoints import Base, load_base, versions
from training.config import (
    LoraConfig,
    ModelConfig,
    OptimizationConfig,
    TrainingConfig,
    load,
    to_dict,
)
from training.data import Row, Step, encode, make_pairs
from training.lora import add_lora, backward, load_step, target_loss, train

NAMES = ("llama", "gpt2", "t5", "bart")
CPU = torch.device("cpu")
PLAIN = OptimizationConfig()
Folders = Callable[..., Path]
Configure = Callable[..., TrainingConfig]


def rows_of(base: Base, pair: SplitPair) -> list[Row]:
    """Return rows of different lengths, of prompts and of texts."""
    pairs = [
        pair for arm in pair.arms for pair in make_pairs(arm, base.style, limit=None, seed=0)[-3:]
    ]
    return list(encode(pairs, base.tokenizer, base.style, None).rows)


def without_dropout(base: Base) -> peft.PeftModel:
    """Return the base with an adapter that does something, as fresh ones do not."""
    with lora.seeded(1, CPU):
        model = add_lora(base.model, LoraConfig(target_modules="all-linear"), base.style)
        for weight in model.parameters():
            if weight.requires_grad:
                weight.data.normal_(std=0.2)
    return model.eval()


def plain_loss(model: peft.PeftModel, row: Row) -> torch.Tensor:
    """Return the summed loss of one row as the model computes it: alone, logits everywhere."""
    labels = torch.tensor([row.labels])
    wanted = int((labels != -100).sum())
    if model.config.is_encoder_decoder:
        return model(input_ids=torch.tensor([row.input_ids]), labels=labels).loss * wanted
    logits = model(input_ids=torch.tensor([row.input_ids])).logits
    return functional.cross_entropy(logits[0], labels[0], ignore_index=-100, reduction="sum")


def gradients(model: peft.PeftModel) -> dict[str, torch.Tensor]:
    found = {
        name: weight.grad.clone()
        for name, weight in model.named_parameters()
        if weight.grad is not None
    }
    model.zero_grad()
    return found


def batches_of(base: Base, rows: list[Row], *sizes: int) -> list[lora.Batch]:
    numbers = iter(range(len(rows)))
    step = Step(0, tuple(tuple(next(numbers) for _ in range(size)) for size in sizes))
    return load_step(step, rows, base.pad_id, CPU)


@pytest.mark.parametrize("name", NAMES)
def test_the_loss_and_its_gradient_are_those_of_the_plain_computation(
    base: Folders, invented: SplitPair, name: str
) -> None:
    loaded = load_base(ModelConfig(str(base(name))))
    rows = rows_of(loaded, invented)
    model = without_dropout(loaded)
    (batch,) = batches_of(loaded, rows, len(rows))

    loss = target_loss(model, batch)
    loss.backward()
    found = gradients(model)
    expected = torch.stack([plain_loss(model, row) for row in rows]).sum()
    expected.backward()
    plain = gradients(model)

    assert len({len(row.input_ids) for row in rows}) > 2
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
    assert found.keys() == plain.keys()
    assert len(found) >= 16
    for weight, gradient in plain.items():
        torch.testing.assert_close(found[weight], gradient, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", ["llama", "bart"])
def test_accumulated_batches_are_one_mean_over_all_their_target_tokens(
    base: Folders, invented: SplitPair, name: str
) -> None:
    loaded = load_base(ModelConfig(str(base(name))))
    rows = rows_of(loaded, invented)
    model = without_dropout(loaded)

    targets = sum(label != -100 for row in rows for label in row.labels)
    mean = backward(model, batches_of(loaded, rows, 4), PLAIN, targets).item()
    together = gradients(model)
    accumulated = backward(model, batches_of(loaded, rows, 1, 3), PLAIN, targets).item()
    apart = gradients(model)

    plain = sum(plain_loss(model, row).item() for row in rows) / targets
    assert mean == pytest.approx(plain, rel=1e-5)
    assert accumulated == pytest.approx(mean, rel=1e-5)
    for weight, gradient in together.items():
        torch.testing.assert_close(apart[weight], gradient, rtol=1e-3, atol=1e-6)


def test_bfloat16_computes_nearly_the_same_loss(base: Folders, invented: SplitPair) -> None:
    loaded = load_base(ModelConfig(str(base("llama"))))
    rows = rows_of(loaded, invented)
    model = without_dropout(loaded)
    batches = batches_of(loaded, rows, 4)
    exact = backward(model, batches, PLAIN, 100).item()
    short = OptimizationConfig(precision="bfloat16")
    rounded = backward(model, batches, short, 100).item()
    assert rounded != exact
    assert rounded == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize(
    ("name", "first", "last"),
    [
        ("llama", 5.5832, 5.4695),
        ("gpt2", 5.5566, 5.4541),
        ("t5", 6.5078, 4.7877),
        ("bart", 5.5653, 5.4762),
    ],
)
def test_a_seeded_run_has_these_losses(
    configure: Configure, invented: SplitPair, name: str, first: float, last: float
) -> None:
    config = configure(
        "lora.target_modules=all-linear",
        "lora.dropout=0",  # transformers 5.17 and 5.23 call BART's layers in another order
        "optimization.learning_rate=1e-2",
        "optimization.epochs=5",
        name=name,
    )
    result = train(config, invented, progress=False)
    assert len(result.losses) == 10
    assert (result.losses[0], result.losses[-1]) == pytest.approx((first, last), abs=1e-3)
    assert result.losses[-1] < result.losses[0]


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
    assert "2 atoms are missing in Atom" in manifest.pop("violations")
    assert manifest.pop("versions") == versions()
    del manifest["git_commit"]
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
        "threads": 1,
    }
    assert load(result.adapter / "training.yaml") == config


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

    monkeypatch.setattr(lora, "add_lora", remember)
    train(config, invented, progress=False)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`is_gradient_checkpointing`", FutureWarning)
        loaded = load_base(ModelConfig(str(base(name))))
        model = peft.PeftModel.from_pretrained(loaded.model, config.output).eval()
    (batch,) = batches_of(loaded, rows_of(loaded, invented), 4)
    with torch.no_grad():
        assert torch.equal(target_loss(model, batch), target_loss(trained[0].eval(), batch))
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


def test_the_number_of_threads_is_measured_where_none_is_given(
    configure: Configure, invented: SplitPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measure(work: Callable[[], Any]) -> int:
        work()
        return 1

    given = configure("output=" + str(configure().output) + "-given")
    monkeypatch.setattr(lora, "fastest_threads", lambda _: pytest.fail("nothing to measure"))
    train(given, invented, progress=False)
    monkeypatch.setattr(lora, "fastest_threads", measure)
    measured = configure("optimization.threads=null")
    train(measured, invented, progress=False)
    # measuring must leave neither gradients nor used-up randomness behind
    name = "adapter_model.safetensors"
    assert (measured.output / name).read_bytes() == (given.output / name).read_bytes()


def test_a_loss_that_is_no_number_ends_the_run_and_nothing_is_saved(
    configure: Configure, invented: SplitPair
) -> None:
    config = configure("optimization.learning_rate=1e30", "optimization.epochs=5")
    message = r"the loss became (nan|inf) at step \d+ of 10, on the samples a\d, a"
    with pytest.raises(ConfigError, match=message):
        train(config, invented, progress=False)
    assert not config.output.exists()


@pytest.mark.parametrize("place", ["fit", "_save", "write_manifest"])
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

    def break_off(*_: object) -> Iterator[None]:
        raise error

    monkeypatch.setattr(lora, place, break_off)
    with pytest.raises(error):
        train(config, invented, progress=False)
    assert {path: path.read_bytes() for path in config.output.iterdir()} == before
    kept = ["adapter.unfinished"] if place != "fit" else []
    assert sorted(path.name for path in config.output.parent.iterdir()) == ["adapter", *kept]


def test_a_finished_adapter_is_not_trained_over(configure: Configure, invented: SplitPair) -> None:
    train(configure(), invented, progress=False)
    with pytest.raises(ConfigError, match="exists already"):
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

    monkeypatch.setattr(registry, "load", load_split)
    settings = ("data.arm=combination", "data.protocol=strict", "data.part=n4")
    train(configure(*settings), progress=False)
    assert asked == [("systematicity", "webnlg", "strict", "n4")]
    assert read_manifest(configure().output)["arm"] == "combination"


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        (["data.arm=match"], ConfigError, r"data\.arm 'match' is no arm"),
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


def test_only_the_needed_logits_are_computed(base: Folders, invented: SplitPair) -> None:
    loaded = load_base(ModelConfig(str(base("llama"))))
    rows = rows_of(loaded, invented)
    model = without_dropout(loaded)
    (batch,) = batches_of(loaded, rows, 4)
    sizes: list[int] = []
    head = model.get_output_embeddings()
    hook = head.register_forward_hook(lambda _, __, logits: sizes.append(logits.numel()))
    target_loss(model, batch)
    hook.remove()
    targets = int((batch["labels"] != -100).sum())
    assert sizes == [targets * head.out_features]
    assert targets < batch["labels"].numel() / 2
