"""What several verbs of `spor data` share: which sets are asked for, and how things are printed."""

import argparse
import dataclasses
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from spor_tasks.aspects.arms import ARMS
from spor_tasks.cli.arguments import positive
from spor_tasks.core.sample import SplitPair
from spor_tasks.core.visible import visible

if TYPE_CHECKING:
    from spor_tasks.aspects.request import Request


def add_request(
    parser: argparse.ArgumentParser,
    *,
    required: bool,
    protocols: Sequence[str] = ("published", "strict"),
) -> None:
    """Add the options that say which sets are wanted."""
    parser.add_argument(
        "--corpus",
        required=required,
        help="webnlg, e2e, viggo, mini, or your own JSON Lines file",
    )
    parser.add_argument("--aspect", choices=ARMS)
    parser.add_argument(
        "--part",
        help="n2, n3 and so on, or main, cwio, performance (default: the aspect's first part)",
    )
    parser.add_argument("--protocol", choices=protocols)
    parser.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="seed of sets that are built: of any corpus without published sets, or by --search",
    )
    parser.add_argument(
        "--restarts",
        type=positive,
        metavar="N",
        help="of a corpus without published sets: runs of Algorithm 1 to choose the best from",
    )
    parser.add_argument(
        "--hide",
        action="append",
        default=[],
        metavar="ATTRIBUTE",
        help="rule learnability of attribute-value pairs: hide the values of this attribute; may "
        "be repeated (default: what all references copy)",
    )


def request_of(options: argparse.Namespace) -> "Request":
    """Return which sets the options ask for."""
    from spor_tasks.aspects.request import Request

    names = [field.name for field in dataclasses.fields(Request) if hasattr(options, field.name)]
    given = {name: getattr(options, name) for name in names}
    return Request(**given | {"hide": tuple(options.hide)})


def title(pair: SplitPair) -> str:
    """Return aspect, corpus, protocol and part in one line."""
    return " ".join(filter(None, [pair.aspect, pair.corpus, pair.protocol, pair.part]))


def number(value: float | tuple[int, ...] | None) -> str:
    """Return a figure as a table shows it; nothing for None."""
    match value:
        case None:
            return ""
        case tuple():
            return " ".join(map(number, value))
        case float():
            return f"{value:.4f}"
    return f"{value:,}"


def fill(text: str, *, indent: int) -> str:
    """Return the text in lines of 100 characters, all indented, the first one two less."""
    margin = " " * indent
    return textwrap.fill(visible(text), 100, initial_indent=margin, subsequent_indent=f"{margin}  ")
