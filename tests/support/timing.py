"""How long work takes, for benchmarks."""

from collections.abc import Callable
from time import perf_counter, process_time
from typing import NamedTuple


class Seconds(NamedTuple):
    """By the clock, and of the processor: the first is the longer where others use the machine."""

    wall: float
    processor: float

    def pace(self, count: int, what: str) -> str:
        """Say how many a second, by both."""
        return f"{count / self.wall:,.0f} {what}/s ({count / self.processor:,.0f} of processor)"


def seconds(work: Callable[[], object]) -> Seconds:
    """Return how long the work takes, done once."""
    wall, processor = perf_counter(), process_time()
    work()
    return Seconds(perf_counter() - wall, process_time() - processor)


def least(work: Callable[[], object], times: int = 3) -> Seconds:
    """Return the shortest times of several runs, least disturbed by whatever else runs."""
    runs = [seconds(work) for _ in range(times)]
    return Seconds(min(run.wall for run in runs), min(run.processor for run in runs))
