"""Show on a terminal, or in a log, how far a command is."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm

from spor_tasks.core.visible import visible

_SECONDS = 1.0
_LINES_SECONDS = 10.0


@contextmanager
def working(what: str) -> Iterator[Callable[[int, int, str], None]]:
    """Show a bar after the first second; without a terminal, a line every 10 seconds.

    Yields what the work calls with the steps done, all steps, and a note of a few words.
    """
    what = visible(what)
    last_line = time.monotonic()
    with tqdm(desc=what, delay=_SECONDS, disable=None, leave=False) as bar:

        def report(steps: int, total: int, note: str) -> None:
            nonlocal last_line
            note = visible(note)
            bar.total = total
            bar.set_postfix_str(note, refresh=False)
            bar.update(steps - bar.n)
            if bar.disable and time.monotonic() - last_line >= _LINES_SECONDS:
                last_line = time.monotonic()
                print(f"{what}: {steps / total:.0%}, {note}", file=sys.stderr, flush=True)

        yield report
