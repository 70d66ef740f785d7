"""Results against the shipped tasks: a number must be of the test set that its task names."""

from collections.abc import Mapping
from functools import cache
from operator import itemgetter
from typing import Any

from spor_tasks.core.contracts import Benchmark
from spor_tasks.core.digests import digest
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import SetFacts
from spor_tasks.harness import task_files
from spor_tasks.harness.task_files import TaskFile
from spor_tasks.results.runs import Run
from spor_tasks.results.samples import SampleFile

_LENGTH = 12  # characters of a digest, enough to look it up


def _major(version: str) -> str:
    """Return N of a version N.X, which changes when results stop being comparable."""
    return version.partition(".")[0]


def shipped_task(result: Run) -> TaskFile | None:
    """Return the shipped task that a result names, or else one of the same sets.

    None is a result of sets that are not shipped, such as those of a user's own corpus.
    """
    by_task, own = _shipped(), result.spec
    return by_task.get(result.task) or (by_task.get(own.task) if own.sets.is_fixed else None)


def contradiction(result: Run) -> str | None:
    """Return how a result contradicts the shipped task of its name or sets; None if it does not.

    Results of another version of the task, before the point, cannot be compared with the file.
    """
    ours, spec = shipped_task(result), result.spec
    if ours is None or _major(result.signature["version"]) != _major(_version(ours)):
        return None
    if spec.sets.split is not None and spec.task == ours.name:
        # No task file has the digest of a split, and to compute it needs the sets: see `fault_of`.
        return None
    of = ours.sets
    sets = SetFacts(aspect=of.aspect, corpus=of.corpus, protocol=of.protocol, part=of.part)
    if (spec.benchmark, spec.sets.named) != (of.benchmark, sets.named):
        return (
            f"claims to be of {spec.benchmark} {spec.sets}, but {ours.name} is of "
            f"{of.benchmark} {sets}: left out"
        )
    sha256 = result.signature["test_sha256"]
    expected = ours.sets.test_sha256
    if expected and sha256 != expected:
        return (
            f"claims the test set {sha256[:_LENGTH]}…, but version {_major(_version(ours))} of "
            f"{ours.name} has {expected[:_LENGTH]}…: left out"
        )
    return None


def fault_of(file: SampleFile) -> str | None:
    """Return in what the samples of a result are not the whole test set; None if they are.

    Raises:
        ResultError: a sample is damaged.
    """
    result, version = file.run, file.run.signature["version"]
    ours = shipped_task(result)
    if ours and _major(version) != _major(_version(ours)):
        return f"is of version {version}, and this package can check only {_version(ours)}"
    if result.n != result.documents:
        return f"has {result.n:,} of {result.documents:,} samples: evaluate all of them"
    if result.signature["demonstrations_sha256"] != str(None):
        return None  # it has only the samples that every arm has demonstrations for
    logged = ((record.number or 0, record.sample) for record in file.records())
    samples = (sample for _, sample in sorted(logged, key=itemgetter(0)))
    logged_sha256 = digest(samples)
    if logged_sha256 != result.signature["test_sha256"]:
        return "claims another test set than that of its samples"
    own = result.spec
    if own.sets.split and _split_sha256(own.benchmark, *own.sets.named.values()) not in {
        None,
        logged_sha256,
    }:
        return "has other samples than its split"
    return None


@cache
def _split_sha256(name: str, **sets: Any) -> str | None:
    """Return the digest of a shipped split, which no task file has."""
    benchmark: Benchmark = registry().get("benchmark", name)
    spec = benchmark.find(**sets)
    return digest(benchmark.load(spec).test) if spec.release.is_pinned else None


@cache  # the files do not change while a report is made
def _shipped() -> Mapping[str, TaskFile]:
    return {file.name: file for file in task_files.files()}


def _version(file: TaskFile) -> str:
    return str(file.sets.version)
