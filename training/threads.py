"""The number of CPU threads to compute with. More can be far slower on a busy machine."""

import logging
import math
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from accelerate.utils import broadcast_object_list

from training.batches import load_batches
from training.encoding import Row, Step, count_targets
from training.objectives.base import Objective
from training.state import Run, seeded

# Twice the threads must take at most this share of the time; a tie would lose on a busy machine.
_WORTHWHILE = 0.9
_SECONDS = 0.3  # each number of threads is measured for at least so long
_log = logging.getLogger(__name__)


@contextmanager
def cpu_threads(number: int) -> Iterator[None]:
    """Let torch compute with this number of threads within the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def advise_threads(run: Run, objective: Objective, rows: Sequence[Row], pad_id: int) -> None:
    """Log the fastest number of CPU threads if it is not the one that is set."""
    fastest = fastest_number_of_threads(run, objective, rows, pad_id)
    if run.model.device.type == "cpu" and fastest != run.settings.threads:
        _log.info(
            "here and now, training is faster with optimization.threads=%d than with %d; the "
            "number changes the last digits of results",
            fastest,
            run.settings.threads,
        )


def fastest_number_of_threads(
    run: Run, objective: Objective, rows: Sequence[Row], pad_id: int
) -> int:
    """Return the fastest number of CPU threads here and now, which is 1 for a run on a GPU.

    It is measured on one pair, since a whole step can take a minute with too many threads.
    """
    if run.model.device.type != "cpu":
        return 1
    step = Step(epoch=0, batches=((0,),))
    batches = load_batches(step, rows, pad_id, run.model)
    targets = count_targets(step, rows)
    with seeded(run.settings.seed, run.model.device):
        threads = fastest_threads(lambda: objective.step(run, batches, targets))
    run.model.zero_grad()
    run.counts.clear()
    (agreed,) = broadcast_object_list([threads])
    return int(agreed)


def fastest_threads(work: Callable[[], object]) -> int:
    """Return the number of threads with which ``work`` is fastest, here and now.

    It tries 1, 2, 4 and so on, up to the cores that this process may use, until doubling the
    threads no longer makes the work at least a tenth faster.
    """
    best, best_seconds = 1, _seconds(work, 1)
    while best * 2 <= _processors():
        seconds = _seconds(work, best * 2, give_up=max(_SECONDS, 2 * best_seconds))
        if seconds > _WORTHWHILE * best_seconds:
            break
        best, best_seconds = best * 2, seconds
    return best


def _seconds(work: Callable[[], object], threads: int, give_up: float = math.inf) -> float:
    """Return the mean duration of ``work`` after a first run, or the first if that is too long."""
    durations: list[float] = []
    with cpu_threads(threads):
        while sum(durations[1:]) < _SECONDS:
            start = time.perf_counter()
            work()
            durations.append(time.perf_counter() - start)
            if durations[0] > give_up:
                return durations[0]
    return statistics.fmean(durations[1:])


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
