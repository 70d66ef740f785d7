"""`spor run`: all cells of an experiment, in one process or many.

Workers know of each other only through the folder: each takes the next cell that is not done and
that no other worker has. So any number can be started, in any way, on any machine that sees it.
"""

import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Literal, TypeAlias

import submitit
from tqdm import tqdm

from spor_tasks import report
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.terminal import columns
from spor_tasks.core.visible import visible
from spor_tasks.report.document import plain_text
from training.experiments import cells
from training.experiments.cells import CellState
from training.experiments.experiment import Experiment
from training.experiments.plan import Cell, choose, expand
from training.launched import is_first, is_shared

_SECONDS = 0.5  # between two looks at the cells
_GRACE = 10.0  # seconds that a worker has to clean up
_log = logging.getLogger(__name__)

ExecutorName: TypeAlias = Literal["local", "slurm"]
States: TypeAlias = Mapping[str, CellState]
"""The states of cells by their names."""
Todo: TypeAlias = Callable[[], None]
"""The work of one worker."""


def plan(experiment: Experiment, only: Sequence[str] = ()) -> str:
    """Return a line for each cell with its state, and the number of cells in each state.

    Raises:
        ConfigError: no cell has a name with one of the patterns.
    """
    chosen = choose(expand(experiment), only)
    states = _look(chosen)
    lines = ((name, state.status, state.detail) for name, state in states.items())
    trainings = sum(cell.training is not None for cell in chosen)
    evaluations = sum(len(cell.tasks) for cell in chosen)
    counts = f"{len(chosen)} cells: {trainings} trainings and {evaluations} evaluations"
    return f"{columns(lines, '', '<8', gap='  ')}\n\n{counts}; {_counted(states)}"


def run(
    experiment: Experiment,
    only: Sequence[str] = (),
    *,
    executor: ExecutorName = "local",
    workers: int = 1,
    overwrite: bool = False,
    progress: bool = True,
) -> bool:
    """Do what is not done, report all results, and say whether every cell is done.

    One local worker is this process. ``overwrite`` replaces adapters that have other settings.

    Raises:
        ConfigError: no cell has a name with one of the patterns, submitit does not know a setting,
            or `accelerate launch` started this process, and other workers are to be started.
        ResultError: the results cannot be compared in one report.
    """
    if overwrite:
        experiment = replace(experiment, overrides=(*experiment.overrides, "overwrite=true"))
    chosen = choose(expand(experiment), only)
    since = time.time()
    if is_shared() and (workers > 1 or executor != "local"):
        raise ConfigError(
            "processes that share each cell start no other workers",
            where="--workers",
            remedy="Use `accelerate launch`, or --workers and --executor, but not both.",
        )
    todo = partial(work, experiment, chosen, since)
    if executor == "local" and workers == 1:
        todo(progress=progress)
    else:
        logs = experiment.folder / "workers"
        logs.mkdir(parents=True, exist_ok=True)
        start = partial(_jobs, experiment) if executor == "slurm" else _processes
        with start(todo, workers, logs) as have_ended:
            _log.info("%d workers, whose logs are in %s", workers, visible(logs))
            _watch(chosen, have_ended)
    states = _look(chosen)
    if is_first():
        for name, state in states.items():
            if state.status not in {"done", "running"}:
                _log.error("%s: %s%s", name, state.status, state.detail and f", {state.detail}")
        files = dict.fromkeys(file for state in states.values() for file in state.results.values())
        if files:
            print(f"\n{plain_text(report.write(list(files), experiment.folder))}\n")
        print(_counted(states))
        if files:
            print(visible(experiment.folder / report.PAGE))
    return all(state.status == "done" for state in states.values())


def work(
    experiment: Experiment, chosen: Sequence[Cell], since: float, *, progress: bool = False
) -> None:
    """Do every cell that no other worker has."""
    from transformers.utils import logging as transformers_logging  # seconds

    from spor_tasks.evaluation.run import Evaluator  # lm-eval, which takes seconds

    how, logger = experiment.evaluation, logging.getLogger("lm_eval")
    evaluator = Evaluator(cells.MODEL, batch_size=how.batch_size, device=how.device)
    level = logger.level  # silenced is what libraries report when nothing is wrong
    logger.setLevel(logging.ERROR)
    transformers_logging.disable_progress_bar()
    try:
        with warnings.catch_warnings(action="ignore"):  # peft and transformers deprecate each other
            for number, cell in enumerate(chosen, start=1):
                _log.info("%d of %d: %s", number, len(chosen), cell.name)
                cells.complete(cell, evaluator, since=since, progress=progress)
    finally:
        logger.setLevel(level)
        transformers_logging.enable_progress_bar()


# --- Several workers -----------------------------------------------------------------------------


@contextmanager
def _processes(todo: Todo, workers: int, logs: Path) -> Iterator[Callable[[], bool]]:
    """Start workers on this machine, which end with the block; yield what says if all ended."""
    new = multiprocessing.get_context("spawn").Process
    processes = [new(target=_follow, args=(todo, logs, _gpu(n))) for n in range(workers)]
    try:
        for process in processes:
            process.start()
        yield lambda: not any(each.is_alive() for each in processes)
    finally:
        for process in filter(SpawnProcess.is_alive, processes):
            process.terminate()
        deadline = time.monotonic() + _GRACE
        for process in processes:
            process.join(max(0, deadline - time.monotonic()))
            process.kill()
    for process in processes:
        if process.exitcode:
            _log.error("worker %s ended with status %s", process.pid, process.exitcode)


def _follow(todo: Todo, logs: Path, gpu: str | None) -> None:
    """Work until the process that started this one ends, with a log for all output."""

    def end_with_parent() -> None:
        if parent := multiprocessing.parent_process():
            parent.join()
        os.kill(os.getpid(), signal.SIGINT)  # the main thread is interrupted as from the keyboard
        time.sleep(_GRACE)
        os._exit(1)

    for number in (signal.SIGINT, signal.SIGTERM):  # a shell's background process ignores the first
        signal.signal(number, signal.default_int_handler)
    threading.Thread(target=end_with_parent, daemon=True).start()
    with (logs / f"{os.getpid()}.log").open("wb", buffering=0) as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    if gpu is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = gpu
    todo()


@contextmanager
def _jobs(
    experiment: Experiment, todo: Todo, workers: int, logs: Path
) -> Iterator[Callable[[], bool]]:
    """Submit workers as jobs of Slurm, which go on if this process is killed; as ``_processes``.

    Raises:
        ConfigError: submitit does not know a setting, or Slurm is missing.
    """
    try:
        slurm = submitit.AutoExecutor(logs, cluster="slurm")
        slurm.update_parameters(name=experiment.name, **experiment.slurm)
    except (NameError, AssertionError, RuntimeError, ValueError) as error:
        raise ConfigError(
            str(error), where="slurm", remedy="See the settings of submitit's AutoExecutor."
        ) from error
    jobs = [slurm.submit(todo) for _ in range(workers)]
    try:
        yield lambda: all(job.done() for job in jobs)
    except BaseException:
        for job in jobs:
            job.cancel()
        raise
    for job in jobs:
        if job.state != "COMPLETED" or job.exception():
            _log.error("worker %s: %s, see %s", job.job_id, job.state, visible(job.paths.stderr))


def _gpu(number: int) -> str | None:
    """Return the GPU of a local worker: its own while there are any, then a shared one."""
    if names := os.environ.get("CUDA_VISIBLE_DEVICES"):
        gpus = names.split(",")
    elif version("torch").endswith("+cpu"):
        return None
    else:
        import torch  # seconds

        gpus = [*map(str, range(torch.cuda.device_count()))]
    return gpus[number % len(gpus)] if gpus else None


def _watch(chosen: Sequence[Cell], have_ended: Callable[[], bool]) -> None:
    """Show one bar for all workers until the last has ended; in a file, only what is new."""
    states: dict[str, CellState] = {}
    with tqdm(total=len(chosen), unit=" cells") as bar:
        while True:
            ended = have_ended()
            done = {name for name, state in states.items() if state.status == "done"}
            states |= _look([cell for cell in chosen if cell.name not in done])
            bar.n = sum(state.status in {"done", "failed", "conflict"} for state in states.values())
            counts = _counted(states)
            bar.set_postfix_str(counts, refresh=sys.stderr.isatty() or counts != bar.postfix)
            if ended:
                return
            time.sleep(_SECONDS)


# --- States ---------------------------------------------------------------------------


def _look(chosen: Sequence[Cell]) -> States:
    return {cell.name: cells.look(cell) for cell in chosen}


def _counted(states: States) -> str:
    counts = Counter(state.status for state in states.values())
    return ", ".join(f"{count} {status}" for status, count in counts.most_common())
