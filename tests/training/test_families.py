"""Bases of other families: each is trained, loaded and read in batches, or is one clear line."""

import json
import re
from string import ascii_lowercase

import pytest
import torch
from safetensors.torch import load_file
from transformers import LlamaForCausalLM

from spor_tasks.core.errors import SporError
from spor_tasks.harness import host
from spor_tasks.models.hf import SporHF
from tests.support.families import CAUSAL, SEQ2SEQ, save_family
from tests.support.result_files import adapter_in
from tests.support.soak import soak
from training.batches import load_batch, target_losses
from training.encoding import Row

STEPS = ("optimization.max_steps=2", "optimization.epochs=null", "optimization.learning_rate=0.01")
PACKED = "optimization.packing=true"
# The line that a training, then a packed one, ends with; empty where it works.
EVERY_RUN = {
    "llama4_text": ("^$", "^$"),
    "mamba": ("^$", ""),  # its state goes on into the next pair, by more or less
    "qwen3_moe": ("^$", "^$"),
    "blenderbot": ("^$", "cannot be used with Blender.*: behind another pair, a pair's losses"),
    "longt5": ("^$", "cannot be used with LongT5.*: it raised RuntimeError"),
    "prophetnet": ("^ProphetNet.* predicts more than the next token",) * 2,
}
OTHERS = sorted((CAUSAL | SEQ2SEQ) - EVERY_RUN.keys())
LLAMA = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
ROWS = [Row([1, 40, 41, 42, 43], [40, 41, 42, 43, 2]), Row([1, 50, 60], [-100, 60, 2])]
PROMPTS = ["a", "Ida Holm", "the Gull is near", "one, two: three!", "x y z " * 9, "?"]


def said(call):
    """Return the error that a call ends with; empty without one."""
    try:
        call()
    except SporError as error:
        return str(error)
    return ""


@pytest.mark.filterwarnings("ignore")  # of the families' own code
@pytest.mark.parametrize("family", [*EVERY_RUN, *map(soak, OTHERS)])
def test_a_family_learns_is_read_as_it_learned_and_in_batches(family, tune, trained, tmp_path):
    base = tmp_path / family
    try:
        name = save_family(family, base)
    except Exception as error:  # noqa: BLE001 - of code that is not ours
        pytest.skip(f"cannot be made this small: {type(error).__name__}: {error}")
    packed = said(lambda: tune(f"model.path={base}", *STEPS, PACKED, to="packed"))
    line = said(lambda: tune(f"model.path={base}", *STEPS))
    for each, expected in zip((line, packed), EVERY_RUN.get(family, ("", "")), strict=True):
        assert re.search(expected, each)
        assert name in each or not each or "-1 tokens" in each  # of XLNet, which names no number
    if line:
        return
    settings = {"device": "cpu", "dtype": "float32", "peft": str(tmp_path / "adapter")}
    try:
        models = [SporHF(str(base), **settings, batch_size=size) for size in (1, 6)]
    except SporError:  # xLSTM cannot go on with what it has read
        assert family not in EVERY_RUN
        return
    with torch.no_grad():
        losses = [
            target_losses(model, load_batch(ROWS, 0, model))
            for model in (trained[-1].eval(), models[0].model)
        ]
    torch.testing.assert_close(*losses)
    settings = {"max_gen_toks": 8, "until": [*ascii_lowercase]}  # some end early
    asked = [host.request({}, each, settings, n) for n, each in enumerate(PROMPTS)]
    texts = [model.generate_until(asked, disable_tqdm=True) for model in models]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("method", ["__init__", "forward"])
def test_an_error_of_a_models_own_code_is_a_line_with_its_class(
    spor, tune, base, monkeypatch, method
):
    def fail(*_, **__):
        raise error

    folder, error = base("llama"), KeyError("a key of theirs")
    monkeypatch.setattr(LlamaForCausalLM, method, fail)
    words = f"eval --tasks spor_systematicity_mini --device cpu --model_args pretrained={folder}"
    lines = [spor(f"{words} --limit 1 --model {each}", 2) for each in ("hf", "spor-hf")]
    lines += [said(tune), said(lambda: tune(PACKED))]
    what = r"LlamaForCausalLM (raised|cannot be loaded:) KeyError: .*a key of theirs.*\n  .+"
    assert all(re.search(what, line) for line in lines)
    error = SystemExit(0)
    assert "LlamaForCausalLM" in said(tune)
    error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        tune(PACKED)


def test_linear_modules_are_all_that_peft_can_tune(tune, tmp_path):
    tuned = {
        "mamba": {"in_proj", "x_proj", "dt_proj"},  # not out_proj
        "llama4_text": {*LLAMA},  # no router
        "gemma3": {*LLAMA},  # not of images
        "qwen3_moe": {*LLAMA[:4]},  # no expert
        "mixtral": {"q_proj", "v_proj"},  # which peft knows
    }
    for family, expected in tuned.items():
        save_family(family, tmp_path / family)
        tune(f"model.path={tmp_path / family}", *STEPS, to=f"{family}-adapter")
        folder = tmp_path / f"{family}-adapter"
        assert {*adapter_in(folder).log.weights["tuned_modules"]} == expected
        weights = load_file(folder / "adapter_model.safetensors")
        assert {name.split(".")[-3] for name in weights} == expected
        assert not [name for name in weights if "vision" in name]


def test_a_pattern_of_target_modules_is_saved_as_it_is(tune, tmp_path):
    tune("lora.target_modules='.*q_proj'", *STEPS)
    settings = json.loads((tmp_path / "adapter" / "adapter_config.json").read_text())
    assert settings["target_modules"] == ".*q_proj"
