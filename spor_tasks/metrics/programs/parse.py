"""Texts of programs, such as `eq{hop{argmax{all_rows; year}; name}; ann}=True`, as trees."""

import re
from typing import NamedTuple, TypeAlias, Union

_EXACT = 15  # digits of a whole number that is the same as a float

DEEPEST = 64
"""The most operators inside each other; the deepest published program has five."""

_PARTS = re.compile(r"([{};])")


class ProgramError(Exception):
    """A program cannot be parsed, or has no value on a table; it never leaves this package."""


class Literal(str):
    """A text that a program contains, with each run of blanks as one: a value or a name."""

    __slots__ = ()


def as_number(text: str) -> float | None:
    """Return what `float` makes of a text, or None; a whole number stays one."""
    whole = len(text) <= _EXACT and text.isascii() and text.isdigit()
    try:
        return int(text) if whole else float(text)
    except ValueError:
        return None


class Call(NamedTuple):
    """An operator and its arguments."""

    operator: str
    arguments: tuple["Tree", ...]


Tree: TypeAlias = Union[Call, Literal]  # noqa: UP007 - `Call` and this name need each other


def parse(program: str) -> Call:
    """Return the tree of a program; `=True` or `=False` at its end is left out.

    An argument may be empty, as that of some published programs is.

    Raises:
        ProgramError: it is not one, or has too many operators inside each other.
    """
    parts = _PARTS.split(program.rstrip().removesuffix("=True").removesuffix("=False"))
    operators: list[str] = []
    arguments: list[list[Tree]] = [[]]
    call: Call | None = None  # that has just ended
    for text, mark in zip(parts[::2], (*parts[1::2], ""), strict=True):
        word = " ".join(text.split()) if text else ""
        if (call is not None and word) or (mark == "{" and not word):
            raise ProgramError("is not a program", word or mark)
        if mark == "{":
            if len(operators) == DEEPEST:
                raise ProgramError("is too deep", word)
            operators.append(word)
            arguments.append([])
            continue
        arguments[-1].append(call or Literal(word))
        call = None
        if mark == "}":
            if not operators:
                raise ProgramError("is not a program", mark)
            call = Call(operators.pop(), tuple(arguments.pop()))
    whole = arguments[0][0] if len(arguments) == len(arguments[0]) == 1 else None
    if not isinstance(whole, Call):
        raise ProgramError("is not a program")
    return whole
