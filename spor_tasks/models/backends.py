"""The abilities of lm-eval's types of models, and the versions of packages.

`backends.toml` has them, and the settings that each type understands.
"""

import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import metadata as packages
from pathlib import Path
from typing import Any, TypeAlias

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import JsonObject

_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_SETTINGS: Mapping[str, tuple[str, ...]] = _DATA["settings"]

Decoding: TypeAlias = JsonObject
"""Settings of generation, by lm-eval's and transformers' names."""

BEAM_REQUESTS = "spor_beam_search"
"""The method of a model that takes requests for beams, which only `spor-hf` has.

lm-eval's own `hf` and vLLM do not search as transformers does, and a server may ignore the number
of beams and decode greedily.
"""

KEEPS_END = "keeps_end"
"""The setting by which `spor-hf` marks the end of each text that it did not cut."""

DECODING = [name for kind, names in _SETTINGS.items() if kind[:3] == "of_" for name in names]
"""The names of settings of decoding, but for rare ones of transformers."""

TOKEN_IDS = _SETTINGS["token_ids"]
"""The only settings of a checkpoint's own ``generation_config`` that act in `spor-hf`."""


@dataclass(frozen=True, slots=True)
class Backend:
    """The abilities of a type of model."""

    adapter: str | None = None
    """Its argument that names an adapter."""
    on_transformers: bool = False
    """Whether it takes the generation settings of transformers."""
    has_beams: bool = False
    """Whether it searches as transformers does, and takes the settings of `spor-hf`."""
    takes_texts: bool = True
    """False for a server of chats alone."""
    gives_likelihoods: bool = True
    continues: bool = True
    """Whether lm-eval's cache has the outputs of a run that was cut short."""


def backend(model: str | None) -> Backend:
    """Return the abilities of a type of model, with None as a bare `lm_eval` gives it.

    That does not tell tasks the type. But it has imported the module of `hf` before it builds them
    if the model is of transformers, and only then.
    """
    if model is None:
        model = "hf" if "lm_eval.models.huggingface" in sys.modules else ""
    return Backend(**_DATA["types"].get(model, {}))


def check_decoding(task: str, decoding: Decoding, model: Backend) -> None:
    """Refuse beams, and ends that are kept, for a model that has neither.

    Raises:
        ConfigError: the task asks for one of them.
    """
    has_beams = (decoding.get("num_beams") or 1) > 1
    if (has_beams or decoding.get(KEEPS_END)) and not model.has_beams:
        ability = "search with beams" if has_beams else "mark where a text ends"
        raise ConfigError(
            f"this model does not {ability}",
            where=task,
            remedy="Use the model spor-hf with `spor eval`, or a task without it.",
        )


def known_to(model: Backend, decoding: Decoding) -> Decoding:
    """Return the settings of a task that a model understands."""
    unknown = {
        *(() if model.on_transformers else _SETTINGS["of_transformers"]),
        *(() if model.has_beams else _SETTINGS["of_spor_hf"]),
    }
    return {key: value for key, value in decoding.items() if key not in unknown}


def given(decoding: Decoding) -> dict[str, Any]:
    """Return the settings that have a value: None is as if one were left out."""
    return {name: value for name, value in decoding.items() if value is not None}


def resolved_generation(model: Backend, decoding: Decoding, own: Decoding) -> Decoding:
    """Return all settings that decide what is generated: a task's, then the checkpoint's ``own``.

    The defaults of a server are not known here.
    """
    understood = known_to(model, decoding)
    if not model.on_transformers:
        return understood
    acting = TOKEN_IDS if model.has_beams else own.keys() - {*_SETTINGS["without_effect"]}
    without_effect = () if understood.get("do_sample") else _SETTINGS["of_sampling"]
    kept = {key: own[key] for key in own if key in acting and key not in without_effect}
    return {**kept, **understood}


@contextmanager
def without_thinking(
    model: Backend, chat_template: Callable[..., object] | None
) -> Iterator[bool | None]:
    """Switch off reasoning in a model's chat template, unless the user set it.

    Yields the value of ``enable_thinking``; None without a template, or if a server has its own.
    """
    owner = getattr(chat_template, "__self__", None)
    chosen = getattr(owner, "enable_thinking", None)
    settings = getattr(owner, "chat_template_args", None)
    if settings is None or chosen is not None or "enable_thinking" in settings:
        yield chosen if settings is None else settings.get("enable_thinking", chosen)
        return
    # hf passes all of chat_template_args on; vllm has an argument for this one.
    name = "chat_template_args" if model.on_transformers else "enable_thinking"
    before = getattr(owner, name)
    setattr(owner, name, {**settings, "enable_thinking": False} if model.on_transformers else False)
    try:
        yield False
    finally:
        setattr(owner, name, before)


@cache
def package_versions() -> dict[str, str | None]:
    """Return the versions that an output or a score depends on; None if not installed."""
    return {
        name: next((each.version for each in packages.distributions(name=name)), None)
        for name in _DATA["packages"]["names"]
    }


def lacks_bfloat16(described: Path = Path("/proc/cpuinfo")) -> bool:
    """Return whether this machine's processor is known to have no instructions for bfloat16.

    Linux lists those of x86 as `avx512_bf16` and `amx_bf16`, of Arm as `bf16`.
    """
    return described.is_file() and "bf16" not in described.read_text("utf-8", "replace")
