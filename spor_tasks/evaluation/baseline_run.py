"""`spor baseline`: run a baseline and score it like a model."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from spor_tasks.core.codec import to_row
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import write_rows, writing
from spor_tasks.evaluation import baselines
from spor_tasks.evaluation.baselines import Baseline
from spor_tasks.evaluation.evaluator import Evaluator
from spor_tasks.evaluation.scoring import output_fields
from spor_tasks.harness import task_files
from spor_tasks.harness.plan import sets_of
from spor_tasks.harness.task_files import TaskFile
from spor_tasks.results import reading
from spor_tasks.results.logged import Record, find
from spor_tasks.results.reading import TaskResult


def run(
    name: str,
    names: Sequence[str],
    *,
    outputs: Path | None = None,
    folder: Path | None = None,
    limit: int | None = None,
) -> tuple[TaskResult, ...]:
    """Evaluate a baseline on the tasks of these names, which may be groups or patterns.

    A baseline that uses a training set is evaluated with each arm of a task. The outputs for a
    single task, with its first arm, are written to the file ``outputs`` as rows that `spor score`
    reads. Result files as lm-eval writes them, which `spor report` reads, are written to
    ``folder``.

    Raises:
        ConfigError: the baseline or a task is unknown, the baseline does not suit any of the tasks,
            or a file cannot be written.
        CorpusError: the data of a task is missing.
    """
    baseline = baselines.find(name)
    for requested in names:
        if not task_files.expand([requested]):
            raise ConfigError(
                f"{requested!r} is not a task", remedy="`spor tasks list` names the tasks."
            )
    suited = [file for file in task_files.expand(names) if suits(baseline, file)]
    if not suited:
        raise ConfigError(
            f"{name} does not suit {', '.join(names)}", remedy=_REMEDIES[baseline.looks_at]
        )
    if outputs is not None and len(suited) > 1:
        raise ConfigError(
            f"takes the outputs of one task, not of {len(suited)}",
            where="--out",
            remedy="Name one task, or leave --out out.",
        )
    with ExitStack() as stack:
        place = folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        before = set(place.rglob("results_*.json"))
        evaluator = Evaluator("spor-baseline")
        for file in suited:
            for settings in _settings(name, baseline, file):
                metadata = {"held_out_reference": True} if baseline.looks_at == "reference" else {}
                evaluator.evaluate(settings, [file.name], place, metadata=metadata, limit=limit)
        written = sorted(set(place.rglob("results_*.json")) - before, key=lambda path: path.name)
        results = tuple(result for path in written for result in reading.read(path))
        if outputs is not None:
            _write(outputs, results[0])
    return results


_REMEDIES = {
    "input": "Name a task that is decoded greedily.",
    "demonstrations": "Name a task that shows demonstrations: …_icl_<arm>.",
    "training": "Name a task that is decoded greedily and shows no demonstrations.",
    "reference": "Name a task whose samples have two references and that shows no demonstrations.",
}


def suits(baseline: Baseline, file: TaskFile) -> bool:
    """Return whether a task has what the baseline uses.

    Tasks with beams suit no baseline, nor do those that ask for likelihoods.
    """
    metadata = file.content["metadata"]
    if file.decoding or file.asks_likelihoods:
        return False
    match baseline.looks_at:
        case "demonstrations":
            return "icl_arm" in metadata
        case "training":
            return "icl_arm" not in metadata
        case "reference":
            return "icl_arm" not in metadata and _has_two_references(file)
    return True


def _has_two_references(file: TaskFile) -> bool:
    """Return whether a sample has one besides another; those that hide something have none."""
    sets, name = sets_of(file.content["metadata"])
    return any(len(sample.references) > 1 for sample in sets.load(name).test.samples)


def _settings(name: str, baseline: Baseline, file: TaskFile) -> Iterator[dict[str, Any]]:
    """Yield the arguments of the baseline as a model, for each arm that it uses."""
    model = {"model": f"{baselines.PREFIX}{name}"}
    if baseline.looks_at != "training":
        yield model
        return
    sets, name_of_sets = sets_of(file.content["metadata"])
    spec = sets.find(name_of_sets)
    for arm in spec.arms:
        for split in spec.splits:
            yield {**model, "baseline_arm": arm, "split": split}
        if not spec.splits:
            yield {**model, "baseline_arm": arm}


def _write(path: Path, result: TaskResult) -> None:
    samples = find(result)
    with writing(path):
        write_rows(path, map(_row, samples.records() if samples else ()))


def _row(record: Record) -> dict[str, Any]:
    fields = output_fields(len(record.outputs))
    return {**to_row(record.sample), **dict(zip(fields, record.outputs, strict=True))}
