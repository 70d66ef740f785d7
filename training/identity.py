"""The facts that decide what a run learns; without torch, which a look at finished cells spares."""

import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from typing import Any

from spor_tasks.results.schema import flat
from training.config import ModelConfig, TrainingConfig, learned_settings

_PACKAGES = (
    *("spor-tasks", "torch", "transformers", "tokenizers"),
    *("peft", "accelerate", "safetensors"),
)


_version = cache(version)  # each look at a cell asks for all of them


def versions(model: ModelConfig | None = None) -> dict[str, str]:
    """Return the versions of the packages that can change what training gives, on this base."""
    packages: tuple[str, ...] = _PACKAGES
    if model is not None and model.quantization:
        from spor_tasks.models import quantization  # torch, which takes seconds

        packages = (*_PACKAGES, quantization.PACKAGE) if quantization.is_installed() else _PACKAGES
    return {"python": platform.python_version(), **{name: _version(name) for name in packages}}


def identity(
    config: TrainingConfig, arm_sha256: str | None, base_sha256: str | None
) -> dict[str, Any]:
    """Return the facts that decide what a run learns, besides its device."""
    return {
        "settings": learned_settings(config),
        "versions": versions(config.model),
        "arm_sha256": arm_sha256,
        "base_sha256": base_sha256,
    }


def differing_keys(
    settings: Mapping[str, Any], expected: Mapping[str, Any]
) -> list[tuple[str, str | None, str | None]]:
    """Return the dotted keys under which the two hold different values, with both values."""
    first, second = flat(settings), flat(expected)
    values = [(key, first.get(key), second.get(key)) for key in first | second]
    return [entry for entry in values if entry[1] != entry[2]]
