"""The state of a cell of an experiment, as its folder has it, and the work that completes it.

A cell's folder holds `adapter` and `results`; the last error is in `error.txt`. An adapter is done
if its manifest names the settings, data, base and packages that are here. A result is done if it is
in the folder whose name is the digest of weights, task, packages and settings of the evaluation.
"""

import logging
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from filelock import FileLock, Timeout

from spor_tasks import __version__
from spor_tasks.core import named
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import ConfigError, CorpusError, ResultError
from spor_tasks.core.files import FileContent
from spor_tasks.core.folders import read_manifest
from spor_tasks.core.sample import SetFacts
from spor_tasks.core.visible import visible
from spor_tasks.harness import task_files
from spor_tasks.models import backends, checkpoints
from spor_tasks.results import runs
from spor_tasks.results.facts import Adapter
from training.config import DataConfig, TrainingConfig
from training.data import find_arm, sets_of
from training.experiments.plan import Cell
from training.identity import differing_keys, identity, settings_sha256
from training.launched import is_shared
from training.settings import read_settings

if TYPE_CHECKING:
    from spor_tasks.evaluation.run import Evaluator

Status: TypeAlias = Literal["done", "partly", "missing", "running", "failed", "conflict"]
"""``conflict``: an adapter with other settings exists; it is neither used nor replaced."""

_log = logging.getLogger(__name__)

MODEL = "spor-hf"
"""The type of the models that are evaluated."""
_ERROR = "error.txt"
_LOCK = ".lock"
# Another process may hold a lock for a moment, only to see whether it is held.
_PATIENCE = 0.2


@dataclass(frozen=True, slots=True)
class CellState:
    """The state of a cell; ``results`` has the file of each task that is done."""

    status: Status
    detail: str
    results: Mapping[str, Path]


def look(cell: Cell) -> CellState:
    """Return the state of a cell, which others may be working on.

    Raises:
        ConfigError: the base's folder is not a checkpoint.
    """
    state = _finished(cell)
    if state.status in {"done", "conflict"}:
        return state
    if (cell.folder / _LOCK).exists():  # else a look would write it
        with claimed(cell.folder, 0) as is_free:
            if not is_free:
                return CellState("running", "", state.results)
    if (error := cell.folder / _ERROR).exists():
        first_line = error.read_text("utf-8", "replace").partition("\n")[0]
        return CellState("failed", visible(first_line), state.results)
    return state


def complete(cell: Cell, evaluator: "Evaluator", *, since: float, progress: bool = True) -> bool:
    """Do what of a cell is missing, unless another process works on it; say whether it is done.

    An error is kept in the cell's folder. A cell that failed after ``since``, in seconds of the
    epoch, is left alone. If several processes share the cells, an error ends them all.
    """
    with _claimed_by_all(cell.folder) if is_shared() else claimed(cell.folder) as is_mine:
        error = cell.folder / _ERROR
        if not is_mine or (error.exists() and error.stat().st_mtime >= since):
            return False
        try:
            _do(cell, evaluator, progress=progress)
        except Exception as fault:
            evaluator.release()
            message = visible(f"{type(fault).__name__}: {' '.join(str(fault).split())}")
            _log.error("%s: %s", cell.name, message)
            with suppress(OSError):  # the disk may be full
                trace = "".join(traceback.format_exception(fault))
                error.write_text(f"{message}\n\n{trace}", "utf-8", "backslashreplace")
            if is_shared():
                raise
            return False
        error.unlink(missing_ok=True)
    return True


@contextmanager
def claimed(folder: Path, patience: float = _PATIENCE) -> Iterator[bool]:
    """Lock a cell's folder, and yield whether that worked within ``patience`` seconds.

    The system frees the lock if this process dies.

    Raises:
        ConfigError: the folder cannot be written.
    """
    lock = FileLock(folder / _LOCK, timeout=patience)
    try:
        folder.mkdir(parents=True, exist_ok=True)
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


@contextmanager
def _claimed_by_all(folder: Path) -> Iterator[bool]:
    """Lock a cell's folder in the first of the processes that share it; tell all of them."""
    from training import processes  # torch, which takes seconds

    is_first = processes.join().is_main_process
    with claimed(folder) if is_first else nullcontext(enter_result=False) as is_mine:
        yield processes.as_first(is_mine)


def _finished(cell: Cell) -> CellState:
    """Return the state by adapter and results alone."""
    if cell.training:
        try:
            manifest = read_manifest(cell.training.output)
        except ResultError:
            return CellState("missing", "", {})
        if difference := _difference(cell.training, manifest):
            return CellState("conflict", f"the existing adapter {visible(difference)}", {})
    results, tasks = _results(cell), cell.tasks
    if len(results) == len(tasks):
        return CellState("done", "", results)
    if not (cell.training or results):
        return CellState("missing", "", results)
    return CellState("partly", f"{len(results)} of {len(tasks)} tasks", results)


def _difference(config: TrainingConfig, manifest: FileContent) -> str | None:
    """Return how the adapter's identity differs from the one that the cell has here, if it does."""
    try:
        adapter = Adapter.read(manifest, config.output)
        log = adapter.log
        trained = read_settings(TrainingConfig, log and log.config, str(config.output))
        arm = adapter.arm_sha256
        base = adapter.base_model.sha256 if adapter.base_model else None
        existing = identity(trained, arm, base) | {"versions": log and log.versions}
    except (ConfigError, ValueError) as error:  # pydantic's, of settings nested too deeply
        return f"has settings of another version: {getattr(error, 'what', error)}"
    # None: the corpus or the base is not on this machine, which training will report
    own_arm = _arm_sha256(config.data)
    own_base = checkpoints.base_sha256(config.model.arguments)
    current = identity(config, own_arm or arm, own_base or base)
    for key, value, expected in differing_keys(existing, current):
        return f"has {key} {value}, and this experiment asks for {expected}"
    return None


@cache
def _arm_sha256(data: DataConfig) -> str | None:
    try:
        return digest(find_arm(sets_of(data), data.arm))
    except CorpusError:
        return None


def _place(cell: Cell, task: str) -> Path:
    """Return the folder of the results of a task that weights, packages and settings here give."""
    if cell.training:
        weights = read_manifest(cell.training.output)["adapter_sha256"]
    else:
        weights = checkpoints.base_sha256(cell.arguments)  # None while they are not on this machine
    metadata = next(file.metadata for file in task_files.files() if file.name == task)
    facts = {
        "weights": weights,
        "versions": {"spor_tasks": __version__, **backends.package_versions()},
        "task": (task, metadata["version"]),
        "test_sha256": _split_sha256(cell.sets) or metadata.get("test_sha256"),
        "model": (MODEL, cell.arguments, cell.threads),
        "settings": (cell.metadata, cell.options),
    }
    return cell.folder / "results" / settings_sha256(facts)[:12]


def _results(cell: Cell) -> dict[str, Path]:
    """Return the latest result file of each task that is done."""
    if not any((cell.folder / "results").rglob("results_*.json")):
        return {}  # and the weights need no digest
    results: dict[str, Path] = {}
    for task in cell.tasks:
        files = _place(cell, task).rglob("results_*.json")
        for file in sorted(files, key=lambda file: file.name):
            with suppress(ResultError):  # cut short
                if any(result.task == task for result in runs.read(file)):
                    results[task] = file
    return results


@cache
def _split_sha256(sets: SetFacts) -> str | None:
    """Return the digest of the test set of a split, which no task file has."""
    spec = named.find(**sets.named)
    return digest(named.benchmark(spec.benchmark).load(spec).test) if spec.sets.split else None


# --- The work ------------------------------------------------------------------------------------


def _do(cell: Cell, evaluator: "Evaluator", *, progress: bool) -> None:
    """Train and evaluate what is missing, in each of the processes that share the cell.

    Raises:
        ConfigError: an adapter with other settings exists, and may not be replaced.
        ResultError: lm-eval could not write a result.
    """
    state = _finished(cell)
    if state.status == "done":
        return
    # torch, which takes seconds
    from training import card, processes

    team = processes.join()
    if cell.training and state.status in {"missing", "conflict"}:
        if state.status == "conflict" and not cell.training.overwrite:
            raise ConfigError(
                state.detail,
                where=cell.folder,
                remedy="Nothing was changed. Set another `output` for the experiment, or replace "
                "the adapter with --overwrite.",
            )
        from training.lora import train

        evaluator.release()  # there may be no room for two models
        train(cell.training, progress=progress)
        evaluator.release()  # frees what training left as well
        state = _finished(cell)  # there may be results of these very weights
    for task in cell.tasks:
        if task not in state.results:
            place = _place(cell, task)
            own = {"metadata": cell.metadata, **cell.options}
            with processes.cpu_threads(cell.threads):
                evaluator.evaluate([cell.arguments], [task], place, **own)
            if team.is_main_process:
                if (final := _place(cell, task)) != place:  # the weights were downloaded meanwhile
                    place = place.rename(final)
                if task not in _results(cell):
                    remedy = "Check that the disk has room."
                    raise ResultError("lm-eval wrote no result", where=place, remedy=remedy)
            team.wait_for_everyone()
    if cell.training and team.is_main_process:
        results = [result for file in _results(cell).values() for result in runs.read(file)]
        card.write_card(cell.training.output, results)
