"""Arguments that several commands take, and the exit status that several return."""

import argparse
from collections.abc import Iterator
from typing import Protocol

from spor_tasks.core.registry import Kind, registry


class Commands(Protocol):
    """Where a command adds its parser: what argparse's ``add_subparsers`` returns."""

    def add_parser(self, name: str, *, help: str, add_help: bool = True) -> argparse.ArgumentParser:  # noqa: A002 - argparse's
        """Add the parser of a command."""


INTERRUPTED = 130
"""The exit status after Ctrl-C, as shells have it (128 + SIGINT), even if something was saved."""

VIOLATED = 1
"""The exit status of a check that found violations, or of a report that left something out."""


class Registered:
    """The registered names of a kind, as ``choices``; they are looked up when they are needed."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind

    def __iter__(self) -> Iterator[str]:
        return iter(registry().names(self._kind))

    def __contains__(self, name: object) -> bool:
        return name in registry().names(self._kind)


def positive(text: str) -> int:
    """Return a whole number from 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def add_json(parser: argparse.ArgumentParser, help: str = "print JSON") -> None:  # noqa: A002 - argparse's
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help=help)


def add_classifier(parser: argparse.ArgumentParser) -> None:
    """Add the options of the classifier that some metrics ask."""
    group = parser.add_argument_group(
        "metrics facts, nli_acc, bleurt and mctg_ppl",
        "the classifier that decides which units a text expresses, or whether a table entails it, "
        "or that rates a text, or the model that says how likely it is",
    )
    group.add_argument("--model", metavar="PATH_OR_NAME", help="its folder, or its name on the hub")
    group.add_argument(
        "--label", help="its class that means yes, if the checkpoint does not name it"
    )
    group.add_argument("--device", help="its device (default: a GPU if there is one, else the CPU)")
    group.add_argument("--batch-size", type=positive, metavar="N", help="its batch size, 32")
