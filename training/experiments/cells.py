"""What of a cell is done, as its folder tells, and how the rest gets done.

A cell's folder holds `adapter`, `results`, and while a process works on it `working.json`; what
went wrong last is in `error.txt`. Nothing is done because a file exists: adapters are known by
their manifests, results by what stands in them.
"""

import logging
import os
import platform
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from filelock import FileLock, Timeout

from spor_tasks import __version__
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import ConfigError, CorpusError, ResultError
from spor_tasks.core.files import read_json, write_json
from spor_tasks.core.folders import read_manifest
from spor_tasks.core.visible import visible
from spor_tasks.evaluation.evaluator import Evaluator
from spor_tasks.harness import backends, checkpoints, task_files
from spor_tasks.results import reading
from training.config import DataConfig, TrainingConfig
from training.data import find_arm, sets_of
from training.experiments.experiment import Cell, Experiment, training_config
from training.experiments.launch import launch
from training.settings import dump_settings, read_settings

Status: TypeAlias = Literal["done", "partly", "missing", "running", "failed", "conflict"]
"""``conflict``: an adapter with other settings exists; it is neither used nor replaced."""

_log = logging.getLogger(__name__)

_LOCK, _WORKING, _ERROR = ".lock", "working.json", "error.txt"
# A lock may be held for a moment by one who only looks whether it is held.
_PATIENCE = 0.2
# Where results lie before the weights that they are of are on this machine.
_UNKNOWN_WEIGHTS = "unknown"


@dataclass(frozen=True, slots=True)
class CellState:
    """What of a cell is done; ``results`` has the file of each task that is."""

    status: Status
    detail: str
    results: Mapping[str, Path]


def look(experiment: Experiment, cell: Cell) -> CellState:
    """Return the state of a cell, which others may be working on.

    Raises:
        ConfigError: the base's folder is not a checkpoint.
    """
    folder = experiment.folder / cell.name
    state = _finished(experiment, cell)
    if state.status in {"done", "conflict"}:
        return state
    if _is_held(folder):
        return CellState("running", _working(folder), state.results)
    if (folder / _ERROR).exists():
        return CellState("failed", _first_line(folder / _ERROR), state.results)
    return state


def complete(
    experiment: Experiment,
    cell: Cell,
    evaluator: Evaluator,
    *,
    since: float,
    overwrite: bool = False,
    progress: bool = True,
) -> bool:
    """Do what of a cell is missing, unless another process is at it; say whether it got done.

    An error is kept in the cell's folder; a cell that failed after ``since``, seconds of the
    epoch, is left alone.
    """
    folder = experiment.folder / cell.name
    with _claimed(folder) as claimed:
        error = folder / _ERROR
        if not claimed or (error.exists() and error.stat().st_mtime >= since):
            return False
        try:
            if (state := _finished(experiment, cell)).status != "done":
                _do(experiment, cell, evaluator, state, overwrite=overwrite, progress=progress)
        except Exception as fault:  # noqa: BLE001 - whatever it is, other cells are not to blame
            evaluator.release()
            _log.error("%s: %s", cell.name, _told(fault))
            with suppress(OSError):  # as a full disk may be what is wrong
                told = f"{_told(fault)}\n\n{''.join(traceback.format_exception(fault))}"
                error.write_text(told, "utf-8", "backslashreplace")
            return False
        error.unlink(missing_ok=True)
    return True


def _finished(experiment: Experiment, cell: Cell) -> CellState:
    """Return the state as far as adapter and results tell it."""
    arguments = _arguments(experiment, cell)
    weights = None
    if cell.seed is not None:
        config = training_config(experiment, cell)
        manifest = _manifest(config.output)
        if manifest is None:
            return CellState("missing", "", {})
        if difference := _difference(config, manifest):
            return CellState("conflict", f"the existing adapter {visible(difference)}", {})
        weights = str(manifest["adapter_sha256"])
    found = _results(experiment, cell, arguments, weights)
    if len(found) == len(cell.tasks):
        return CellState("done", "", found)
    if cell.seed is None and not found:
        return CellState("missing", "", found)
    return CellState("partly", f"{len(found)} of {len(cell.tasks)} tasks", found)


# --- Adapters ------------------------------------------------------------------------------------


def _manifest(adapter: Path) -> dict[str, Any] | None:
    try:
        return read_manifest(adapter)
    except ResultError:
        return None


def _difference(config: TrainingConfig, manifest: Mapping[str, Any]) -> str | None:
    """Say in what the adapter differs from the settings, data and packages here, if it does."""
    # torch, which a look at a plan can do without where nothing is done yet
    from training.bases import versions  # noqa: PLC0415
    from training.unfinished import learned_settings  # noqa: PLC0415

    try:
        checkpoints.check_manifest(manifest, config.output)
        made_with = read_settings(TrainingConfig, manifest.get("config"), str(config.output))
    except ConfigError as error:
        return f"has settings of another version: {error.what}"
    here, there = _flat(learned_settings(config)), _flat(learned_settings(made_with))
    for key in here | there:
        if here.get(key) != there.get(key):
            return f"has {key}={there.get(key)!r}, this experiment asks for {here.get(key)!r}"
    made_by = manifest.get("versions")
    for package, version in versions(config.model).items():
        if (other := made_by.get(package) if isinstance(made_by, dict) else None) != version:
            return f"was made with {package} {other}; installed is {version}"
    if _arm_sha256(config.data) not in {None, manifest.get("arm_sha256")}:
        told = manifest.get("arm_sha256")
        return f"was trained on another {config.data.arm}, with SHA-256 {told}"
    base = checkpoints.base_sha256(_base_arguments(config))
    if base not in {None, manifest["base_model"]["sha256"]}:
        return f"was trained on other weights of {config.model.path}"
    return None


def _flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the settings under dotted keys."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        key = f"{prefix}{name}"
        flat |= _flat(value, f"{key}.") if isinstance(value, dict) else {key: value}
    return flat


@cache
def _arm_sha256(data: DataConfig) -> str | None:
    try:
        return digest(find_arm(sets_of(data), data.arm).samples)
    except CorpusError:  # it is not at hand; who trains will say so
        return None


# --- Results -------------------------------------------------------------------------------------


def _base_arguments(config: TrainingConfig) -> dict[str, Any]:
    revision = {} if config.model.revision is None else {"revision": config.model.revision}
    return {"pretrained": config.model.path, **revision}


def _arguments(experiment: Experiment, cell: Cell) -> dict[str, Any]:
    """Return lm-eval's arguments of the cell's checkpoint."""
    own_dtype = experiment.evaluation.dtype
    for model in experiment.shown_models:
        if model.name == cell.model:
            revision = {} if model.revision is None else {"revision": model.revision}
            return {"pretrained": model.path, "dtype": own_dtype or model.dtype, **revision}
    config = training_config(experiment, cell)
    arguments = _base_arguments(config) | {"dtype": own_dtype or config.model.dtype}
    if config.model.quantization and experiment.evaluation.model == "spor-hf":
        arguments["quantization"] = config.model.quantization
    return arguments | ({} if cell.seed is None else {"peft": str(config.output)})


def _threads(experiment: Experiment, cell: Cell) -> int:
    """Return how many CPU threads the cell's tasks are evaluated with."""
    if experiment.evaluation.threads:
        return experiment.evaluation.threads
    if any(model.name == cell.model for model in experiment.shown_models):
        return 1
    return training_config(experiment, cell).optimization.threads


def _metadata(experiment: Experiment, cell: Cell) -> dict[str, Any]:
    shown = experiment.in_context
    if cell.seed is None and cell.arm is not None and shown.prompt_style:
        return {"prompt_style": shown.prompt_style}
    return {}


def _options(experiment: Experiment, cell: Cell) -> dict[str, Any]:
    """Return what the cell asks of lm-eval's ``simple_evaluate``."""
    limit = {"limit": experiment.evaluation.limit}
    if cell.seed is not None or cell.arm is None:
        return limit
    shown = experiment.in_context
    return {**limit, "num_fewshot": shown.shots, "apply_chat_template": shown.chat_template}


def _place(experiment: Experiment, cell: Cell, weights: str | None) -> Path:
    """Return where results of these weights lie, so that none gets the result of another."""
    return experiment.folder / cell.name / "results" / (weights or _UNKNOWN_WEIGHTS)[:12]


def _results(
    experiment: Experiment, cell: Cell, arguments: Mapping[str, Any], adapter: str | None
) -> dict[str, Path]:
    """Return the latest result file of each task that the experiment's own settings made."""
    folder = experiment.folder / cell.name / "results"
    files = sorted(folder.rglob("results_*.json"), key=lambda file: file.name, reverse=True)
    if not files:
        return {}
    place = _place(experiment, cell, adapter or checkpoints.base_sha256(arguments))
    found: dict[str, Path] = {}
    for file in files:
        if place in file.parents:
            for task in cell.tasks:
                if task not in found and _is_of(file, task, experiment, cell):
                    found[task] = file
    return found


@cache
def _task_metadata() -> Mapping[str, Any]:
    return {file.name: file.content["metadata"] for file in task_files.files()}


def _is_of(file: Path, task: str, experiment: Experiment, cell: Cell) -> bool:
    """Say whether a file has the result of a task, reached with the experiment's settings."""
    try:
        result = next((result for result in reading.read(file) if result.task == task), None)
    except ResultError:  # cut short
        return False
    if result is None:
        return False
    content = read_json(file)
    run, config = content["config"], content["configs"][task]
    options = _options(experiment, cell)
    arguments = _arguments(experiment, cell)
    metadata = _task_metadata()[task]
    here = {
        "spor_tasks": __version__,
        "version": str(metadata["version"]),
        "test_sha256": metadata["test_sha256"],
        **_metadata(experiment, cell),
    }
    return (
        result.signature.items() >= here.items()
        and config["metadata"]["spor"]["packages"] == backends.package_versions()
        and (run["model"], run.get("limit")) == (experiment.evaluation.model, options["limit"])
        and run.get("threads") in {None, _threads(experiment, cell)}  # None: of a GPU, or of hf
        and run["model_args"] == arguments
        and options.get("num_fewshot") in {None, config["num_fewshot"]}
        and options.get("apply_chat_template", False) == (content.get("chat_template") is not None)
    )


# --- Doing it ------------------------------------------------------------------------------------


def _do(
    experiment: Experiment,
    cell: Cell,
    evaluator: Evaluator,
    state: CellState,
    *,
    overwrite: bool,
    progress: bool,
) -> None:
    """Train and evaluate what is missing.

    Raises:
        ConfigError: an adapter with other settings exists, and ``overwrite`` is off.
    """
    folder = experiment.folder / cell.name
    if state.status == "conflict" and not overwrite:
        raise ConfigError(
            state.detail,
            where=folder,
            remedy="Nothing was touched. Give the experiment another `output`, or replace what is "
            "there with --overwrite.",
        )
    try:
        if cell.seed is not None and state.status in {"missing", "conflict"}:
            _note(folder, "training")
            config = replace(training_config(experiment, cell), overwrite=overwrite)
            _train(experiment, config, evaluator, progress=progress)
            state = _finished(experiment, cell)  # results of these very weights may be there
        for task in cell.tasks:
            if task not in state.results:
                _note(folder, f"evaluating {task}")
                _evaluate(experiment, cell, evaluator, task)
        if cell.seed is not None:
            _tell_results(experiment, cell)
    finally:
        (folder / _WORKING).unlink(missing_ok=True)


def _tell_results(experiment: Experiment, cell: Cell) -> None:
    """Put the results of the cell's adapter on its model card."""
    from training import card  # noqa: PLC0415 - torch, which takes seconds

    files = _finished(experiment, cell).results.values()
    found = [result for file in files for result in reading.read(file)]
    card.write_card(training_config(experiment, cell).output, found)


def _train(
    experiment: Experiment, config: TrainingConfig, evaluator: Evaluator, *, progress: bool
) -> None:
    from training.lora import train  # noqa: PLC0415 - torch, which takes seconds

    evaluator.release()  # there may be no room for two models
    if experiment.processes == 1:
        train(config, progress=progress)
        evaluator.release()  # what training left is let go of as well
        return
    folder = config.output.parent
    settings = folder / "training.yaml"
    settings.write_text(dump_settings(config), encoding="utf-8")
    log = folder / "training.log"
    launch(
        "training",
        ["train", settings],
        processes=experiment.processes,
        threads=config.optimization.threads,
        log=log,
    )


def _evaluate(experiment: Experiment, cell: Cell, evaluator: Evaluator, task: str) -> None:
    """Evaluate a task.

    Raises:
        ResultError: lm-eval could not write the result.
    """
    from training.threads import cpu_threads  # noqa: PLC0415 - torch, which takes seconds

    arguments = _arguments(experiment, cell)
    adapter = None
    if cell.seed is not None:
        adapter = str(read_manifest(Path(arguments["peft"]))["adapter_sha256"])
    place = _place(experiment, cell, adapter or checkpoints.base_sha256(arguments))
    metadata, options = _metadata(experiment, cell), _options(experiment, cell)
    threads = _threads(experiment, cell)
    if experiment.processes == 1:
        with cpu_threads(threads):
            evaluator.evaluate(arguments, [task], place, metadata=metadata, **options)
    else:
        own = experiment.evaluation
        settings = {
            "tasks": [task],
            "model": own.model,
            "model_args": arguments,
            "metadata": metadata,
            "batch_size": own.batch_size,
            "output_path": str(place),
            "log_samples": True,
            **options,
            **({} if own.device is None else {"device": own.device}),
        }
        file = experiment.folder / cell.name / "evaluation.yaml"
        write_json(file, settings)
        log = file.with_suffix(".log")
        launch(
            "spor_tasks.cli",
            ["eval", "--config", file],
            processes=experiment.processes,
            threads=threads,
            log=log,
        )
    if place.name == _UNKNOWN_WEIGHTS and (weights := checkpoints.base_sha256(arguments)):
        place = place.rename(_place(experiment, cell, weights))  # they were downloaded meanwhile
    if task not in _results(experiment, cell, arguments, adapter):
        raise ResultError("lm-eval wrote no result", where=place, remedy="Is the disk full?")


# --- One at a time -------------------------------------------------------------------------------


@contextmanager
def _claimed(folder: Path) -> Iterator[bool]:
    """Keep others from a cell, unless one of them has it; the system frees it when we die.

    Raises:
        ConfigError: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / _LOCK, timeout=_PATIENCE)
        lock.acquire()
    except Timeout:
        yield False
        return
    except OSError as error:
        raise ConfigError(f"cannot be written: {error}", where=folder) from error
    try:
        yield True
    finally:
        lock.release()


def _is_held(folder: Path) -> bool:
    if not (folder / _LOCK).exists():
        return False
    lock = FileLock(folder / _LOCK, blocking=False)
    try:
        lock.acquire()
    except Timeout:
        return True
    lock.release()
    return False


def _note(folder: Path, step: str) -> None:
    """Say in the cell's folder what is going on there."""
    worker = f"{platform.node()}:{os.getpid()}"
    write_json(folder / _WORKING, {"step": step, "worker": worker, "since": time.time()})


def _working(folder: Path) -> str:
    with suppress(ConfigError, ValueError, LookupError, TypeError, OverflowError):
        note = read_json(folder / _WORKING)
        minutes, seconds = divmod(int(time.time() - note["since"]), 60)
        return visible(f"{note['step']} for {minutes}:{seconds:02d} on {note['worker']}")
    return ""


def _told(fault: Exception) -> str:
    return visible(f"{type(fault).__name__}: {' '.join(str(fault).split())}")


def _first_line(file: Path) -> str:
    return visible(file.read_text("utf-8", "replace").partition("\n")[0])
