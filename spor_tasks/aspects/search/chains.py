"""Run independent chains of work on all cores; results do not depend on the number of cores."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Generator
from multiprocessing.connection import Connection, wait
from typing import TypeAlias, TypeVar

from spor_tasks.core.errors import SplitError

Result = TypeVar("Result")
CountSteps: TypeAlias = Callable[[int], None]
"""Called now and then, also during long work, with the steps made since the last call."""
Chain: TypeAlias = Callable[[int, CountSteps], Result]
"""Work that depends only on the number of the chain, and counts its steps."""


_PAUSE = 0.5
"""Seconds without a step after which ``count`` is called all the same."""


def run(
    chain: Chain[Result], number: int, jobs: int | None, count: CountSteps
) -> Generator[tuple[int, Result], None, None]:
    """Yield the results of chains 0 to ``number`` − 1 with their numbers, as they finish.

    A job runs every ``jobs``-th chain, in order. A single job runs in this process. Several jobs
    run in separate processes, so ``chain`` and the results must be picklable; they end with the
    iterator, or with an error of ``count``. By default there is one job per core that this process
    may use.

    Raises:
        SplitError: a process ended before it finished its chains.
    """
    jobs = min(number, jobs or _cores())
    if jobs == 1:
        for index in range(number):
            yield index, chain(index, count)
        return
    # Spawned, not forked: threads of the caller may hold locks that a fork would never release.
    context = multiprocessing.get_context("spawn")
    unfinished = set(range(number))
    shares: dict[Connection, range] = {}
    processes = []
    try:
        for job in range(jobs):
            receiver, sender = context.Pipe(duplex=False)
            shares[receiver] = range(job, number, jobs)
            process = context.Process(
                target=_work, args=(chain, shares[receiver], sender), daemon=True
            )
            process.start()
            sender.close()  # our copy, so that the pipe ends with the process
            processes.append(process)
        while unfinished:
            talking = wait(shares, _PAUSE)
            count(0)
            for receiver in [each for each in shares if each in talking]:
                try:
                    steps, finished = receiver.recv()
                except EOFError as error:
                    if not unfinished.isdisjoint(shares.pop(receiver)):
                        raise SplitError(
                            "a process of the search ended before it finished",
                            remedy="Check that there is enough memory, or set `jobs` to 1.",
                        ) from error
                else:
                    count(steps)
                    unfinished.difference_update(finished)
                    yield from finished.items()
    finally:
        for process in processes:
            process.terminate()
            process.join()


def _work(chain: Chain[Result], indices: range, sender: Connection) -> None:
    """Run chains; send their steps and their results as ``(steps, {index: result})``."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller gets it too and ends this process
    for index in indices:
        sender.send((0, {index: chain(index, lambda steps: sender.send((steps, {})))}))
    sender.close()


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
