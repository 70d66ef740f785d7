"""`spor baseline`: what a system without a model writes, scored as any model is."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from spor_tasks.core.codec import to_row
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import write_rows, writing
from spor_tasks.core.sample import ARMS
from spor_tasks.evaluation import baselines
from spor_tasks.evaluation.baselines import Baseline
from spor_tasks.evaluation.evaluator import Evaluator
from spor_tasks.harness import task_files
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

    One that looks at a training set is evaluated with each arm of a task. ``outputs`` is written
    what it wrote, in the rows that `spor score` reads; that takes a single task, and its first arm.
    ``folder`` is written result files as lm-eval writes them, which `spor report` reads.

    Raises:
        ConfigError: there is no such baseline or task, the baseline does not suit any of the tasks,
            or the file cannot be written.
        CorpusError: the data of a task is not at hand.
    """
    baseline = baselines.find(name)
    for asked in names:
        if not task_files.expand([asked]):
            raise ConfigError(
                f"there is no task {asked!r} of ours", remedy="`spor tasks list` names them."
            )
    suited = [file for file in task_files.expand(names) if suits(baseline, file)]
    if not suited:
        raise ConfigError(
            f"{name} does not suit {', '.join(names)}", remedy=_REMEDIES[baseline.looks_at]
        )
    if outputs is not None and len(suited) > 1:
        raise ConfigError("takes the outputs of one task", where="--out")
    with ExitStack() as stack:
        place = folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        with writing(place):
            place.mkdir(parents=True, exist_ok=True)
        before = set(place.rglob("results_*.json"))
        evaluator = Evaluator("spor-baseline")
        for file in suited:
            for settings in _settings(name, baseline, file):
                metadata = {"held_out_reference": True} if baseline.looks_at == "reference" else {}
                evaluator.evaluate(settings, [file.name], place, metadata=metadata, limit=limit)
        written = sorted(set(place.rglob("results_*.json")) - before, key=lambda path: path.name)
        if not written:  # lm-eval says so in its log alone
            raise ConfigError("results cannot be written", where=place, remedy="Is the disk full?")
        found = tuple(result for path in written for result in reading.read(path))
        if outputs is not None:
            _write(outputs, found[0])
    return found


_REMEDIES = {
    "input": "Name a task that is decoded greedily.",
    "demonstrations": "Name a task that shows demonstrations, …_icl_<arm>.",
    "training": "Name a task that is decoded greedily and shows no demonstrations.",
    "reference": "Name a task whose samples have references and that shows no demonstrations.",
}


def suits(baseline: Baseline, file: TaskFile) -> bool:
    """Tell whether a task has what a baseline looks at. Beams are nothing to a baseline."""
    metadata = file.content["metadata"]
    if "_beam5" in file.content["include"]:
        return False
    match baseline.looks_at:
        case "demonstrations":
            return "icl_arm" in metadata
        case "training":
            return "icl_arm" not in metadata
        case "reference":
            return "icl_arm" not in metadata and metadata["aspect"] != "rule_learnability"
    return True


def _settings(name: str, baseline: Baseline, file: TaskFile) -> Iterator[dict[str, Any]]:
    """Yield the arguments of the model that answers as the baseline, one for each arm it sees."""
    model = {"model": f"{baselines.PREFIX}{name}"}
    if baseline.looks_at != "training":
        yield model
        return
    for arm in ARMS[file.content["metadata"]["aspect"]]:
        yield {**model, "baseline_arm": arm}


def _write(path: Path, result: TaskResult) -> None:
    samples = find(result)
    with writing(path):
        write_rows(path, map(_row, samples.records() if samples else ()))


def _row(record: Record) -> dict[str, Any]:
    fields = ("output",) if len(record.outputs) == 1 else ("output_1", "output_2")
    return {**to_row(record.sample), **dict(zip(fields, record.outputs, strict=True))}
