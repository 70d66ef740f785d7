"""The checkpoint that a model's arguments name: its base, its adapter, its style of prompt."""

import logging
import os
import pickle
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from spor_tasks.core.errors import ConfigError, SporError
from spor_tasks.core.files import read_json
from spor_tasks.core.folders import MANIFEST, read_manifest
from spor_tasks.core.foreign import in_words
from spor_tasks.core.visible import visible
from spor_tasks.core.weights import digest_weights, find_folder
from spor_tasks.models.backends import MODEL_TYPE
from spor_tasks.prompts.styles import PROMPT_STYLES, PromptStyle

_log = logging.getLogger(__name__)

Arguments = Mapping[str, Any]
"""The arguments of one of lm-eval's models, with what the metadata adds to them."""

ADAPTERS = ("peft", "lora_local_path")
"""The arguments that name an adapter: of ``hf``, and of ``vllm``."""

ADAPTER_CONFIG = "adapter_config.json"
"""The file of an adapter's folder that says what it is."""

CODED = "SPOR_CODES, which only the model spor-hf reads"
"""The type of a folder with vectors for values; peft says that it has no type of this name."""

TRAINED_WHOLE = "checkpoint"
"""The kind of folder that the manifest of such a base names."""

# Keys of a generation_config.json that change no token.
_NO_SETTINGS = (
    *("_from_model_config", "transformers_version", "use_cache", "return_dict_in_generate"),
    *("output_attentions", "output_hidden_states", "output_logits", "output_scores"),
)


def find_adapter(arguments: Arguments) -> Mapping[str, Any] | None:
    """Return the manifest of the adapter, or of a base that was trained whole; None without one.

    For an adapter that another program trained it has only ``adapter_sha256``, which is None if the
    adapter is not on this machine. Nothing is downloaded.

    Raises:
        ConfigError: a folder is missing or not a checkpoint, or the adapter does not fit the base.
        ResultError: the manifest is damaged.
    """
    base, name = find_base(arguments), adapter_name(arguments)
    if name is None:
        manifest = _manifest(base)
        if base is None or manifest is None or manifest.get("kind") != TRAINED_WHOLE:
            return None
        return _checked(manifest, base)
    folder = _find(name, ADAPTER_CONFIG, arguments)
    model = "vllm" if ADAPTERS[1] in arguments else arguments.get(MODEL_TYPE, "spor-hf")
    if folder and _is_coded(folder) and model != "spor-hf":
        raise ConfigError(
            f"has vectors for values of aspects, which {model} cannot read",
            where=name,
            remedy="Use the model spor-hf, and name the folder with peft=.",
        )
    manifest = _manifest(folder)
    if folder is None or manifest is None:
        return {"adapter_sha256": folder and digest_weights(folder)}
    made_for, base_name = _checked(manifest, folder)["base_model"], arguments.get("pretrained")
    # A base that is not on this machine is compared by its name.
    if made_for != (made_for | ({"sha256": digest_weights(base)} if base else {"path": base_name})):
        raise ConfigError(
            f"was trained on another base than {base_name}",
            where=name,
            remedy=f"Name its base with pretrained=: {made_for['path']}, whose weights have the "
            f"SHA-256 {made_for['sha256']}.",
        )
    return manifest


def coded_folder(name: object, revision: str | None = None) -> Path | None:
    """Return the folder of an adapter that has vectors for values; None for any other adapter.

    Raises:
        ConfigError: the folder is missing or not an adapter.
    """
    folder = find_folder(name, ADAPTER_CONFIG, revision=revision)
    return folder if folder and _is_coded(folder) else None


def _is_coded(folder: Path) -> bool:
    kind = str(read_json(folder / ADAPTER_CONFIG).get("peft_type"))
    return kind.partition(",")[0] == CODED.partition(",")[0]


def base_sha256(arguments: Arguments) -> str | None:
    """Return the digest of the base's weights; None if they are not on this machine.

    Raises:
        ConfigError: a folder is missing or not a checkpoint.
    """
    folder = find_base(arguments)
    return None if folder is None else digest_weights(folder)


def adapter_name(arguments: Arguments) -> str | None:
    """Return the folder, or the name on the hub, of the adapter."""
    return next(filter(None, map(arguments.get, ADAPTERS)), None)


def prompt_style(arguments: Arguments, adapter: Mapping[str, Any] | None) -> PromptStyle:
    """Return the style of prompt that the checkpoint reads.

    It is ``prompt_style`` if given, otherwise the style that the adapter was trained with,
    otherwise that of the base. A base that is not on this machine is taken for a causal model.

    Raises:
        ConfigError: the given style is unknown.
    """
    own = arguments.get("prompt_style") or (adapter or {}).get("prompt_style")
    requested = own or _style_of_base(arguments)
    if requested not in PROMPT_STYLES:
        raise ConfigError(
            f"prompt_style={requested} is unknown", remedy=f"Use {' or '.join(PROMPT_STYLES)}."
        )
    style: PromptStyle = requested
    return style


def has_chat_template(arguments: Arguments) -> bool | None:
    """Return whether the tokenizer has a chat template; None if it is not on this machine.

    Raises:
        ConfigError: a folder is missing or not a checkpoint.
    """
    name = arguments.get("tokenizer") or arguments.get("pretrained")
    folder = _find(name, "tokenizer_config.json", arguments)
    if folder is None:
        return None
    settings = read_json(folder / "tokenizer_config.json")
    return "chat_template" in settings or any(folder.glob("chat_template*"))


def generation_config(arguments: Arguments) -> dict[str, Any]:
    """Return the settings in the base's ``generation_config.json``; empty if it is not here.

    Raises:
        ConfigError: a folder is missing or not a checkpoint.
    """
    folder = find_base(arguments)
    if folder is None or not (folder / "generation_config.json").is_file():
        return {}
    own = read_json(folder / "generation_config.json")
    return {key: own[key] for key in own if key not in _NO_SETTINGS}


@contextmanager
def loading(name: str, remedy: str) -> Iterator[None]:
    """Turn any error of a library in the block into one that says the model cannot be loaded.

    Raises:
        ConfigError: in place of such an error.
    """
    try:
        yield
    except (SporError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # for a damaged file they raise errors of many kinds
        if is_about_code(error):
            raise ConfigError(OWN_CODE, where=name, remedy=OWN_CODE_REMEDY) from error
        if isinstance(error, ModuleNotFoundError) and error.name:
            what = f"needs the package {error.name}, which is not installed"
            raise ConfigError(what, where=name, remedy=_EXTRAS) from error
        what = in_words(error)
        if isinstance(error, pickle.UnpicklingError):  # its own message advises to load it anyway
            what = "its weights are a pickle with more than tensors, which could run code"
        what = f"{_architecture(name)}cannot be loaded: {what}"
        raise ConfigError(what, where=name, remedy=remedy) from error


def _architecture(name: str) -> str:
    """Return the class that a checkpoint's config names, with a blank; empty if there is none."""
    with suppress(SporError):
        if folder := find_folder(name, "config.json"):
            named = read_json(folder / "config.json").get("architectures")
            return "".join(f"{each} " for each in named[:1]) if isinstance(named, list) else ""
    return ""


def class_name(model: object) -> str:
    """Return the name of a model's class, without an adapter around it."""
    inner = getattr(model, "_model", model)  # of lm-eval's models
    return type(inner.get_base_model() if hasattr(inner, "get_base_model") else inner).__name__


_OTHER = "Use another model, or another version of transformers."


@contextmanager
def running(model: object, remedy: str = _OTHER) -> Iterator[None]:
    """Turn any error of a model's own code in the block into one that names the model's class.

    Raises:
        ConfigError: in place of such an error.
    """
    try:
        yield
    except (SporError, KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # code of some 400 families, and of peft
        if isinstance(error, OSError) and error.errno:
            raise  # of the system, such as a full disk
        what = f"{class_name(model)} raised {in_words(error)}"
        raise ConfigError(what, remedy=remedy) from error


_EXTRAS = "Run `pip install 'spor-tasks[hf]'`; the extra of servers is `api`, of vLLM `vllm`."
OWN_CODE = "needs code of its own, which is not run unless you ask for it"
OWN_CODE_REMEDY = (
    "Use a model that transformers knows. If you trust the code, an evaluation runs it with the "
    "model's argument trust_remote_code=True; training never runs it."
)


def is_about_code(error: BaseException) -> bool:
    """Return whether transformers asks for permission to run a checkpoint's own code."""
    return "trust_remote_code" in str(error)


def _style_of_base(arguments: Arguments) -> str:
    backend, base = arguments.get("backend"), find_base(arguments)
    if backend in PROMPT_STYLES:  # of hf, which prefers it to the config
        return str(backend)
    if base is None:
        if "pretrained" in arguments:
            _log.warning(
                "%s is not on this machine, so it gets the prompt of a causal model; "
                "prompt_style=seq2seq in the metadata asks for the other",
                visible(arguments["pretrained"]),
            )
        return "causal"
    config = read_json(base / "config.json")
    return "seq2seq" if config.get("is_encoder_decoder") else "causal"


def find_base(arguments: Arguments) -> Path | None:
    """Return the base's folder; None if it is not on this machine, or a single file.

    Raises:
        ConfigError: the folder is missing or not a checkpoint.
    """
    if "gguf_file" in arguments:
        return None
    return _find(arguments.get("pretrained"), "config.json", arguments)


def _find(name: object, file: str, arguments: Arguments) -> Path | None:
    revision = arguments.get("revision")
    return find_folder(
        name,
        file,
        subfolder=str(arguments.get("subfolder", "")),
        revision=revision and str(revision),
    )


def _manifest(folder: Path | None) -> dict[str, Any] | None:
    return read_manifest(folder) if folder and os.path.lexists(folder / MANIFEST) else None


def _checked(manifest: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
    check_manifest(manifest, folder / MANIFEST)
    if manifest["adapter_sha256"] != digest_weights(folder):
        raise ConfigError(
            "the weights are not those that the manifest describes",
            where=folder,
            remedy="Train the adapter again.",
        )
    return manifest


class _BaseFacts(msgspec.Struct):
    path: str
    sha256: str


class _AdapterFacts(msgspec.Struct):
    """The required keys of an adapter's manifest."""

    aspect: str
    corpus: str
    arm: str
    arm_sha256: str
    prompt_style: str
    seed: int
    base_model: _BaseFacts
    adapter_sha256: str


def check_manifest(manifest: Mapping[str, Any], where: Path) -> None:
    """Refuse a manifest that lacks a required key.

    Raises:
        ConfigError: a key is missing, or its value has the wrong type.
    """
    try:
        msgspec.convert(manifest, _AdapterFacts)
    except (msgspec.ValidationError, SystemError) as error:  # of a number too large
        raise ConfigError(
            f"is not the manifest of an adapter: {error}",
            where=where,
            remedy="Train the adapter again.",
        ) from error
