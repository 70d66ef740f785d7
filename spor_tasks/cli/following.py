"""The command worth typing after another, on standard error; `spor --quiet COMMAND` prints none."""

import argparse
import shlex
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

from spor_tasks.core.visible import visible

QUIET: ContextVar[bool] = ContextVar("quiet", default=False)
"""Whether no such command is printed."""


def then(*words: object) -> None:
    """Print the words of the next command; words in capitals stand for what the user has."""
    if not QUIET.get():
        # a path that begins like an option is not one
        texts = (
            f"./{word}"
            if isinstance(word, Path) and str(word)[:1] == "-" < str(word)
            else str(word)
            for word in words
        )
        print(visible(f"next: {shlex.join(texts)}"), file=sys.stderr)


def given(options: argparse.Namespace, *names: str) -> Iterator[object]:
    """Yield the words of those of the options that were given."""
    for name in names:
        value = getattr(options, name)
        each = value if isinstance(value, list) else [] if value is None else [value]
        for one in each:
            yield from (f"--{name.replace('_', '-')}", one)
