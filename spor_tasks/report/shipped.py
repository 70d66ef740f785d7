"""Results against the shipped tasks: a number must be of the test set that its task names."""

from functools import cache
from operator import itemgetter

from spor_tasks.core.contracts import Benchmark
from spor_tasks.core.digests import digest
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import SetFacts
from spor_tasks.harness import task_files
from spor_tasks.harness.task_files import TaskFile
from spor_tasks.results.runs import Run
from spor_tasks.results.samples import SampleFile

_LENGTH = 12  # characters of a digest, enough to look it up


def shipped_task(result: Run) -> TaskFile | None:
    """Return the shipped task that a result names, or else one of the same sets.

    None is a result of sets that are not shipped, such as those of a user's own corpus.
    """
    by_task, own = {file.name: file for file in task_files.files()}, result.spec
    return by_task.get(result.task) or (by_task.get(own.task) if own.sets.is_fixed else None)


def _is_comparable(result: Run, ours: TaskFile) -> bool:
    """Return whether both have the same N of a version N.X."""
    one, other = result.signature["version"], str(ours.sets.version)
    return one.partition(".")[0] == other.partition(".")[0]


def contradiction(result: Run) -> str | None:
    """Return how a result contradicts the shipped task of its name or sets; None if it does not.

    Results of another version of the task, before the point, cannot be compared with the file.
    """
    ours, own = shipped_task(result), result.spec
    if ours is None or not _is_comparable(result, ours):
        return None
    if own.sets.split is not None and own.task == ours.name:
        # No task file has the digest of a split, and to compute it needs the sets: see `fault_of`.
        return None
    claimed, named = own.sets.named, {key: getattr(ours.sets, key) for key in own.sets.named}
    if (own.benchmark, claimed) != (ours.sets.benchmark, named):
        names = " ".join(name for name in named.values() if name)
        return (
            f"claims to be of {own.benchmark} {own.sets}, but {ours.name} is of "
            f"{ours.sets.benchmark} {names}: left out"
        )
    sha256, expected = result.signature["test_sha256"], ours.sets.test_sha256
    if expected and sha256 != expected:
        major = int(ours.sets.version)
        return (
            f"claims the test set {sha256[:_LENGTH]}…, but version {major} of {ours.name} has "
            f"{expected[:_LENGTH]}…: left out"
        )
    return None


def fault_of(file: SampleFile) -> str | None:
    """Return in what the samples of a result are not the whole test set; None if they are.

    Raises:
        ResultError: a sample is damaged.
    """
    result, own = file.run, file.run.spec
    ours, version = shipped_task(result), result.signature["version"]
    if ours and not _is_comparable(result, ours):
        return f"is of version {version}, and this package can check only {ours.sets.version}"
    if result.n != result.documents:
        return f"has {result.n:,} of {result.documents:,} samples: evaluate all of them"
    if result.signature["demonstrations_sha256"] != str(None):
        return None  # it has only the samples that every arm has demonstrations for
    logged = [(record.number or 0, record.sample) for record in file.records()]
    sha256 = digest(sample for _, sample in sorted(logged, key=itemgetter(0)))
    if sha256 != result.signature["test_sha256"]:
        return "claims another test set than that of its samples"
    if own.sets.split and _split_sha256(own.benchmark, own.sets) not in {None, sha256}:
        return "has other samples than its split"
    return None


@cache
def _split_sha256(name: str, sets: SetFacts) -> str | None:
    """Return the digest of a shipped split, which no task file has."""
    benchmark: Benchmark = registry().get("benchmark", name)
    spec = benchmark.find(**sets.named)
    return digest(benchmark.load(spec).test) if spec.release.is_pinned else None
