"""Results against the shipped tasks: a number must be of the test set that its task names."""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from spor_tasks.core.contracts import SetName, SetSpec
from spor_tasks.harness import task_files
from spor_tasks.results.reading import FIRST_BENCHMARK, TaskResult

_SHOWN = 12  # characters of a digest, enough to look it up


class ShippedTask(NamedTuple):
    """What a shipped task file says of its test set; the digest is None where it cannot know it."""

    task: str
    benchmark: str
    name: SetName
    version: str
    test_sha256: str | None

    @property
    def major(self) -> str:
        """The part of the version that changes when results stop being comparable."""
        return major(self.version)


def major(version: str) -> str:
    """Return N of a version N.X."""
    return version.partition(".")[0]


def shipped_task(result: TaskResult) -> ShippedTask | None:
    """Return the shipped task that a result names, or else one of the same sets.

    None is a result of sets that are not shipped, such as those of a user's own corpus.
    """
    by_task, by_sets = _shipped()
    own = result.spec
    return by_task.get(result.task) or (
        by_sets.get((own.benchmark, own.name)) if own.is_fixed else None
    )


def contradiction(result: TaskResult) -> str | None:
    """Return how a result contradicts the shipped task of its name or sets; None if it does not.

    Results of another version of the task, before the point, cannot be compared with the file.
    """
    ours = shipped_task(result)
    if ours is None or major(result.signature["version"]) != ours.major:
        return None
    if (claimed := (result.spec.benchmark, result.spec.name)) != (ours.benchmark, ours.name):
        return (
            f"claims to be of {_sets(*claimed)}, but {ours.task} is of "
            f"{_sets(ours.benchmark, ours.name)}: left out"
        )
    if ours.test_sha256 and (sha256 := result.signature["test_sha256"]) != ours.test_sha256:
        return (
            f"claims the test set {sha256[:_SHOWN]}…, but version {ours.major} of {ours.task} has "
            f"{ours.test_sha256[:_SHOWN]}…: left out"
        )
    return None


def specs_of(benchmark: str, sets: tuple[SetSpec, ...]) -> tuple[SetSpec, ...]:
    """Return those of a benchmark's sets that a shipped task asks for."""
    _, by_sets = _shipped()
    return tuple(spec for spec in sets if (benchmark, spec.name) in by_sets)


def _sets(benchmark: str, name: SetName) -> str:
    return f"{benchmark} {name}"


@cache  # the files do not change while a report is made
def _shipped() -> tuple[Mapping[str, ShippedTask], Mapping[tuple[str, SetName], ShippedTask]]:
    tasks = [
        _read(file.name, file.content["metadata"])
        for file in task_files.files()
        if file.kind == "task"
    ]
    by_sets: dict[tuple[str, SetName], ShippedTask] = {}
    for task in sorted(tasks, key=lambda task: len(task.task)):  # that without a variant
        by_sets.setdefault((task.benchmark, task.name), task)
    return {task.task: task for task in tasks}, by_sets


def _read(task: str, metadata: Mapping[str, Any]) -> ShippedTask:
    name = SetName(
        metadata["aspect"], metadata["corpus"], metadata["protocol"], metadata.get("part")
    )
    return ShippedTask(
        task,
        metadata.get("benchmark", FIRST_BENCHMARK),
        name,
        str(metadata["version"]),
        metadata.get("test_sha256"),
    )
