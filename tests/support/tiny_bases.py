"""Tiny random bases of every architecture of the paper.

They drop nothing out, so that losses can be compared: what is drawn, and where, depends on how a
batch is laid out, and on the version of transformers.
"""

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

_PAD, _BEGIN, _END = "<pad>", "<s>", "</s>"
_IDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
# One merge, so that one token can span the end of a prompt and a text that opens with a quote.
_MERGES = ((":", '"'),)
_BYTES = (_PAD, _BEGIN, _END, *sorted(pre_tokenizers.ByteLevel.alphabet()))

# What the tokenizers of these models put around a text.
_TEMPLATES = {"llama": "<s> $A", "gpt2": None, "t5": "$A </s>", "bart": "<s> $A </s>"}


def make_tokenizer(name, *, merges=_MERGES, padded=False):
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


def make_model(name, tokens, *, width=16, heads=2, positions=256):
    """Return a model of two layers for so many tokens, with the weights that torch draws next."""
    sizes = {"hidden_size": width, "num_hidden_layers": 2, "num_attention_heads": heads}
    if name != "t5":
        sizes["max_position_embeddings"] = positions
    own = {
        "llama": {"intermediate_size": 2 * width},
        "gpt2": dict.fromkeys(("embd_pdrop", "attn_pdrop", "resid_pdrop"), 0.0),
        "t5": {
            "num_decoder_layers": 2,
            "d_kv": 8,
            "d_ff": 2 * width,
            "dropout_rate": 0.0,
            "decoder_start_token_id": 0,
        },
        "bart": {
            "decoder_layers": 2,
            "decoder_attention_heads": heads,
            **dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim"), 2 * width),
            "dropout": 0.0,
            "decoder_start_token_id": 2,
        },
    }
    settings = {"vocab_size": tokens, **_IDS, **sizes, **own[name]}
    config = transformers.AutoConfig.for_model(name, **settings)
    kind = (
        transformers.AutoModelForSeq2SeqLM
        if config.is_encoder_decoder
        else transformers.AutoModelForCausalLM
    )
    return kind.from_config(config)


def save_base(name, folder):
    """Save a tiny random base of an architecture, always the same one."""
    tokenizer = make_tokenizer(name)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        make_model(name, len(tokenizer)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
