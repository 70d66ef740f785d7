"""Verdicts of programs: a truth value, or a failure with its reason."""

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias


class Reason(Enum):
    """Why a program has no truth value."""

    PARSE = "cannot be parsed"
    LONG = "is too long"
    DEEP = "is nested too deeply"
    OPERATOR = "has an unknown operator"
    ARGUMENTS = "has an operator with the wrong arguments"
    COLUMN = "names a column that the table lacks"
    TYPE = "uses an operator on a value of another type"
    NUMBER = "needs a number where there is another text"
    EMPTY = "needs a row or a value where there is none"
    AMBIGUOUS = "needs one value where there are several"
    NARROW = "needs a table of four columns"
    COSTLY = "has a value that is too slow as a regular expression"
    NO_VERDICT = "has a value that is not a truth value"
    RAGGED = "is about a table with a row that is longer than its header"


@dataclass(frozen=True, slots=True)
class Failure:
    """A program without a truth value; ``detail`` is the part of it that failed."""

    reason: Reason
    detail: str = ""

    def __bool__(self) -> bool:
        raise TypeError("a failure is neither true nor false")


Verdict: TypeAlias = bool | Failure


class ProgramError(Exception):
    """Ends a program; it never leaves this package."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.failure = Failure(reason, detail)
