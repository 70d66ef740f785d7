"""What both command lines print, and read from their arguments, acts on no terminal."""

import argparse
import io
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import NoReturn, TextIO, cast

from spor_tasks.core.visible import visible

_COLOR = re.compile(r"\x1b\[[\d;]*m")
_MOVES_OF_BARS = re.compile(r"\n*(?:\x1b\[A)*")


class Parser(argparse.ArgumentParser):
    """A parser whose complaints about an argument, such as a file's name, are one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the arguments, and exit."""
        super().error(visible(message))


@contextmanager
def guarded() -> Iterator[None]:
    """Let standard output and standard error show what is written to them, and act on none of it.

    What their encoding lacks is written as its code. So is every character that :func:`visible`
    makes seen, whoever prints or logs it, but for line ends, tabs and what moves progress bars. The
    colours of other packages are left out; :func:`unguarded` is for our own.
    """
    with redirect_stdout(_guard(sys.stdout)), redirect_stderr(_guard(sys.stderr)):
        yield


def _guard(stream: TextIO | None) -> TextIO | None:
    """Return the stream under guard; None, one that was closed from the start, stays None."""
    if stream is None:
        return None
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return cast("TextIO", _Guarded(unguarded(stream)))


def unguarded(stream: TextIO) -> TextIO:
    """Return the stream behind a guarded one, for what is made harmless already."""
    return stream.stream if isinstance(stream, _Guarded) else stream


class _Guarded:
    """A text stream that writes nothing that acts on a terminal; else it is the one it guards."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        bar = text.startswith("\r")
        rest = _COLOR.sub("", text[bar:])
        if not _MOVES_OF_BARS.fullmatch(rest):
            rest = visible(rest, keep="\n\t")
        self.stream.write("\r" * bar + rest)
        return len(text)

    def __getattr__(self, name: str) -> object:
        return getattr(self.stream, name)
