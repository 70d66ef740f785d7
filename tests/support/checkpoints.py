"""Tiny random checkpoints, made on the spot: no network, no learning."""

from functools import cache

import peft
import pytest
import torch

from tests.support.tiny_bases import make_model, make_tokenizer

_TOKENS = 259
_END = 2
# How eagerly each ends a text.
_END_WEIGHTS = {"llama": 2, "gpt2": 4, "t5": 2, "bart": 4}


def _model(name):
    positions = 2048 if name == "llama" else 1024
    model = make_model(name, _TOKENS, width=32, heads=4, positions=positions)
    model.generation_config.forced_eos_token_id = None  # which BART has
    return model


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory):
    """Return the folder of a tiny random checkpoint of a kind, with a tokenizer of bytes."""

    @cache
    def build(name="llama", seed=0):
        torch.manual_seed(seed)
        model = _model(name)
        # Fresh weights are so small that a model repeats itself and never ends.
        for parameter in model.parameters():
            parameter.data.mul_(15 if parameter.dim() > 1 else 1)
        model.get_output_embeddings().weight.data[_END].mul_(_END_WEIGHTS[name])
        folder = tmp_path_factory.mktemp(f"{name}-{seed}")
        model.save_pretrained(folder)
        make_tokenizer(name, merges=(), padded=True).save_pretrained(folder)
        return folder

    return build


@pytest.fixture(scope="session")
def lora(tmp_path_factory):
    """Return the folder of a random LoRA adapter of the tiny checkpoint of a kind."""

    @cache
    def build(name):
        model = _model(name)
        task = "SEQ_2_SEQ_LM" if model.config.is_encoder_decoder else "CAUSAL_LM"
        torch.manual_seed(1)
        # Fresh adapters change nothing: one of the two matrices is zero.
        config = peft.LoraConfig(
            r=2, task_type=task, init_lora_weights=False, fan_in_fan_out=name == "gpt2"
        )
        folder = tmp_path_factory.mktemp(f"{name}-adapter")
        peft.get_peft_model(model, config).save_pretrained(folder)
        return folder

    return build
