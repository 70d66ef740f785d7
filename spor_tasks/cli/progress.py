"""Show on a terminal, or in a log, that a command is working."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from tqdm import tqdm

from spor_tasks.core.visible import visible

_SECONDS = 1.0
_LINES_SECONDS = 10.0


class Progress(Protocol):
    """Called with the steps done, all steps, and what else there is to tell in a few words."""

    def __call__(self, steps: int, total: int, note: str = "", /) -> None:
        """Show how far the work is."""


@contextmanager
def working(what: str) -> Iterator[Progress]:
    """Show the work and the time it has taken, after the first second.

    A progress bar appears when the work reports its steps. Without a terminal there is a line on
    standard error every 10 seconds instead.
    """
    what = visible(what)
    done = threading.Event()
    started = last_line = time.monotonic()
    reported = ""
    with tqdm(
        desc=what,
        bar_format="{desc}: {elapsed}",
        delay=_SECONDS,
        disable=None,
        leave=False,
    ) as bar:

        def tick() -> None:
            nonlocal last_line
            while not done.wait(_SECONDS):
                now = time.monotonic()
                if not bar.disable:
                    bar.refresh()
                elif now - last_line >= _LINES_SECONDS:
                    last_line = now
                    passed = tqdm.format_interval(now - started)
                    print(f"{what}: {passed}{reported}", file=sys.stderr, flush=True)

        def report(steps: int, total: int, note: str = "", /) -> None:
            nonlocal reported
            note = visible(note)
            share = f"{steps / total:.0%}" if total else ""
            reported = "".join(f", {each}" for each in (share, note) if each)
            bar.n, bar.total, bar.bar_format = steps, total, None
            if not bar.disable:
                bar.set_postfix_str(note, refresh=False)

        clock = threading.Thread(target=tick, daemon=True)
        clock.start()
        try:
            yield report
        finally:
            done.set()
            clock.join()
