"""The types of what a result file of lm-eval must say of our tasks, to reproduce a number."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]
"""Up to the largest integer that every reader of JSON takes for a whole number."""
Digest: TypeAlias = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]

Scores: TypeAlias = dict[str, float | str]
"""``metric,none`` and ``metric_stderr,none``; NaN is nothing to score. A group has none."""


class Counts(msgspec.Struct):
    """Documents of the task, and those that were evaluated."""

    original: Count
    effective: Count


class Run(msgspec.Struct):
    """The model, as it was named and loaded.

    ``prompts_cut`` counts the prompts of each task that were longer than the model takes.
    """

    model: str
    model_args: dict[str, Any] | str | None
    prompts_cut: dict[str, Count] = {}


class Adapter(msgspec.Struct):
    """An adapter; of one that another program trained, at most the digest is known.

    ``violations`` are the paper's requirements that the sets it was trained on break, ``pairs`` is
    how many pairs of the arm it was trained on, and ``selection`` says which epoch was kept.
    """

    arm: str | None
    arm_sha256: str | None
    seed: int | None
    adapter_sha256: str | None
    base_model: dict[str, Any] | None
    violations: list[Any] | None = None
    pairs: int | None = None
    settings: dict[str, Any] | None = None
    settings_sha256: str | None = None
    selection: dict[str, Any] | None = None


class Facts(msgspec.Struct):
    """How the settings were resolved.

    ``packages`` are the versions of what an output or a score depends on, ``fewshot_arm`` is the
    arm of the demonstrations, ``generation`` holds all settings that decided what was written, and
    ``declared`` is the task's :func:`~spor_tasks.results.declared.declaration`.
    """

    spor_tasks: str
    packages: dict[str, str | None]
    prompt_style: Literal["causal", "seq2seq", "instruction"]
    fewshot_arm: str | None
    arms: dict[str, Digest]
    adapter: Adapter | None
    demonstrations_sha256: str | None
    held_out_reference: bool = False
    facts: str = ""
    generation: dict[str, Any] = {}
    thinking: bool | None = None
    matching: dict[str, Any] = {}
    covered: int = 0
    test_samples: int = 0
    declared: dict[str, Any] | None = None


class Metadata(msgspec.Struct):
    """The sets of a task."""

    version: float
    aspect: str
    corpus: str
    protocol: str
    test_sha256: Digest
    spor: Facts
    benchmark: str = ""
    part: str = ""
    icl_arm: str = ""
    decoding: str = ""


class Task(msgspec.Struct):
    """The configuration of a task."""

    task: str
    generation_kwargs: dict[str, Any]
    num_fewshot: int
    metadata: Metadata


class ResultFile(msgspec.Struct):
    """A result file, in which tasks of other packages may stand as well."""

    results: dict[str, Any]
    configs: dict[str, Any]
    n_samples: dict[str, Any] = msgspec.field(name="n-samples")
    config: Run


_PARTS: Mapping[str, Any] = {"configs": Task, "results": Scores, "n-samples": Counts}


def fault_of_file(content: object) -> str | None:
    """Return why this is not the content of a result file, or None; its tasks are not checked."""
    return _fault(content, ResultFile, "")


def fault_of_task(task: str, content: Mapping[str, Any]) -> str | None:
    """Return what a result file lacks about one of our tasks, whatever its name, or None."""
    faults = (
        _fault(content[part].get(task), kind, f"{part}.{task}") for part, kind in _PARTS.items()
    )
    return next(filter(None, faults), None)


def _fault(value: object, kind: Any, place: str) -> str | None:  # noqa: ANN401 - a type
    """Return why a value is not of a type, with its place in the file, or None."""
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        what, _, inner = str(error).partition(" - at `$")
        return f"{what} at {(place + inner.rstrip('`')).lstrip('.') or 'the top'}"
    return None
