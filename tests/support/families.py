"""Tiny random bases of the families that transformers has, made from the families' own configs.

A config gets a small number for each size that it has. Not every family can be made so.
"""

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM
from transformers.models.auto import modeling_auto

from tests.support.tiny_bases import make_tokenizer

CAUSAL = frozenset(modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
SEQ2SEQ = frozenset(modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES)

_TOKENS = 272  # more than the tokenizer has, as in many models
_LARGE = 2_000_000  # weights: a size of this family has another name
_IDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
_SIZES = {
    _TOKENS: "vocab_size vocab_size_per_layer_input",
    512: "max_position_embeddings n_positions max_seq_len context_length "
    "max_encoder_position_embeddings max_decoder_position_embeddings",
    64: "intermediate_size intermediate_size_mlp d_ff ffn_dim dff n_inner d_inner encoder_ffn_dim "
    "decoder_ffn_dim ffn_hidden_size mamba_d_ssm attention_window_size",
    32: "hidden_size d_model n_embd dim word_embed_proj_dim attention_hidden_size lru_width "
    "embedding_size moe_intermediate_size shared_expert_intermediate_size "
    "shared_intermediate_size",
    16: "chunk_size mamba_chunk_size attention_window block_size sliding_window",
    8: "head_dim d_kv linear_key_head_dim linear_value_head_dim kv_lora_rank q_lora_rank "
    "v_head_dim qk_nope_head_dim qk_rope_head_dim mamba_d_state state_size ssm_state_size "
    "mamba_n_heads mamba_num_heads mamba_head_dim mamba_d_head mamba_headdim n_mamba_heads "
    "kv_channels hidden_size_per_layer_input global_head_dim query_pre_attn_scalar",
    4: "num_attention_heads n_head num_heads n_heads attention_heads encoder_attention_heads "
    "decoder_attention_heads num_encoder_attention_heads num_decoder_attention_heads num_experts "
    "num_local_experts n_routed_experts num_kv_heads linear_num_value_heads",
    2: "num_key_value_heads num_hidden_layers n_layer n_layers num_layers encoder_layers "
    "decoder_layers num_encoder_layers num_decoder_layers num_experts_per_tok moe_topk "
    "linear_num_key_heads attn_layer_period expert_layer_period",
    1: "n_group topk_group n_shared_experts mamba_n_groups n_groups first_k_dense_replace "
    "attn_layer_offset expert_layer_offset",
    0: "num_kv_shared_layers",
}
_SIZE_OF = {name: size for size, names in _SIZES.items() for name in names.split()}

_OWN = {  # what no other family calls so, or counts so
    "bamba": {"attn_layer_indices": [1]},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
    "granitemoehybrid": {"layer_types": ["mamba", "attention"]},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"], "num_dense_layers": 1},
    "mamba2": {"num_heads": 8},
    "zamba2": {"layers_block_type": ["mamba", "hybrid"], "hybrid_layer_ids": [1]},
}


def save_family(family, folder):
    """Save a tiny random base of a family, with a tokenizer of bytes; return its class's name."""
    kind = AutoModelForCausalLM if family in CAUSAL - SEQ2SEQ else AutoModelForSeq2SeqLM
    sizes = _small(AutoConfig.for_model(family).to_dict()) | _OWN.get(family, {})
    config = AutoConfig.for_model(family, **sizes, **_IDS)
    if kind is AutoModelForSeq2SeqLM:
        config.decoder_start_token_id = 2
    with torch.device("meta"):
        weights = sum(weight.numel() for weight in kind.from_config(config).parameters())
    if weights > _LARGE:
        raise ValueError(f"{weights} weights are too many")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = kind.from_config(config, dtype=torch.float32)
        for weight in model.parameters():
            if weight.dim() > 1:  # fresh ones are so small that a model repeats itself
                weight.data.normal_(std=0.15)
    model.save_pretrained(folder)
    make_tokenizer("llama" if kind is AutoModelForCausalLM else "t5").save_pretrained(folder)
    return type(model).__name__


def _small(config):
    """Return the sizes of a config that it has itself, and those of the configs in it."""
    inner = {
        name: {"model_type": each["model_type"], **_small(each)}
        for name, each in config.items()
        if isinstance(each, dict) and "model_type" in each
    }
    kinds = {
        name: [config[name][0], config[name][-1]]
        for name in ("layer_types", "layers_block_type", "block_types")
        if config.get(name)
    }
    return {name: _SIZE_OF[name] for name in config if name in _SIZE_OF} | inner | kinds
