"""Tiny random checkpoints, made on the spot: no network, no learning."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import peft
import pytest
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

torch.set_num_threads(1)  # for models this small, threads cost more than they bring

_PAD, _BEGIN, _END = "<pad>", "<s>", "</s>"


def _tokenizer(template: str | None) -> transformers.PreTrainedTokenizerBase:
    """Return a tokenizer of single bytes, so that every text has tokens."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: index for index, token in enumerate([_PAD, _BEGIN, _END, *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    if template:
        specials = [(token, vocabulary[token]) for token in (_BEGIN, _END)]
        tokenizer.post_processor = processors.TemplateProcessing(
            single=template, special_tokens=specials
        )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=_PAD, bos_token=_BEGIN, eos_token=_END
    )


_SPECIALS: dict[str, Any] = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
_SIZE = len(_SPECIALS) + 256


def _llama() -> transformers.PreTrainedModel:
    return transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=_SIZE,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            max_position_embeddings=2048,
            **_SPECIALS,
        )
    )


def _gpt2() -> transformers.PreTrainedModel:
    return transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            vocab_size=_SIZE, n_embd=32, n_layer=2, n_head=4, n_positions=1024, **_SPECIALS
        )
    )


def _t5() -> transformers.PreTrainedModel:
    return transformers.T5ForConditionalGeneration(
        transformers.T5Config(
            vocab_size=_SIZE,
            d_model=32,
            d_kv=8,
            d_ff=64,
            num_layers=2,
            num_heads=4,
            decoder_start_token_id=0,
            **_SPECIALS,
        )
    )


def _bart() -> transformers.PreTrainedModel:
    return transformers.BartForConditionalGeneration(
        transformers.BartConfig(
            vocab_size=_SIZE,
            d_model=32,
            encoder_layers=2,
            decoder_layers=2,
            encoder_ffn_dim=64,
            decoder_ffn_dim=64,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            max_position_embeddings=1024,
            decoder_start_token_id=2,
            forced_eos_token_id=None,
            **_SPECIALS,
        )
    )


class _Kind(NamedTuple):
    """A model, what its tokenizer puts around a text, and how eagerly it ends one."""

    model: Callable[[], transformers.PreTrainedModel]
    template: str | None
    end_weight: float


_KINDS = {
    "llama": _Kind(_llama, "<s> $A", 2),
    "gpt2": _Kind(_gpt2, None, 4),
    "t5": _Kind(_t5, "$A </s>", 2),
    "bart": _Kind(_bart, "<s> $A </s>", 4),
}


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return the folder of a tiny random checkpoint of a kind, with a tokenizer of bytes."""

    @cache
    def build(name: str = "llama", seed: int = 0) -> Path:
        kind = _KINDS[name]
        torch.manual_seed(seed)
        model = kind.model()
        # Fresh weights are so small that a model repeats itself and never ends.
        for parameter in model.parameters():
            parameter.data.mul_(15 if parameter.dim() > 1 else 1)
        model.get_output_embeddings().weight.data[_SPECIALS["eos_token_id"]].mul_(kind.end_weight)
        folder = tmp_path_factory.mktemp(f"{name}-{seed}")
        model.save_pretrained(folder)
        _tokenizer(kind.template).save_pretrained(folder)
        return folder

    return build


@pytest.fixture(scope="session")
def lora(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return the folder of a random LoRA adapter of the tiny checkpoint of a kind."""

    @cache
    def build(name: str) -> Path:
        model = _KINDS[name].model()
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
