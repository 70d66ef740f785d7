"""Run independent chains of work on all cores; results do not depend on the number of cores."""

import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import TypeAlias, TypeVar

from spor_tasks.core.errors import SplitError

Result = TypeVar("Result")
CountSteps: TypeAlias = Callable[[int], None]
"""Called now and then with the number of steps made since the last call."""
Chain: TypeAlias = Callable[[int, CountSteps], Result]
"""Work that depends only on the number of the chain, and counts its steps."""


def run(chain: Chain[Result], number: int, jobs: int | None, count: CountSteps) -> list[Result]:
    """Return the results of chains 0 to ``number`` − 1, in this order.

    A single job runs in this process. Several jobs run in separate processes, so ``chain`` and the
    results must be picklable. By default there is one job per core that this process may use.

    Raises:
        SplitError: a process ended before it finished its chains.
    """
    jobs = min(number, jobs or _cores())
    if jobs == 1:
        return [chain(index, count) for index in range(number)]
    # Spawned, not forked: threads of the caller may hold locks that a fork would never release.
    context = multiprocessing.get_context("spawn")
    results: dict[int, Result] = {}
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
        while len(results) < number:
            talking = wait(shares)
            for receiver in [each for each in shares if each in talking]:
                try:
                    steps, finished = receiver.recv()
                except EOFError as error:
                    if not results.keys() >= set(shares.pop(receiver)):
                        raise SplitError(
                            "a process of the search ended before it finished",
                            remedy="Check that there is enough memory, or set `jobs` to 1.",
                        ) from error
                else:
                    count(steps)
                    results.update(finished)
    finally:
        for process in processes:
            process.terminate()
            process.join()
    return [results[index] for index in range(number)]


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
