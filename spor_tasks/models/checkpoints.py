"""The checkpoint that a model's arguments name: its base, its adapter, its style of prompt."""

import logging
import os
import pickle
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import msgspec

from spor_tasks.core.errors import ConfigError, SporError
from spor_tasks.core.files import JsonObject, read_json
from spor_tasks.core.folders import MANIFEST, read_manifest
from spor_tasks.core.foreign import in_words
from spor_tasks.core.visible import visible
from spor_tasks.core.weights import digest_weights, find_folder
from spor_tasks.models.backends import Decoding
from spor_tasks.prompts.styles import PROMPT_STYLES, PromptStyle
from spor_tasks.results.facts import Adapter

_log = logging.getLogger(__name__)

ADAPTERS = ("peft", "lora_local_path")
"""The arguments that name an adapter: of ``hf``, and of ``vllm``."""

ADAPTER_CONFIG = "adapter_config.json"
"""The file of an adapter's folder that says what it is."""

CODED = "SPOR_CODES"
"""The type of a folder with vectors for values, which only the model spor-hf reads."""

TRAINED_WHOLE = "checkpoint"
"""The kind of folder that the manifest of such a base names."""

OTHER_LOADERS = ("autogptq", "delta", "gguf_file", "gptqmodel")
"""Arguments with which lm-eval loads a base otherwise, which is not checked."""


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of one of lm-eval's models that say which files it loads; others lack some."""

    pretrained: object = None
    peft: object = None
    """The adapter of ``hf``."""
    lora_local_path: object = None
    """The adapter of ``vllm``."""
    tokenizer: object = None
    backend: object = None
    """The kind of base that ``hf`` takes it for, in place of what its config says."""
    revision: str = "main"
    subfolder: str = ""
    trust_remote_code: bool = False
    model_type: str | None = None
    """lm-eval's name of the type of model, where it is known (``hosts.MODEL_TYPE``)."""
    other_loader: str | None = None
    """The first of :data:`OTHER_LOADERS` that is given."""

    @classmethod
    def read(cls, arguments: JsonObject) -> Self:
        """Return what a model's arguments say, with what the metadata adds to them."""
        typed = {
            "revision": str(arguments.get("revision") or "main"),
            "subfolder": str(arguments.get("subfolder") or ""),
            "trust_remote_code": arguments.get("trust_remote_code") is True,
            "other_loader": next((key for key in OTHER_LOADERS if arguments.get(key)), None),
        }
        known = {**arguments, **typed}  # a name of another argument may be no text in UTF-8
        return msgspec.convert(
            {key: known[key] for key in cls.__struct_fields__ if key in known}, cls
        )

    def __hash__(self) -> int:
        return hash(repr(self))  # arguments may be of any type

    @property
    def adapter(self) -> Any:
        """The folder, or the name on the hub, of the adapter; None without one."""
        return self.peft or self.lora_local_path or None

    def find(self, name: object, file: str) -> Path | None:
        """Return the folder of a model that has a file; None if it is not on this machine.

        Raises:
            ConfigError: the folder is missing or not a checkpoint.
        """
        return find_folder(name, file, subfolder=self.subfolder, revision=self.revision)

    def base(self) -> Path | None:
        """Return the base's folder; None if it is not on this machine, or a single file.

        Raises:
            ConfigError: the folder is missing or not a checkpoint.
        """
        if self.other_loader == "gguf_file":
            return None
        return self.find(self.pretrained, "config.json")

    def files(self, *, with_tokenizer: bool = False) -> tuple[tuple[str, int, int], ...]:
        """Return what tells whether a file of the base, adapter or own tokenizer has changed.

        Raises:
            ConfigError: a folder is missing or not a checkpoint.
        """
        folders = [self.base(), self.find(self.adapter, ADAPTER_CONFIG)]
        if with_tokenizer:
            folders.append(find_folder(self.tokenizer, "tokenizer_config.json"))
        paths = [path for folder in folders if folder for path in sorted(folder.iterdir())]
        states = ((path, path.stat() if path.exists() else path.lstat()) for path in paths)
        return tuple((str(path), state.st_size, state.st_mtime_ns) for path, state in states)


def find_adapter(model: Checkpoint) -> Adapter | None:
    """Return what is known of the adapter, or of a base that was trained whole; None without one.

    For an adapter that another program trained it is only ``adapter_sha256``, which is None if the
    adapter is not on this machine. Nothing is downloaded.

    Raises:
        ConfigError: a folder is missing or not a checkpoint, or the adapter does not fit the base.
        ResultError: the manifest is damaged.
    """
    base, name = model.base(), model.adapter
    if name is None:
        if base is None or not os.path.lexists(base / MANIFEST):
            return None
        return _read(base) if read_manifest(base).get("kind") == TRAINED_WHOLE else None
    folder = model.find(name, ADAPTER_CONFIG)
    kind = "vllm" if model.lora_local_path is not None else model.model_type or "spor-hf"
    if folder and _is_coded(folder) and kind != "spor-hf":
        raise ConfigError(
            f"has vectors for values of aspects, which {kind} cannot read",
            where=name,
            remedy="Use the model spor-hf, and name the folder with peft=.",
        )
    adapter = _read(folder)
    if adapter is None or adapter.base_model is None:
        return Adapter.of(sha256=digest_weights(folder) if folder else None)
    made_for = adapter.base_model
    # A base that is not on this machine is compared by its name.
    fits = made_for.sha256 == digest_weights(base) if base else made_for.path == model.pretrained
    if not fits:
        raise ConfigError(
            f"was trained on another base than {model.pretrained}",
            where=name,
            remedy=f"Name its base with pretrained=: {made_for.path}, whose weights have the "
            f"SHA-256 {made_for.sha256}.",
        )
    return adapter


def coded_folder(name: object, revision: str | None = None) -> Path | None:
    """Return the folder of an adapter that has vectors for values; None for any other adapter.

    Raises:
        ConfigError: the folder is missing or not an adapter.
    """
    folder = find_folder(name, ADAPTER_CONFIG, revision=revision)
    return folder if folder and _is_coded(folder) else None


def _is_coded(folder: Path) -> bool:
    # Older folders go on after a comma.
    return str(read_json(folder / ADAPTER_CONFIG).get("peft_type")).partition(",")[0] == CODED


def base_sha256(arguments: JsonObject) -> str | None:
    """Return the digest of the base's weights; None if they are not on this machine.

    Raises:
        ConfigError: a folder is missing or not a checkpoint.
    """
    folder = Checkpoint.read(arguments).base()
    return None if folder is None else digest_weights(folder)


def prompt_style(model: Checkpoint, adapter: Adapter | None, asked: object = None) -> PromptStyle:
    """Return the style of prompt that the checkpoint reads.

    It is the ``asked`` one if given, otherwise the style that the adapter was trained with,
    otherwise that of the base. A base that is not on this machine is taken for a causal model.

    Raises:
        ConfigError: the given style is unknown.
    """
    requested = asked or (adapter and adapter.prompt_style)
    if not requested and model.backend in [*PROMPT_STYLES]:  # of hf, which prefers it to the config
        requested = model.backend
    if not requested:
        base = model.base()
        if base is None and model.pretrained is not None:
            _log.warning(
                "%s is not on this machine, so it gets the prompt of a causal model; "
                "prompt_style=seq2seq in the metadata asks for the other",
                visible(model.pretrained),
            )
        is_seq2seq = base is not None and read_json(base / "config.json").get("is_encoder_decoder")
        requested = "seq2seq" if is_seq2seq else "causal"
    if requested not in PROMPT_STYLES:
        raise ConfigError(
            f"prompt_style={requested} is unknown", remedy=f"Use {' or '.join(PROMPT_STYLES)}."
        )
    return requested


def has_chat_template(model: Checkpoint) -> bool | None:
    """Return whether the tokenizer has a chat template; None if it is not on this machine.

    Raises:
        ConfigError: a folder is missing or not a checkpoint.
    """
    folder = model.find(model.tokenizer or model.pretrained, "tokenizer_config.json")
    if folder is None:
        return None
    settings = read_json(folder / "tokenizer_config.json")
    return "chat_template" in settings or any(folder.glob("chat_template*"))


def generation_config(model: Checkpoint) -> Decoding:
    """Return the settings in the base's ``generation_config.json``; empty if it is not here.

    Raises:
        ConfigError: a folder is missing or not a checkpoint.
    """
    folder = model.base()
    if folder is None or not (folder / "generation_config.json").is_file():
        return {}
    return read_json(folder / "generation_config.json")


@contextmanager
def loading(name: str, remedy: str) -> Iterator[None]:
    """Turn any error of a library in the block into one that says the model cannot be loaded.

    Raises:
        ConfigError: in place of such an error.
    """
    try:
        yield
    except _PASSING:
        raise
    except BaseException as error:  # damaged files and code of 400 families raise of many kinds
        if is_about_code(error):
            raise ConfigError(OWN_CODE, where=name, remedy=OWN_CODE_REMEDY) from error
        if isinstance(error, ModuleNotFoundError) and error.name:
            what = f"needs the package {error.name}, which is not installed"
            raise ConfigError(what, where=name, remedy=_EXTRAS) from error
        what, architecture = in_words(error), ""
        if isinstance(error, ModuleNotFoundError):  # lm-eval's own, which names its extras
            named = re.search(r"lm-eval\[(api|hf|vllm)\]", what)
            remedy = f"Run `pip install 'spor-tasks[{named[1]}]'`." if named else _EXTRAS
            what = what.partition(". ")[0]
        elif isinstance(error, TypeError) and (unknown := _UNEXPECTED.search(what)):
            remedy = f"If {unknown[1]} is an argument that you gave, correct it or leave it out."
        if isinstance(error, pickle.UnpicklingError):  # its own message advises to load it anyway
            what = "its weights are a pickle with more than tensors, which could run code"
        with suppress(SporError):
            if folder := find_folder(name, "config.json"):
                kinds = read_json(folder / "config.json").get("architectures")
                architecture = f"{kinds[0]} " if isinstance(kinds, list) and kinds else ""
        what = f"{architecture}cannot be loaded: {what}"
        raise ConfigError(what, where=name, remedy=remedy) from error


@contextmanager
def running(model: object) -> Iterator[None]:
    """Turn any error of a model's own code in the block into one that names the model's class.

    Errors of the system, such as a full disk, pass.

    Raises:
        ConfigError: in place of such an error.
    """
    try:
        yield
    except _PASSING:
        raise
    except BaseException as error:
        if isinstance(error, OSError) and error.errno:
            raise
        raise ConfigError(
            f"{class_name(model)} raised {in_words(error)}",
            remedy="Use another model, or another version of transformers.",
        ) from error


def class_name(model: object) -> str:
    """Return the name of a model's class, without an adapter around it."""
    inner = getattr(model, "_model", model)  # of lm-eval's models
    return type(inner.get_base_model() if hasattr(inner, "get_base_model") else inner).__name__


_UNEXPECTED = re.compile(r"unexpected keyword argument '(\w+)'")
_PASSING = (SporError, KeyboardInterrupt, GeneratorExit)
_EXTRAS = "Run `pip install 'spor-tasks[hf]'`; the extra of servers is `api`, of vLLM `vllm`."
OWN_CODE = "needs code of its own, which is not run unless you ask for it"
OWN_CODE_REMEDY = (
    "Use a model that transformers knows. If you trust the code, an evaluation runs it with the "
    "model's argument trust_remote_code=True; training never runs it."
)


def is_about_code(error: BaseException) -> bool:
    """Return whether transformers asks for permission to run a checkpoint's own code."""
    return "trust_remote_code" in str(error)


def _read(folder: Path | None) -> Adapter | None:
    """Return the adapter, or base, that a folder's manifest describes; None without a manifest."""
    if not (folder and os.path.lexists(folder / MANIFEST)):
        return None
    found = Adapter.read(read_manifest(folder), folder / MANIFEST)
    if found.adapter_sha256 != digest_weights(folder):
        raise ConfigError(
            "the weights are not those that the manifest describes",
            where=folder,
            remedy="Train the adapter again, or run `spor data record` again if another program "
            "trained it.",
        )
    return found
