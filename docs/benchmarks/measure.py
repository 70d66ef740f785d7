"""How long work takes, and in how much memory, beside a baseline of the same run."""

import os
import resource
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, process_time
from typing import NamedTuple


class Cost(NamedTuple):
    """Seconds by the clock and of the processor, and the most megabytes that the process held.

    A busy machine stretches the first, not the second.
    """

    wall: float
    processor: float
    megabytes: float

    @property
    def text(self) -> str:
        """Both times, printed."""
        return f"{self.wall:.2f} s ({self.processor:.2f} of processor)"


def seconds(work: Callable[[], object], times: int = 1) -> float:
    """Return the processor's seconds of the fastest of some runs."""
    return min(_timed(work).processor for _ in range(times))


def apart(
    work: Callable[..., object], *arguments: object, first: Sequence[object] | None = None
) -> Cost:
    """Return the cost of a function in a process of its own, the imports of its module left out.

    What a run with the ``first`` arguments loads is left out too.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_of_process, work, arguments, first).result()


def _of_process(
    work: Callable[..., object], arguments: Sequence[object], first: Sequence[object] | None
) -> Cost:
    with Path(os.devnull).open("w") as nowhere:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere.fileno(), stream.fileno())
    if first is not None:
        work(*first)
    cost = _timed(lambda: work(*arguments))
    held = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return cost._replace(megabytes=max(use.ru_maxrss for use in held) / 1024)


def _timed(work: Callable[[], object]) -> Cost:
    wall, processor = perf_counter(), _processor()
    work()
    return Cost(perf_counter() - wall, _processor() - processor, 0)


def _processor() -> float:
    """Return the processor's seconds so far of this process and of those that it waited for."""
    waited_for = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + waited_for.ru_utime + waited_for.ru_stime


def show(name: str, figure: str, *, ratio: float | None = None, to: str = "") -> None:
    """Print a figure, and how many times as much the baseline takes or is."""
    beside = f"{ratio:10,.2f} × {to}" if ratio is not None else ""
    print(f"{name:<58}{figure:>22}{beside}", flush=True)


def show_pace(
    name: str,
    count: int,
    unit: str,
    work: Callable[[], object],
    *,
    slow: tuple[str, float] = ("", 0),
) -> float:
    """Print how many a second the work does, beside a baseline's seconds for each; return ours."""
    each = seconds(work, times=3) / count
    to, baseline = slow
    ratio = baseline / each if baseline else None
    show(name, f"{1 / each:,.0f} {unit}/s", ratio=ratio, to=to)
    return each


def folder(variable: str) -> Path | None:
    """Return the folder of a corpus, or print that the variable that names it is not set."""
    if place := os.environ.get(variable):
        return Path(place)
    print(f"left out: {variable} is not set")
    return None
