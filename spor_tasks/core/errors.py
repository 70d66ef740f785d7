"""The errors this package raises on purpose: what is wrong, where, and what to do about it."""

import importlib.util
import re
from collections.abc import Iterable, Sequence
from os import PathLike

from spor_tasks.core.visible import visible

_NEAREST = 3
_NEAR = 45  # percent: no name is near below it
_TYPING_ERRORS = 2  # by which a name is still one that is known
_SHORT = 5  # letters of a name that has one at most
_MOST_LETTERS = 2_000  # of a line, which may quote what stands in a file


class SporError(Exception):
    """An error that the caller can act on.

    ``what`` says what is wrong, ``where`` names the file, entry or setting, and ``remedy`` the
    command or change that corrects it. The command line prints these three and no traceback.
    ``each`` lists further errors of the same kind, one per line. Text from outside cannot act on
    the terminal: control characters are escaped, and a line end becomes a space.
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
        what, *more = map(line, [self.what, *self.each])
        return "\n".join([f"{place}{what}", *more, *advice])


def line(text: str) -> str:
    """Return a text that says what is wrong as one line, which cannot act on the terminal."""
    short = text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}…"
    return visible(re.sub(r"\s*\n\s*", " ", short))


def advice(name: object, names: Iterable[object], others: str | None = None) -> str:
    """Return the remedy for an unknown name: all names, or ``others``.

    Before them are the three nearest names, unless even the nearest is another word.
    """
    from rapidfuzz import fuzz, process, utils  # slow to import

    known, clean = tuple(map(str, names)), utils.default_process
    everything = f"Use one of {', '.join(known)}."
    if len(known) <= _NEAREST:
        return everything
    found = process.extract(str(name), known, scorer=fuzz.ratio, processor=clean, limit=_NEAREST)
    if found[0][1] < _NEAR:
        return others or everything
    nearest = ", ".join(each for each, *_ in found)
    return f"The nearest names are {nearest}. {others or everything}"


def misspelt(names: Iterable[str], known: Iterable[str]) -> str | None:
    """Return the first of the names that is not known, but nearly so; None if there is none."""
    from rapidfuzz.distance import OSA  # slow to import

    right = set(known)
    for name in names:
        most = _TYPING_ERRORS if len(name) > _SHORT else 1
        edits = (OSA.distance(name.lower(), each) for each in right)  # two letters swapped are one
        if name not in right and min(edits, default=most + 1) <= most:
            return name
    return None


class CorpusError(SporError):
    """A corpus file is missing, damaged or not what it claims to be."""


class MissingError(CorpusError):
    """A corpus file is not on this machine."""


class SplitError(SporError):
    """A split does not exist, cannot be built, or violates a requirement of its aspect."""


class ConfigError(SporError):
    """A setting is unknown, has the wrong type, or contradicts another setting."""


def require(purpose: str, extra: str, *packages: str) -> None:
    """Check that packages of an extra are installed.

    Raises:
        ConfigError: one is not; the error says what needs it.
    """
    for name in packages:
        if importlib.util.find_spec(name) is None:
            raise ConfigError(
                f"{purpose} needs the package {name}, which is not installed",
                remedy=f"Install it with `pip install 'spor-tasks[{extra}]'`.",
            )


class ResultError(SporError):
    """A result file is damaged, or cannot be compared with the others."""
