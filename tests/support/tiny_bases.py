"""Tiny random bases of every architecture of the paper.

They drop nothing out, so that losses can be compared: what is drawn, and where, depends on how a
batch is laid out, and on the version of transformers.
"""

from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

_PAD, _BEGIN, _END = "<pad>", "<s>", "</s>"
_IDS: dict[str, Any] = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
# One merge, so that one token can span the end of a prompt and a text that opens with a quote.
_MERGES = [(":", '"')]
_ALPHABET = sorted(pre_tokenizers.ByteLevel.alphabet())
_VOCABULARY = [_PAD, _BEGIN, _END, *_ALPHABET, *("".join(merge) for merge in _MERGES)]

# What the tokenizers of these models put around a text.
_TEMPLATES = {"llama": "<s> $A", "gpt2": None, "t5": "$A </s>", "bart": "<s> $A </s>"}


def make_tokenizer(name: str) -> transformers.PreTrainedTokenizerBase:
    """Return a tokenizer of single bytes with the model's own special tokens."""
    ids = {token: index for index, token in enumerate(_VOCABULARY)}
    tokenizer = Tokenizer(models.BPE(vocab=ids, merges=_MERGES))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    if template := _TEMPLATES[name]:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=template, special_tokens=[(token, ids[token]) for token in (_BEGIN, _END)]
        )
    specials = {"bos_token": _BEGIN, "eos_token": _END}
    if name != "gpt2":  # which has no padding token
        specials["pad_token"] = _PAD
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **specials)


def _llama() -> transformers.PreTrainedModel:
    config = transformers.LlamaConfig(
        vocab_size=len(_VOCABULARY),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=256,
        **_IDS,
    )
    return transformers.LlamaForCausalLM(config)


def _gpt2() -> transformers.PreTrainedModel:
    config = transformers.GPT2Config(
        vocab_size=len(_VOCABULARY),
        n_embd=16,
        n_layer=2,
        n_head=2,
        n_positions=256,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        resid_pdrop=0.0,
        **_IDS,
    )
    return transformers.GPT2LMHeadModel(config)


def _t5() -> transformers.PreTrainedModel:
    config = transformers.T5Config(
        vocab_size=len(_VOCABULARY),
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_heads=2,
        dropout_rate=0.0,
        decoder_start_token_id=0,
        **_IDS,
    )
    return transformers.T5ForConditionalGeneration(config)


def _bart() -> transformers.PreTrainedModel:
    config = transformers.BartConfig(
        vocab_size=len(_VOCABULARY),
        d_model=16,
        encoder_layers=2,
        decoder_layers=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        max_position_embeddings=256,
        decoder_start_token_id=2,
        dropout=0.0,
        **_IDS,
    )
    return transformers.BartForConditionalGeneration(config)


_MODELS = {"llama": _llama, "gpt2": _gpt2, "t5": _t5, "bart": _bart}


def save_base(name: str, folder: Path) -> None:
    """Save a tiny random base of an architecture, always the same one."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        _MODELS[name]().save_pretrained(folder)
    make_tokenizer(name).save_pretrained(folder)
