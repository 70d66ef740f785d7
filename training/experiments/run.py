"""`python -m training run`: all cells of an experiment, in one process or many.

Workers know of each other only through the folder: each takes the next cell that is not done and
that no other worker has. So any number can be started, in any way, on any machine that sees it.
"""

import logging
import os
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

import submitit
from tqdm import tqdm

from spor_tasks import report
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.visible import visible
from spor_tasks.report.document import plain_text
from training import lifeline
from training.experiments import cells
from training.experiments.cells import CellState
from training.experiments.experiment import Cell, Experiment, choose, expand

_SECONDS = 0.5  # between two looks at the cells
_GRACE = 15.0
_YEAR = 365 * 24 * 60
_log = logging.getLogger(__name__)

ExecutorName: TypeAlias = Literal["local", "slurm"]
States: TypeAlias = Mapping[Cell, CellState]


def plan(experiment: Experiment, only: Sequence[str] = ()) -> str:
    """Return a line for each cell with its state, and the number of cells in each state.

    Raises:
        ConfigError: no cell has a name with one of the patterns.
    """
    states = _look(experiment, choose(expand(experiment), only))
    width = max(len(cell.name) for cell in states)
    lines = [
        f"{cell.name:<{width}}  {state.status:<8}  {state.detail}".rstrip()
        for cell, state in states.items()
    ]
    trainings = sum(cell.kind == "tuned" for cell in states)
    evaluations = sum(len(cell.tasks) for cell in states)
    counts = f"{len(states)} cells: {trainings} trainings and {evaluations} evaluations"
    return "\n".join([*lines, "", f"{counts}; {_counted(states)}"])


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
        ConfigError: no cell has a name with one of the patterns, or submitit does not know a
            setting.
        ResultError: the results cannot be compared in one report.
    """
    chosen = choose(expand(experiment), only)
    if overwrite:
        experiment = replace(experiment, overrides=(*experiment.overrides, "overwrite=true"))
    since = time.time()
    if executor == "local" and workers == 1:
        work(experiment, chosen, since, progress=progress)
    else:
        _send_out(experiment, chosen, since, executor, workers)
    states = _look(experiment, chosen)
    _tell(experiment, states)
    return all(state.status == "done" for state in states.values())


def work(
    experiment: Experiment, chosen: Sequence[Cell], since: float, *, progress: bool = False
) -> None:
    """Do every cell that no other worker has."""
    evaluator = cells.evaluator_of(experiment)
    with _quiet():
        for number, cell in enumerate(chosen, start=1):
            _log.info("%d of %d: %s", number, len(chosen), cell.name)
            cells.complete(experiment, cell, evaluator, since=since, progress=progress)


# --- Several workers -----------------------------------------------------------------------------


def _send_out(
    experiment: Experiment,
    chosen: Sequence[Cell],
    since: float,
    executor: ExecutorName,
    workers: int,
) -> None:
    """Start workers, and show what they do until the last has ended."""
    folder = experiment.folder / "workers"
    # Slurm jobs go on when this process is killed; local workers end with it.
    task = lifeline.following(work) if executor == "local" else work
    jobs: list[submitit.Job[None]] = []
    try:
        with lifeline.line() as line:
            with lifeline.standard_input(line):
                for number in range(workers):
                    submit = _executor(experiment, executor, folder, number).submit
                    jobs.append(submit(task, experiment, chosen, since))
            _log.info("%d workers, whose logs are in %s", workers, visible(folder))
            _watch(experiment, chosen, jobs)
    except BaseException:
        if executor == "local":
            _wait(jobs)  # they end because the line does, and clean up
        for job in jobs:
            job.cancel()
        _wait(jobs)
        raise
    for job in jobs:
        if job.state not in {"FINISHED", "COMPLETED"} or job.exception():
            _log.error("worker %s: %s, see %s", job.job_id, job.state, visible(job.paths.stderr))


def _wait(jobs: Sequence[submitit.Job[None]]) -> None:
    """Give workers that were told to end time to do so."""
    deadline = time.monotonic() + _GRACE
    while time.monotonic() < deadline and not all(job.done() for job in jobs):
        time.sleep(0.1)


def _executor(
    experiment: Experiment, executor: ExecutorName, folder: Path, number: int
) -> submitit.Executor:
    """Return submitit's executor for one worker.

    Raises:
        ConfigError: submitit does not know a setting, or Slurm is missing.
    """
    if executor == "local":
        local = submitit.LocalExecutor(folder)
        gpus = _gpus(number, experiment.processes)
        local.update_parameters(timeout_min=_YEAR, gpus_per_node=len(gpus), visible_gpus=gpus)
        return local
    try:
        slurm = submitit.AutoExecutor(folder, cluster=executor)
        slurm.update_parameters(name=experiment.name, **experiment.slurm)
    except (NameError, AssertionError, RuntimeError, ValueError) as error:
        raise ConfigError(
            str(error), where="slurm", remedy="See the settings of submitit's AutoExecutor."
        ) from error
    return slurm


def _gpus(number: int, each: int) -> list[int]:
    """Return the GPUs of a local worker: its own while there are any, then shared ones.

    Raises:
        ConfigError: CUDA_VISIBLE_DEVICES has names that are not numbers.
    """
    import torch  # noqa: PLC0415 - seconds

    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named and not all(name.isdecimal() for name in named.split(",")):
        raise ConfigError(
            f"{named!r} must be numbers",
            where="CUDA_VISIBLE_DEVICES",
            remedy="Name the GPUs by number, or start each worker with a command of its own.",
        )
    gpus = list(map(int, named.split(","))) if named else range(torch.cuda.device_count())
    return [gpus[(number * each + i) % len(gpus)] for i in range(min(each, len(gpus)))]


def _watch(
    experiment: Experiment, chosen: Sequence[Cell], jobs: Sequence[submitit.Job[None]]
) -> None:
    """Show one bar for all workers until the last has ended."""
    states: dict[Cell, CellState] = {}
    with tqdm(total=len(chosen), unit=" cells") as bar:
        while True:
            ended = all(job.done() for job in jobs)
            done = {cell for cell, state in states.items() if state.status == "done"}
            states |= _look(experiment, [cell for cell in chosen if cell not in done])
            bar.n = sum(state.status in {"done", "failed", "conflict"} for state in states.values())
            bar.set_postfix_str(_counted(states))
            if ended:
                return
            time.sleep(_SECONDS)


# --- States and report ---------------------------------------------------------------------------


def _look(experiment: Experiment, chosen: Sequence[Cell]) -> States:
    return {cell: cells.look(experiment, cell) for cell in chosen}


def _counted(states: States) -> str:
    counts = Counter(state.status for state in states.values())
    return ", ".join(f"{count} {status}" for status, count in counts.most_common())


def _tell(experiment: Experiment, states: States) -> None:
    """Print what is not done and the report, and write the report."""
    for cell, state in states.items():
        if state.status not in {"done", "running"}:
            _log.error("%s: %s%s", cell.name, state.status, state.detail and f", {state.detail}")
    files = dict.fromkeys(file for state in states.values() for file in state.results.values())
    if files:
        print(f"\n{plain_text(report.write(list(files), experiment.folder))}\n")
    print(_counted(states))
    if files:
        print(visible(experiment.folder / report.PAGE))


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence what libraries report when nothing is wrong, except progress bars of our own."""
    from transformers.utils import logging as transformers_logging  # noqa: PLC0415 - seconds

    logger = logging.getLogger("lm_eval")
    level = logger.level
    logger.setLevel(logging.ERROR)
    transformers_logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # peft and transformers deprecate each other
            yield
    finally:
        logger.setLevel(level)
        transformers_logging.enable_progress_bar()
