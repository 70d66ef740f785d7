"""The command `spor`: one module per command, which is imported when the command runs.

`options.toml` declares the commands and their arguments, so that `spor --help` answers at once.
"""

import argparse
import errno
import os
import sys
from collections.abc import Sequence
from pkgutil import resolve_name

from spor_tasks import __version__
from spor_tasks.cli.arguments import INTERRUPTED, OF_LM_EVAL, add_commands
from spor_tasks.cli.following import QUIET
from spor_tasks.core.errors import ConfigError, SporError
from spor_tasks.core.foreign import not_ended
from spor_tasks.core.terminal import Parser, guarded

_BAD_INPUT = 2
_CUT = 141  # 128 + SIGPIPE


@guarded()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    0: success. 1: a check found a violation, or a report left something out. 2: bad input, or an
    error of the operating system. 130 and 141: the command was interrupted, or its reader closed
    the pipe.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    status: int
    try:
        top = parser(words)
        options, rest = top.parse_known_args(words)
        QUIET.set(options.quiet)
        run = resolve_name(options.run)
        if options.run == OF_LM_EVAL:  # the rest is for lm-eval's own parser
            status = run(rest)
        else:
            if rest:
                top.error(f"unrecognized arguments: {' '.join(rest)}")
            with not_ended():
                status = run(options) or 0
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


def parser(words: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """Return the parser of all commands; with words, with the arguments of those named alone."""
    top = Parser(
        prog="spor",
        description="Test compositional generalization in data-to-text generation with lm-eval.",
    )
    top.add_argument("--version", action="version", version=f"spor {__version__}")
    top.add_argument("--quiet", action="store_true", help="print no next command")
    add_commands(top, words)
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
