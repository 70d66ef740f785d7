"""Quantized weights, the same while an adapter is trained and while it is evaluated."""

import importlib.util

import torch
from transformers import BitsAndBytesConfig

from spor_tasks.core.errors import ConfigError, require

KINDS = ("nf4",)
"""The kinds of quantization."""

PACKAGE = "bitsandbytes"
"""The package that quantizes."""


def is_installed() -> bool:
    """Return whether the package is installed."""
    return importlib.util.find_spec(PACKAGE) is not None


def settings(kind: str) -> BitsAndBytesConfig:
    """Return the settings to load a base with, as in QLoRA (Dettmers et al., 2023).

    ``nf4``: four bits a weight, quantized scales, and computations in bfloat16.

    Raises:
        ConfigError: the kind is unknown, or the package is missing.
    """
    if kind not in KINDS:
        raise ConfigError(f"quantization={kind} is unknown", remedy=f"Use {' or '.join(KINDS)}.")
    require(f"quantization={kind}", "qlora", PACKAGE)
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type=kind,
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )


def keep_layout(model: torch.nn.Module) -> None:
    """Keep bitsandbytes from changing the layout of a loaded model's weights.

    On some CPUs it does so at the first evaluation. No gradient passes through them after that,
    without an error, and layers narrower than a block of weights fail.
    """
    for module in model.modules():
        if hasattr(module, "support_avx512bf16_for_cpu"):
            module.support_avx512bf16_for_cpu = False


def kind_of(config: object) -> str | None:
    """Return the quantization of a loaded model by its config; None without any."""
    quantization = getattr(config, "quantization_config", None)
    if quantization is None:
        return None
    as_dict = quantization if isinstance(quantization, dict) else quantization.to_dict()
    return str(
        as_dict["bnb_4bit_quant_type"] if as_dict.get("load_in_4bit") else as_dict["quant_method"]
    )
