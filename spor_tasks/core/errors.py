"""The errors this package raises on purpose: what is wrong, where, and what to do about it."""

import re
from collections.abc import Sequence
from os import PathLike

from spor_tasks.core.visible import visible


class SporError(Exception):
    """A fault that the caller can act on.

    ``what`` states the fault, ``where`` the file, entry or setting it lies in, ``remedy`` the
    command or change that mends it. The command line prints these three and no traceback.
    ``each`` are further faults, each on a line. What others wrote does nothing to a terminal and
    makes no line of its own: in a fault, which may be in another package's words, a line end is
    shown as a space.
    """

    def __init__(
        self,
        what: str,
        *,
        where: str | PathLike[str] | None = None,
        remedy: str | None = None,
        each: Sequence[str] = (),
    ) -> None:
        self.what = what
        self.where = None if where is None else str(where)
        self.remedy = remedy
        self.each = tuple(each)
        super().__init__(what)

    def __str__(self) -> str:
        place = f"{visible(self.where)}: " if self.where else ""
        advice = [f"  {visible(self.remedy)}"] if self.remedy else []
        what, *others = map(_line, [self.what, *self.each])
        return "\n".join([f"{place}{what}", *others, *advice])


def _line(text: str) -> str:
    return visible(re.sub(r"\s*\n\s*", " ", text))


class CorpusError(SporError):
    """A corpus file is missing, damaged or not what it claims to be."""


class SplitError(SporError):
    """A split is unknown, or breaks a requirement of its aspect."""


class ConfigError(SporError):
    """A setting is unknown, of the wrong type, or contradicts another one."""


class ResultError(SporError):
    """A result file is damaged, or is asked to stand beside one it cannot be compared with."""
