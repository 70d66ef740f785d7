"""The command worth typing after another, on standard error; `spor --quiet COMMAND` prints none."""

import shlex
import sys
from contextvars import ContextVar

from spor_tasks.core.visible import visible

QUIET: ContextVar[bool] = ContextVar("quiet", default=False)
"""Whether no such command is printed."""


def then(*words: object) -> None:
    """Print the words of the next command; words in capitals stand for what the user has."""
    if not QUIET.get():
        print(visible(f"next: {shlex.join(map(str, words))}"), file=sys.stderr)
