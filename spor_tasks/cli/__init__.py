"""The command `spor`: one module per command, each with its arguments and what it prints.

Nothing slow is imported before a command runs, so that `spor --help` answers at once.
"""

import argparse
import errno
import os
import sys
from collections.abc import Sequence
from typing import Any

from spor_tasks import __version__
from spor_tasks.cli import (
    baseline,
    classifier,
    compare,
    data,
    demo,
    evaluate,
    push,
    report,
    run,
    score,
    show,
    tasks,
    train,
)
from spor_tasks.cli.arguments import INTERRUPTED
from spor_tasks.cli.following import QUIET
from spor_tasks.cli.training import take_overrides
from spor_tasks.core.errors import ConfigError, SporError
from spor_tasks.core.foreign import not_ended
from spor_tasks.core.manual import page
from spor_tasks.core.terminal import Parser, guarded

COMMANDS = {
    "eval": evaluate,
    "tasks": tasks,
    "data": data,
    "score": score,
    "baseline": baseline,
    "show": show,
    "report": report,
    "compare": compare,
    "push": push,
    "train": train,
    "run": run,
    "demo": demo,
    "classifier": classifier,
}
"""The module of each command: its ``HELP``, its arguments, and what runs it."""

_BAD_INPUT = 2
_CUT = 141  # 128 + SIGPIPE


@guarded()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    0: success. 1: a check found a violation, a report left something out, or cells of an experiment
    are not done. 2: bad input, or an error of the operating system. 130, 143 and 141: Ctrl-C or
    SIGTERM ended the command, or its reader closed the pipe.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    status: int
    try:
        top = parser(words)
        options, rest = top.parse_known_args(words)
        QUIET.set(options.quiet)
        if options.run is evaluate.run:  # the rest is for lm-eval's own parser
            status = evaluate.run(rest)
        else:
            if rest := take_overrides(options, rest):
                top.unrecognized(rest, words)
            with not_ended():
                status = options.run(options) or 0
        print(end="", flush=True)  # a full disk or a closed pipe shows here at the latest
    except SporError as error:
        print(f"error: {error}", file=sys.stderr)
        return _BAD_INPUT
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has enough
        _discard_output()
        return _CUT
    except OSError as error:
        return refused(error)
    return status


class _Command(Parser):
    """The parser of a command, which takes `--quiet` too: it may stand anywhere."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # without a default, which would undo `spor --quiet COMMAND`
        self.add_argument(
            "--quiet", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
        )


def parser(words: Sequence[str] | None = None) -> Parser:
    """Return the parser of all commands; with words, with the arguments of those named alone."""
    top = Parser(
        prog="spor",
        description="Test compositional generalization in data-to-text generation with lm-eval.",
        formatter_class=argparse.RawDescriptionHelpFormatter,  # a path is not broken
        epilog=f"Begin with {page('first-score')}, which has all pages beside it.",
    )
    top.add_argument("--version", action="version", version=f"spor {__version__}")
    top.add_argument("--quiet", action="store_true", help="print no next command")
    commands = top.add_subparsers(required=True, metavar="COMMAND", parser_class=_Command)
    for name, command in COMMANDS.items():
        # lm-eval's own parser prints the help of `spor eval`
        child = commands.add_parser(name, help=command.HELP, add_help=command is not evaluate)
        if words is None or name in words:
            command.add_arguments(child)
    return top


def refused(error: OSError) -> int:
    """Print an error of the operating system, such as a full disk; return the exit status."""
    try:
        print(end="", flush=True)
    except OSError:  # it would fail again when the program ends
        _discard_output()
    # Standard output has no file name; every other file that we write is named in the error.
    printing = error.errno == errno.ENOSPC and error.filename is None
    where = "standard output" if printing else None
    print(f"error: {ConfigError(str(error), where=where)}", file=sys.stderr)
    return _BAD_INPUT


def _discard_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
