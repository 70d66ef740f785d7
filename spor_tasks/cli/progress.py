"""What a terminal shows while a command is at work."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from tqdm import tqdm

from spor_tasks.core.visible import visible

Report: TypeAlias = Callable[[int, int], None]
"""Is told how many steps are done, and of how many."""

_SECONDS = 1.0


@contextmanager
def working(what: str) -> Iterator[Report]:
    """Show what is being done and for how long already, from the first second on.

    It becomes a bar when the work reports its steps. Nothing is shown where there is no terminal.
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
