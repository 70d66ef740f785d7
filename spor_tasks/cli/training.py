"""The things that commands which train share: overrides, signals, and packages that they need."""

import argparse
import logging
import signal
import sys
import threading
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from spor_tasks.cli.arguments import INTERRUPTED
from spor_tasks.core.errors import require

FILE: dict[str, Any] = {"type": Path, "metavar": "FILE"}
"""How an argument takes a file."""

_PACKAGES = ("torch", "transformers", "peft", "accelerate", "pydantic", "submitit")
_TERMINATED = 143  # 128 + SIGTERM


def trains(
    run: Callable[[argparse.Namespace], int | None],
) -> Callable[[argparse.Namespace], int | None]:
    """Return the function of a command that needs the packages of training, and can continue.

    SIGTERM ends it as Ctrl-C does, but a process that was launched with others ends at once: it
    cannot continue alone.
    """

    @wraps(run)
    def started(options: argparse.Namespace) -> int | None:
        from training.launched import is_first, is_shared

        require("training", "train", *_PACKAGES)
        logging.basicConfig(
            level=logging.INFO if is_first() else logging.ERROR, format="%(message)s"
        )
        # Its import warns of a kernel of four bits that no training on a CPU uses.
        logging.getLogger("bitsandbytes.backends").setLevel(logging.ERROR)

        def interrupt(number: int, _frame: object) -> None:
            raise KeyboardInterrupt(number)

        if not is_shared() and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, interrupt)
        try:
            return run(options)
        except KeyboardInterrupt as end:
            print("interrupted: the same command continues from what is saved", file=sys.stderr)
            return _TERMINATED if signal.SIGTERM in end.args else INTERRUPTED

    return started


def shipped(file: Path) -> Path:
    """Return this file, or where there is none, the config of this package of its name.

    Raises:
        ConfigError: there is none either.
    """
    from training.shipped import find

    return Path(find(str(file)))


def add_overrides(parser: argparse.ArgumentParser, purpose: str) -> None:
    """Add the settings that override those of a file."""
    parser.add_argument("overrides", nargs="*", metavar="key=value", help=purpose)


def take_overrides(options: argparse.Namespace, rest: list[str]) -> list[str]:
    """Put overrides where they belong, as they may stand anywhere; return the words that are left.

    Options that take several words got every override after them.
    """
    found = vars(options)
    if "overrides" not in found or not all(map(_is_override, rest)):
        return rest
    for name in {"only", "aspect"} & found.keys():
        rest = [*rest, *filter(_is_override, found[name])]
        found[name] = [word for word in found[name] if not _is_override(word)]
    found["overrides"] = [*found["overrides"], *rest]
    return []


def _is_override(word: str) -> bool:
    return "=" in word and not word.startswith("-")
