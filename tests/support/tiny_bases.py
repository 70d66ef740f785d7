"""Tiny random bases of every architecture of the paper.

They drop nothing out, so that losses can be compared: what is drawn, and where, depends on how a
batch is laid out, and on the version of transformers.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

_PAD, _BEGIN, _END = "<pad>", "<s>", "</s>"
_IDS: dict[str, Any] = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
# One merge, so that one token can span the end of a prompt and a text that opens with a quote.
_MERGES = ((":", '"'),)
_BYTES = (_PAD, _BEGIN, _END, *sorted(pre_tokenizers.ByteLevel.alphabet()))

# What the tokenizers of these models put around a text.
_TEMPLATES = {"llama": "<s> $A", "gpt2": None, "t5": "$A </s>", "bart": "<s> $A </s>"}


def make_tokenizer(
    name: str, *, merges: Sequence[tuple[str, str]] = _MERGES, padded: bool = False
) -> transformers.PreTrainedTokenizerBase:
    """Return a tokenizer of single bytes with the model's own special tokens.

    GPT-2 has no padding token of its own; ``padded`` gives it one.
    """
    ids = {token: index for index, token in enumerate([*_BYTES, *map("".join, merges)])}
    tokenizer = Tokenizer(models.BPE(vocab=ids, merges=list(merges)))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    if template := _TEMPLATES[name]:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=template, special_tokens=[(token, ids[token]) for token in (_BEGIN, _END)]
        )
    specials = {"bos_token": _BEGIN, "eos_token": _END}
    if padded or name != "gpt2":
        specials["pad_token"] = _PAD
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **specials)


def make_model(
    name: str, tokens: int, *, width: int = 16, heads: int = 2, positions: int = 256
) -> transformers.PreTrainedModel:
    """Return a model of two layers for so many tokens, with the weights that torch draws next."""
    settings: dict[str, Any] = {"vocab_size": tokens, **_IDS}
    match name:
        case "llama":
            config = transformers.LlamaConfig(
                hidden_size=width,
                intermediate_size=2 * width,
                num_hidden_layers=2,
                num_attention_heads=heads,
                max_position_embeddings=positions,
                **settings,
            )
            return transformers.LlamaForCausalLM(config)
        case "gpt2":
            still = dict.fromkeys(("embd_pdrop", "attn_pdrop", "resid_pdrop"), 0.0)
            sizes = {"n_embd": width, "n_layer": 2, "n_head": heads, "n_positions": positions}
            config = transformers.GPT2Config(**sizes, **still, **settings)
            return transformers.GPT2LMHeadModel(config)
        case "t5":
            sizes = {"d_model": width, "d_kv": 8, "d_ff": 2 * width, "num_heads": heads}
            still = {"num_layers": 2, "dropout_rate": 0.0, "decoder_start_token_id": 0}
            config = transformers.T5Config(**sizes, **still, **settings)
            return transformers.T5ForConditionalGeneration(config)
    assert name == "bart"
    halves = {
        f"{half}_{size}": number
        for half in ("encoder", "decoder")
        for size, number in (("layers", 2), ("ffn_dim", 2 * width), ("attention_heads", heads))
    }
    config = transformers.BartConfig(
        d_model=width,
        max_position_embeddings=positions,
        decoder_start_token_id=2,
        dropout=0.0,
        **halves,
        **settings,
    )
    return transformers.BartForConditionalGeneration(config)


def save_base(name: str, folder: Path) -> None:
    """Save a tiny random base of an architecture, always the same one."""
    tokenizer = make_tokenizer(name)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        make_model(name, len(tokenizer)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
