"""How many CPU threads to compute with. More can be slower, by far so on a busy machine."""

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

# A larger number of threads must be this much faster: a tie on an idle machine is a loss on a
# busy one.
_WORTHWHILE = 0.9
_SECONDS = 0.3
_log = logging.getLogger(__name__)


@contextmanager
def cpu_threads(number: int) -> Iterator[None]:
    """Let torch compute with this many threads within the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def advise_threads(run: Run, objective: Objective, rows: Sequence[Row], pad_id: int) -> None:
    """Say which number of CPU threads is fastest, where it is not the one that is set."""
    if run.model.device.type != "cpu":
        return
    fastest = fastest_number_of_threads(run, objective, rows, pad_id)
    if fastest != run.settings.threads:
        _log.info(
            "measured here and now, optimization.threads=%d is faster than the %d that are set; "
            "the last digits of results differ with it",
            fastest,
            run.settings.threads,
        )


def fastest_number_of_threads(
    run: Run, objective: Objective, rows: Sequence[Row], pad_id: int
) -> int:
    """Return how many CPU threads are fastest here and now; beside a GPU one is enough.

    One pair is enough to measure: with too many threads a whole step can take a minute.
    """
    if run.model.device.type != "cpu":
        return 1
    step = Step(epoch=0, batches=((0,),))
    batches = load_batches(step, rows, pad_id, run.model)
    targets = count_targets(step, rows)
    with seeded(run.settings.seed, run.model.device):
        threads = fastest_threads(lambda: objective.step(run, batches, targets))
    run.model.zero_grad()
    (agreed,) = broadcast_object_list([threads])
    return int(agreed)


def fastest_threads(work: Callable[[], object]) -> int:
    """Return the number of threads that ``work`` runs fastest with, here and now.

    Tried are 1, 2, 4 and so on, up to the processors that this process may use, until one is not
    worth its threads.
    """
    best, best_seconds = 1, _seconds(work, 1)
    while best * 2 <= _processors():
        seconds = _seconds(work, best * 2, give_up=max(_SECONDS, 2 * best_seconds))
        if seconds > _WORTHWHILE * best_seconds:
            break
        best, best_seconds = best * 2, seconds
    return best


def _seconds(work: Callable[[], object], threads: int, give_up: float = math.inf) -> float:
    """Return the mean duration of ``work`` after a first run, or that of a hopeless first run."""
    with cpu_threads(threads):
        if (first := _timed(work)) > give_up:
            return first
        durations = [_timed(work)]
        while sum(durations) < _SECONDS:
            durations.append(_timed(work))
    return statistics.fmean(durations)


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
