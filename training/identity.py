"""Facts by which two trainings are compared; without torch, which a look at cells spares.

Two questions have two answers. *Is it the same training?* An adapter is kept, and a file is resumed
from, if :func:`identity` is equal: all that decides what is learned, seed and arm included, but for
rounding. *Are they seeds of one system?* Reports average over adapters with equal
:func:`shared_settings`: without seed, arm and base, which have facts of their own. Manifests have
the digest of these, so their keys stay.
"""

import hashlib
import json
import platform
from functools import cache
from importlib.metadata import version

from spor_tasks.core.files import FileContent
from spor_tasks.results.runs import flat
from training.config import ModelConfig, TrainingConfig
from training.settings import to_dict

_PACKAGES = (
    "spor-tasks",
    "torch",
    "transformers",
    "tokenizers",
    "peft",
    "accelerate",
    "safetensors",
)

_FOLDER = {"output": True, "overwrite": True}  # keys that learning does not depend on


_version = cache(version)  # each look at a cell asks for all of them


def versions(model: ModelConfig | None = None) -> dict[str, str]:
    """Return the versions of the packages that can change what training gives, on this base."""
    packages = [*_PACKAGES]
    if model is not None and model.quantization:
        from spor_tasks.models import quantization  # torch, which takes seconds

        packages += [quantization.PACKAGE] if quantization.is_installed() else []
    return {"python": platform.python_version(), **{name: _version(name) for name in packages}}


def learned_settings(config: TrainingConfig) -> FileContent:
    """Return the settings that a training must share with the one that it continues.

    The other settings change a step only by rounding, and by what dropout draws.
    """
    others = {"selection": {"batch_size"}, "optimization": {"packing", "cuda_graphs", "save_steps"}}
    settings = to_dict(config, _FOLDER | others)
    if not config.by_batch:
        optimization = settings["optimization"]
        optimization["batch_size"] *= optimization.pop("gradient_accumulation")
    return settings


def identity(
    config: TrainingConfig, arm_sha256: str | None, base_sha256: str | None
) -> FileContent:
    """Return the facts that decide what a run learns, besides its device."""
    return {
        "settings": learned_settings(config),
        "versions": versions(config.model),
        "arm_sha256": arm_sha256,
        "base_sha256": base_sha256,
    }


def differing_keys(
    settings: FileContent, expected: FileContent
) -> list[tuple[str, str | None, str | None]]:
    """Return the dotted keys under which the two hold different values, with both values."""
    first, second = flat(settings), flat(expected)
    values = [(key, first.get(key), second.get(key)) for key in first | second]
    return [entry for entry in values if entry[1] != entry[2]]


def shared_settings(config: TrainingConfig) -> FileContent:
    """Return the settings that trainings must share to count as seeds of one system.

    That is everything that can change what is learned, except the seed and the arm. The base and
    the training set are identified by their digests, not by their names.
    """
    own = {"model": {"path", "revision"}, "optimization": {"seed", "save_steps", "cuda_graphs"}}
    return to_dict(config, _FOLDER | own) | {"data": {"limit": config.data.limit}}


def settings_sha256(settings: FileContent) -> str:
    """Return a digest of settings, whatever the order of their keys."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
