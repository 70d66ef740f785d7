"""Lay out what both command lines print, and keep it from acting on the terminal."""

import argparse
import io
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from itertools import zip_longest
from typing import Any, NoReturn, TextIO, cast

from spor_tasks.core.errors import advice
from spor_tasks.core.visible import visible

_COLOR = re.compile(r"\x1b\[[\d;]*m")
_MOVES_OF_BARS = re.compile(r"\n*(?:\x1b\[A)*")


class Parser(argparse.ArgumentParser):
    """An argument parser whose error messages take one line, whatever the arguments contain."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong with the arguments, and exit."""
        super().error(visible(message))

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return the arguments; refuse what is none of them as :meth:`unrecognized` does."""
        options, rest = self.parse_known_args(args, namespace)
        if rest:
            self.unrecognized(rest)
        return options

    def unrecognized(self, rest: Sequence[str], words: Sequence[str] = ()) -> NoReturn:
        """Print what is no argument, with the nearest options, and exit.

        All the words say which command's options these are.
        """
        command: argparse.ArgumentParser = self
        for word in words:
            for action in command._actions:  # noqa: SLF001 - argparse has no public names for these
                named = action.choices.get(word) if isinstance(action.choices, dict) else None
                command = named if isinstance(named, argparse.ArgumentParser) else command
        options = [name for name in command._option_string_actions if name[:2] == "--"]  # noqa: SLF001
        wrong = next((word.partition("=")[0] for word in rest if word.startswith("-")), None)
        all_names = f"`{command.prog} --help` names all."
        nearest = f". {advice(wrong, options, all_names)}" if wrong and options else ""
        self.error(f"unrecognized arguments: {' '.join(rest)}{nearest}")

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is not None and value not in action.choices:
            what = f"there is no {value!r}. {advice(value, action.choices)}"
            raise argparse.ArgumentError(action, what)


_WIDTH = 100


def columns(lines: Iterable[Iterable[str]], *formats: str, gap: str = "") -> str:
    """Return lines whose cells stand below one another.

    A column is as wide as its widest cell. A format, such as ``>12``, aligns the cells of its
    column and says how wide that is at least; columns without one are aligned left.
    """
    texts = [[visible(cell) for cell in line] for line in lines]
    layouts = [
        (form[:1] or "<", max(int(form[1:] or 0), *map(len, column)))
        for form, column in zip_longest(formats, zip(*texts, strict=True), fillvalue="")
    ]
    return "\n".join(
        gap.join(
            f"{cell:{align}{width}}" for cell, (align, width) in zip(line, layouts, strict=True)
        ).rstrip()
        for line in texts
    )


def facts(values: Mapping[str, str | None]) -> str:
    """Return a wrapped line for each fact, after its word; without empty ones and None."""
    return "\n".join(
        textwrap.fill(visible(f"  {word:<10}{fact}"), _WIDTH, subsequent_indent=" " * 12)
        for word, fact in values.items()
        if fact
    )


@contextmanager
def guarded() -> Iterator[None]:
    """Make standard output and standard error show control characters instead of obeying them.

    Characters that the stream's encoding lacks are written as codes, and so is every character
    that :func:`visible` replaces, whoever prints or logs it. Line ends, tabs and the moves of
    progress bars pass. Colours are dropped.
    """
    with redirect_stdout(_guard(sys.stdout)), redirect_stderr(_guard(sys.stderr)):
        yield


def _guard(stream: TextIO | None) -> TextIO | None:
    """Return the guarded stream; None, a stream closed from the start, stays None."""
    if stream is None:
        return None
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return cast("TextIO", _Guarded(stream))


class _Guarded:
    """A text stream that writes nothing that acts on a terminal, and is else as the guarded one."""

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
