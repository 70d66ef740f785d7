"""Independent chains of work on all cores, with the same results on any number of them."""

import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import TypeAlias, TypeVar

from spor_tasks.core.errors import SplitError

Result = TypeVar("Result")
Report: TypeAlias = Callable[[int], None]
"""Is told, now and then, how many steps were made since it was last told."""
Chain: TypeAlias = Callable[[int, Report], Result]
"""Work that depends on nothing but the number of the chain, and reports its steps."""


def run(chain: Chain[Result], number: int, jobs: int | None, report: Report) -> list[Result]:
    """Return the results of chains 0 to ``number`` − 1, in this order.

    One job runs here; several run in processes of their own, so that ``chain`` and the results
    must be picklable. By default there is a job for every core that this process may use.

    Raises:
        SplitError: a process ended before its chains did.
    """
    jobs = min(number, jobs or _cores())
    if jobs == 1:
        return [chain(index, report) for index in range(number)]
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
            sender.close()  # here, so that the end of the process ends the pipe
            processes.append(process)
        while len(results) < number:
            talking = wait(shares)
            for receiver in [each for each in shares if each in talking]:
                try:
                    steps, finished = receiver.recv()
                except EOFError as error:
                    if not results.keys() >= set(shares.pop(receiver)):
                        raise SplitError("a process of the search ended too early") from error
                else:
                    report(steps)
                    results.update(finished)
    finally:
        for process in processes:
            process.terminate()
            process.join()
    return [results[index] for index in range(number)]


def _work(chain: Chain[Result], indices: range, sender: Connection) -> None:
    """Run chains and send what they report, and each result, as ``(steps, {index: result})``."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller gets it too, and ends this process
    for index in indices:
        sender.send((0, {index: chain(index, lambda steps: sender.send((steps, {})))}))
    sender.close()


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
