r"""How the published programs compare a cell with a text: as a regular expression.

Each word `w` of the text becomes a lookahead `(?=.*w)`, and a cell matches if all of them hold from
some place in it. Most words contain no special character, or only dots; for these the answer is
found without a regular expression. The others come from users, so the time that one may take is
bounded beforehand: a pattern that might take too long has no answer.
"""

import re
import warnings
from collections.abc import Sequence
from functools import lru_cache
from itertools import compress
from typing import NamedTuple

from spor_tasks.metrics.programs.parse import ProgramError

_SPECIAL = re.compile(r"[$()*+?[\\\]^{|}]")  # the dot is not one of them
_REPEATED_GROUP = re.compile(r"\)[*+?{]")
_LONGEST = 1000  # characters of a text that becomes a regular expression
_LIMIT = 10_000_000  # of one comparison of all cells


class Matches(NamedTuple):
    """A mask of the cells that match; a negation uses its complement if ``negatable`` is set."""

    cells: list[bool]
    negatable: bool


def matches(text: str, cells: Sequence[str | None]) -> Matches:
    """Return which cells a text matches; a missing cell never does.

    A text with a character beyond ASCII, or that is not a regular expression, must be contained in
    the cell as it is, and the published code then ignores a negation.

    Raises:
        ProgramError: the regular expression may take too long.
    """
    if not text.isascii():
        return _contained(text, cells)
    words = text.split(" ")
    if _SPECIAL.search(text):
        return _general(text, words, cells)
    rarest = max(text.replace(".", " ").split(" "), key=len)  # the longest, which few cells contain
    matched = [
        cell is not None
        and rarest in cell
        and all(word in cell or ("." in word and _dotted(word, cell)) for word in words)
        for cell in cells
    ]
    if any(
        "\n" in cell for cell in compress(cells, matched) if cell
    ):  # one line must have all words
        return _general(text, words, cells)
    return Matches(matched, negatable=True)


def _contained(text: str, cells: Sequence[str | None]) -> Matches:
    return Matches([cell is not None and text in cell for cell in cells], negatable=False)


def _dotted(word: str, cell: str) -> bool:
    """Return whether a cell contains a word whose dots stand for any character."""
    if not all(part in cell for part in word.split(".")):
        return False
    pattern = _compiled(word)
    return pattern is not None and pattern.search(cell) is not None


def _general(text: str, words: Sequence[str], cells: Sequence[str | None]) -> Matches:
    if len(text) > _LONGEST:
        raise ProgramError("is too slow as a regular expression", text[:80])
    pattern = _compiled("".join(f"(?=.*{word})" for word in words))
    if pattern is None:
        return _contained(text, cells)
    if _REPEATED_GROUP.search(text) or _most_steps(text, words, cells) > _LIMIT:
        raise ProgramError("is too slow as a regular expression", text[:80])
    matched = [cell is not None and pattern.search(cell) is not None for cell in cells]
    return Matches(matched, negatable=True)


def _most_steps(text: str, words: Sequence[str], cells: Sequence[str | None]) -> int:
    """Return a bound on the steps of all searches, where no group is repeated.

    A search begins at each place. From there, each lookahead skips any number of characters, and
    each repetition in a word tries any length. A word that opens more groups than it closes puts
    the next lookaheads inside its own. Each bar may double the ways.
    """
    nested = sum(max(0, word.count("(") - word.count(")")) for word in words)
    degree = 2 + nested + sum(map(text.count, "*+?{"))
    starts: int = sum((len(cell) + 1) ** degree for cell in cells if cell is not None)
    return len(words) * starts << text.count("|")


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    """Return a regular expression, or None where the text is not one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what a later Python may read otherwise
        try:
            return re.compile(pattern)
        except (re.error, OverflowError, RecursionError):
            return None
