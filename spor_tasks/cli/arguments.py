"""Arguments that several commands take, and the exit status that several return."""

import argparse
from pathlib import Path

INTERRUPTED = 130
"""The exit status after Ctrl-C, as shells have it (128 + SIGINT), even if something was saved."""

VIOLATED = 1
"""The exit status of a check that found violations, or of a report that left something out."""


def positive(text: str, least: int = 1) -> int:
    """Return a whole number from 1, or from another one."""
    number = int(text)
    if number < least:
        raise argparse.ArgumentTypeError(f"{number} is less than {least}")
    return number


def natural(text: str) -> int:
    """Return a whole number from 0."""
    return positive(text, 0)


def seed(text: str) -> int:
    """Return a whole number that every reader of JSON takes for one."""
    number = int(text)
    if not 0 <= number < 2**53:
        raise argparse.ArgumentTypeError(f"{number} is not from 0 to 2**53 - 1")
    return number


def add_include_path(parser: argparse.ArgumentParser) -> None:
    """Add the folder of task files of one's own, as `spor eval` takes it."""
    parser.add_argument(
        "--include_path",
        type=Path,
        metavar="DIR",
        help="also know the tasks in this folder, as `spor tasks make` wrote them",
    )


def add_building(parser: argparse.ArgumentParser) -> None:
    """Add the settings of sets that are built."""
    parser.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="seed of sets that are built: of a corpus without published sets, or by a search",
    )
    parser.add_argument(
        "--restarts",
        type=positive,
        metavar="N",
        help="of a corpus without published sets: runs of Algorithm 1 to choose the best from",
    )
    parser.add_argument(
        "--lang",
        metavar="CODE",
        help="of WebNLG's XML with texts in several languages: read those in this one, such as ru",
    )
    parser.add_argument(
        "--hide",
        action="append",
        default=[],
        metavar="ATTRIBUTE",
        help="rule learnability of attribute-value pairs: hide the values of this attribute; may "
        "be repeated (default: what all references copy)",
    )
