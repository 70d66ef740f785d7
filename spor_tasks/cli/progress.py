"""Show on a terminal that a command is working."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from tqdm import tqdm

from spor_tasks.core.visible import visible

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of steps done and the number of all steps."""

_SECONDS = 1.0


@contextmanager
def working(what: str) -> Iterator[Progress]:
    """Show the work and the time it has taken, after the first second.

    A progress bar appears when the work reports its steps. Without a terminal nothing is shown.
    """
    done = threading.Event()
    with tqdm(
        desc=visible(what),
        bar_format="{desc}: {elapsed}",
        delay=_SECONDS,
        disable=None,
        leave=False,
    ) as bar:

        def tick() -> None:
            while not done.wait(_SECONDS):
                bar.refresh()

        def report(steps: int, total: int) -> None:
            bar.n, bar.total, bar.bar_format = steps, total, None

        clock = threading.Thread(target=tick, daemon=True)
        clock.start()
        try:
            yield report
        finally:
            done.set()
            clock.join()
