"""The checkpoint that a model's arguments name: its base, its adapter, the prompt it reads."""

import json
import logging
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from huggingface_hub import try_to_load_from_cache
from huggingface_hub.errors import HFValidationError

from spor_tasks.errors import ConfigError
from spor_tasks.prompts.linearize import PROMPT_STYLES, PromptStyle
from spor_tasks.store import MANIFEST, digest_weights, read_manifest

_log = logging.getLogger(__name__)

Arguments = Mapping[str, Any]
"""The arguments of one of lm-eval's models, with what ``--metadata`` adds to them."""

# What an evaluation needs of an adapter's manifest.
_NEEDED = ("aspect", "corpus", "arm", "arm_sha256", "seed", "prompt_style", "base_model")

# What a generation_config.json tells besides settings.
_NO_SETTINGS = frozenset({"_from_model_config", "transformers_version"})

# The settings of generation that older checkpoints have in config.json.
_GENERATION = (
    "bos_token_id",
    "decoder_start_token_id",
    "early_stopping",
    "encoder_no_repeat_ngram_size",
    "eos_token_id",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "length_penalty",
    "max_length",
    "min_length",
    "no_repeat_ngram_size",
    "num_beams",
    "pad_token_id",
    "repetition_penalty",
)


def find_adapter(arguments: Arguments) -> Mapping[str, Any] | None:
    """Return the manifest of the adapter, None where the arguments name no adapter.

    Of an adapter that another program trained, that is ``adapter_sha256`` alone, which is None
    where the adapter is not on this machine. Nothing is downloaded.

    Raises:
        ConfigError: a folder is missing, the base or the adapter is none, or they do not fit.
        ResultError: the manifest is damaged.
    """
    base = _find_base(arguments)
    name = adapter_name(arguments)
    if name is None:
        return None
    adapter = _read_manifest(_find(name, "adapter_config.json", arguments))
    if "base_model" in adapter:
        _check_base(adapter["base_model"], name, base, arguments.get("pretrained"))
    return adapter


def base_sha256(arguments: Arguments) -> str | None:
    """Return the digest of the base's weights, None where they are not on this machine.

    Raises:
        ConfigError: a folder is missing, or is no checkpoint.
    """
    folder = _find_base(arguments)
    return None if folder is None else _digest(folder)


def adapter_name(arguments: Arguments) -> str | None:
    """Return the folder or the hub's name of the adapter that the arguments name."""
    return arguments.get("peft") or arguments.get("lora_local_path")  # of hf; of vllm


def prompt_style(arguments: Arguments, adapter: Mapping[str, Any] | None) -> PromptStyle:
    """Return the style of prompt that the checkpoint reads.

    It is the ``prompt_style`` that is asked for, else the one that the adapter was trained with,
    else that of the base. A base that is not on this machine is taken for a causal model.

    Raises:
        ConfigError: the style that is asked for is unknown.
    """
    asked = arguments.get("prompt_style") or (adapter or {}).get("prompt_style")
    if asked is None:
        return _style_of_base(arguments)
    if asked not in PROMPT_STYLES:
        raise ConfigError(
            f"prompt_style={asked} is unknown", remedy=f"Use {' or '.join(PROMPT_STYLES)}."
        )
    style: PromptStyle = asked
    return style


def has_chat_template(arguments: Arguments) -> bool | None:
    """Say whether the tokenizer has a chat template, None where it is not on this machine.

    Raises:
        ConfigError: a folder is missing, or is no checkpoint.
    """
    name = arguments.get("tokenizer") or arguments.get("pretrained")
    folder = _find(name, "tokenizer_config.json", arguments)
    if folder is None:
        return None
    settings = json.loads((folder / "tokenizer_config.json").read_bytes())
    return "chat_template" in settings or any(folder.glob("chat_template*"))


def generation_config(arguments: Arguments) -> dict[str, Any]:
    """Return the settings of generation that the base brings along, as transformers reads them.

    Those are in its ``generation_config.json`` or else, of older checkpoints, in ``config.json``.
    Without the base on this machine there are none to be known.

    Raises:
        ConfigError: a folder is missing, or is no checkpoint.
    """
    folder = _find_base(arguments)
    if folder is None:
        return {}
    file = folder / "generation_config.json"
    if file.is_file():
        own = _read_json(file)
        return {key: value for key, value in own.items() if key not in _NO_SETTINGS}
    own = _read_json(folder / "config.json")
    return {key: own[key] for key in _GENERATION if own.get(key) is not None}


def _read_json(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"cannot be read: {error}", where=file) from error
    if not isinstance(content, dict):
        raise ConfigError("must be a JSON object", where=file)
    return content


def _style_of_base(arguments: Arguments) -> PromptStyle:
    if arguments.get("backend") in PROMPT_STYLES:  # of hf, where it goes before the config
        backend: PromptStyle = arguments["backend"]
        return backend
    base = _find_base(arguments)
    if base is None:
        if "pretrained" in arguments:
            _log.warning(
                "%s is not on this machine, so it gets the prompt of a causal model; "
                "--metadata prompt_style=seq2seq asks for the other",
                arguments["pretrained"],
            )
        return "causal"
    config = json.loads((base / "config.json").read_bytes())
    return "seq2seq" if config.get("is_encoder_decoder") else "causal"


def _find_base(arguments: Arguments) -> Path | None:
    if "gguf_file" in arguments:
        return None
    return _find(arguments.get("pretrained"), "config.json", arguments)


def _find(name: object, file: str, arguments: Arguments) -> Path | None:
    """Return the folder of a model, which holds the file: its own, or that in the hub's cache."""
    if not isinstance(name, str):
        return None
    folder = Path(name)
    if folder.is_dir():
        folder /= str(arguments.get("subfolder", ""))
        if not (folder / file).is_file():
            raise ConfigError(
                f"holds no {file}",
                where=folder,
                remedy="Name a checkpoint with pretrained=, and an adapter of it with peft=.",
            )
        return folder
    try:
        cached = try_to_load_from_cache(name, file, revision=arguments.get("revision"))
    except HFValidationError as error:
        raise ConfigError("there is no such folder", where=name) from error
    return Path(cached).parent if isinstance(cached, str) else None


def _read_manifest(folder: Path | None) -> Mapping[str, Any]:
    if folder is None or not (folder / MANIFEST).exists():
        return {"adapter_sha256": folder and _digest(folder)}
    manifest = read_manifest(folder)
    if missing := [key for key in _NEEDED if key not in manifest]:
        raise ConfigError(
            f"is not the manifest of an adapter: it lacks {', '.join(missing)}",
            where=folder / MANIFEST,
        )
    if manifest.get("adapter_sha256") != _digest(folder):
        raise ConfigError(
            "the weights are not those that the manifest is about",
            where=folder,
            remedy="Train the adapter again.",
        )
    return manifest


def _check_base(
    made_for: Mapping[str, Any], name: str, base: Path | None, base_name: object
) -> None:
    """Refuse a base of other weights; one that is not on this machine is known by its name."""
    fits = made_for["sha256"] == _digest(base) if base else made_for["path"] == base_name
    if not fits:
        raise ConfigError(
            f"was made for another base than {base_name}",
            where=name,
            remedy=f"It was trained on {made_for['path']}, weights {made_for['sha256']}:"
            " name that one with pretrained=.",
        )


def _digest(folder: Path) -> str:
    """Return the digest of the weights; a base is read once, not for every task and adapter."""
    states = ((path.name, path.stat()) for path in sorted(folder.iterdir()))
    return _digest_of(folder, tuple((name, s.st_size, s.st_mtime_ns) for name, s in states))


@lru_cache(maxsize=16)
def _digest_of(folder: Path, _: tuple[tuple[str, int, int], ...]) -> str:
    return digest_weights(folder)
