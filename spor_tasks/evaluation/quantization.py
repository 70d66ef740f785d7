"""Weights in fewer bits, held alike while an adapter is trained and while it is evaluated."""

import importlib.util

import torch
from transformers import BitsAndBytesConfig

from spor_tasks.core.errors import ConfigError

KINDS = ("nf4",)
"""The kinds there are."""

PACKAGE = "bitsandbytes"
"""The package that they need."""


def is_at_hand() -> bool:
    """Tell whether the package is installed."""
    return importlib.util.find_spec(PACKAGE) is not None


def settings(kind: str) -> BitsAndBytesConfig:
    """Return what a base is loaded with to hold its weights as QLoRA does (Dettmers et al., 2023).

    ``nf4``: four bits a weight, their scales quantized in turn, sums in bfloat16.

    Raises:
        ConfigError: the kind is unknown, or the package is missing.
    """
    if kind not in KINDS:
        raise ConfigError(f"quantization={kind} is unknown", remedy=f"Use {' or '.join(KINDS)}.")
    if not is_at_hand():
        raise ConfigError(
            f"quantization={kind} needs the package {PACKAGE}, which is not here",
            remedy="Install it with `pip install 'spor-tasks[qlora]'`, or leave the setting out.",
        )
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type=kind,
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16,
    )


def keep_layout(model: torch.nn.Module) -> None:
    """Have bitsandbytes leave the weights of a loaded model as they lie.

    On some CPUs it lays them out anew for the first evaluation. They then let no gradient through,
    and say nothing of it; and layers narrower than a block of weights fail.
    """
    for module in model.modules():
        if hasattr(module, "support_avx512bf16_for_cpu"):
            module.support_avx512bf16_for_cpu = False


def kind_of(config: object) -> str | None:
    """Return how a loaded model holds its weights, by its config; None where in full."""
    found = getattr(config, "quantization_config", None)
    if found is None:
        return None
    told = found if isinstance(found, dict) else found.to_dict()
    return str(told["bnb_4bit_quant_type"] if told.get("load_in_4bit") else told["quant_method"])
