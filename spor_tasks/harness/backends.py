"""What the backends of lm-eval make of a task's settings for generation, and their versions."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import metadata as packages
from typing import Any

from spor_tasks.harness import checkpoints

BEAM_REQUESTS = "spor_hf_beam_search"
"""The method of a model that takes requests for beams.

Only `spor-hf` has it. All else fails at once where it is asked for beams: lm-eval's own `hf` does
not search as transformers does, and a server may pass over the number and decode greedily.
"""

# Settings of transformers' generation alone. A task states every one that decides, since what is
# left unsaid is taken from the checkpoint's own generation_config; other backends know none of them
# and would refuse, or pass over, a request that has one.
_TRANSFORMERS_ONLY = (
    "num_beams",
    "no_repeat_ngram_size",
    "repetition_penalty",
    "length_penalty",
    "early_stopping",
    "min_length",
)

# What of a checkpoint's generation_config says nothing of greedy decoding or beams.
_SAMPLING = ("temperature", "top_k", "top_p", "min_p", "top_h", "typical_p", "epsilon_cutoff")

# The packages that an output or a score depends on; not all of them need be there.
_PACKAGES = ("lm_eval", "transformers", "tokenizers", "torch", "peft", "vllm", "rapidfuzz", "numpy")


def _on_transformers() -> bool:
    """Tell whether the model generates with transformers, or is of another backend.

    lm-eval tells a task nothing of the model, but it loads the module of a model only for that
    model, and before the tasks.
    """
    return "lm_eval.models.huggingface" in sys.modules


def known_to_backend(decoding: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a task that the backend understands."""
    unknown = () if _on_transformers() or decoding.get("num_beams", 1) > 1 else _TRANSFORMERS_ONLY
    return {key: value for key, value in decoding.items() if key not in unknown}


def resolved_generation(
    decoding: Mapping[str, Any], arguments: checkpoints.Arguments
) -> dict[str, Any]:
    """Return the settings that decide what is generated, those of the checkpoint among them.

    What a server makes of what is not said to it is not known here.
    """
    known = known_to_backend(decoding)
    own = checkpoints.generation_config(arguments) if _on_transformers() else {}
    left_out = () if known.get("do_sample") else _SAMPLING
    return {key: value for key, value in own.items() if key not in left_out} | known


@contextmanager
def without_thinking(chat_template: Callable[..., str] | None) -> Iterator[bool | None]:
    """Have a model's chat template ask for no reasoning, unless the user said otherwise.

    Yields what the template is told; None without a template, or where a server applies its own.
    """
    owner = getattr(chat_template, "__self__", None)
    asked = getattr(owner, "enable_thinking", None)
    given = getattr(owner, "chat_template_args", None)
    if given is None or asked is not None or "enable_thinking" in given:
        yield asked if given is None else given.get("enable_thinking", asked)
        return
    # hf passes all of chat_template_args on, vllm beside these an argument of its own.
    name, value = (
        ("chat_template_args", {**given, "enable_thinking": False})
        if _on_transformers()
        else ("enable_thinking", False)
    )
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield False
    finally:
        setattr(owner, name, before)


@cache
def package_versions() -> dict[str, str | None]:
    """Return the versions that an output or a score depends on; None is not installed."""
    return {name: _version(name) for name in _PACKAGES}


def _version(package: str) -> str | None:
    try:
        return packages.version(package)
    except packages.PackageNotFoundError:
        return None
