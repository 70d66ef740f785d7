"""The types of what a result file of lm-eval must say of our tasks, to reproduce a number."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from spor_tasks.core.errors import ResultError
from spor_tasks.results.facts import Adapter, Count, Digest, Facts

_QUANTIZING = ("quantization", "load_in_4bit", "load_in_8bit", "gguf_file", "autogptq", "gptqmodel")
_OFF = frozenset((None, False, "", "False", "false", "None"))
_CHECKPOINT = ("model_revision", "model_sha", "model_num_parameters")
T = TypeVar("T")


class Counts(msgspec.Struct):
    """Documents of the task, and those that were evaluated."""

    original: Count
    effective: Count


class Model(msgspec.Struct):
    """The model, as it was named and loaded.

    ``prompts_cut`` counts the prompts of each task that were longer than the model takes.
    """

    model: str
    model_args: dict[str, Any] | str | None
    prompts_cut: dict[str, Count] = {}
    model_dtype: Any = None
    quantization: Any = msgspec.UNSET
    fewshot_seed: Any = None
    model_revision: Any = None
    model_sha: Any = None
    model_num_parameters: Any = None

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments that the model was loaded with."""
        arguments = self.model_args or {}
        if isinstance(arguments, str):
            return dict(pair.split("=", 1) for pair in arguments.split(",") if "=" in pair)
        return arguments

    @property
    def quantized(self) -> str:
        """The quantization: as loaded if the backend states it, otherwise as requested."""
        if self.quantization is not msgspec.UNSET:
            return str(self.quantization)
        requested = {name: self.arguments.get(name) for name in _QUANTIZING}
        settings = (f"{name}={value}" for name, value in requested.items() if value not in _OFF)
        return ", ".join(settings) or str(None)

    @property
    def checkpoint(self) -> Mapping[str, str]:
        """The backend's own description of the weights: revision, commit, number of parameters."""
        return {name: str(getattr(self, name)) for name in _CHECKPOINT if getattr(self, name)}


class Metadata(msgspec.Struct):
    """The sets of a task."""

    version: float
    test_sha256: Digest
    spor: Facts
    icl_arm: str = ""
    decoding: str = ""


class Config(msgspec.Struct):
    """The configuration of a task."""

    task: str
    generation_kwargs: dict[str, Any]
    num_fewshot: int
    metadata: Metadata


class TaskFile(msgspec.Struct):
    """A result file's entries on one task.

    Scores are ``metric,none`` and ``metric_stderr,none``; NaN is nothing to score.
    """

    configs: Config
    results: dict[str, float | str]
    counts: Counts = msgspec.field(name="n-samples")


class ResultFile(msgspec.Struct):
    """A result file, in which tasks of other packages may stand as well."""

    results: dict[str, Any]
    configs: dict[str, Any]
    n_samples: dict[str, Any] = msgspec.field(name="n-samples")
    config: Model


def model_name(model: Model, metadata: Mapping[str, Any], adapter: Adapter | None) -> str:
    """Return the name of a model: its base's, with the adapter if that is of no known arm."""
    arguments = {**model.arguments, **metadata}
    name = str(arguments.get("pretrained") or arguments.get("model") or model.model)
    tuned = arguments.get("peft") or arguments.get("lora_local_path")
    if adapter is not None and adapter.arm is None:
        return f"{name} + {tuned}"
    if adapter is not None and adapter.base_model and not tuned:  # the base was trained whole
        return adapter.base_model.path
    return name


def flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Return nested settings as texts under dotted keys."""
    texts: dict[str, str] = {}
    for name, value in settings.items():
        key = f"{prefix}{name}"
        texts |= flat(value, f"{key}.") if isinstance(value, Mapping) else {key: str(value)}
    return texts


def typed(value: object, kind: type[T], task: str) -> T:
    """Return a part of a result file as an object of this type.

    Raises:
        ResultError: something is missing or of another type; the error names its place.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `$")
        part, dot, inner = place.rstrip("`").lstrip(".").partition(".")
        path = f"{part}.{task}{dot}{inner}" if task else f"{part}{dot}{inner}"
        raise ResultError(f"{what} at {path.strip('.') or 'the top'}") from error
    except UnicodeEncodeError as error:  # of half a character
        raise ResultError(f"a text is not Unicode at {task or 'the top'}") from error
    except (SystemError, OverflowError) as error:  # msgspec's, of a number with hundreds of digits
        raise ResultError(f"a number is too large at {task or 'the top'}") from error
