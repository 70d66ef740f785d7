"""How several verbs of `spor data` print things."""

import textwrap

from spor_tasks.core.sample import SplitPair
from spor_tasks.core.visible import visible


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
