"""How a sentence may write the value of a highlighted cell."""

import re
from collections.abc import Iterator

from spor_tasks.core.sample import Sample

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
)
_MONTH = "|".join(_MONTHS)
_DATES = (
    re.compile(rf"(?P<month>{_MONTH})\s+(?P<day>\d{{1,2}}),?\s+(?P<year>\d{{4}})", re.IGNORECASE),
    re.compile(rf"(?P<day>\d{{1,2}})\s+(?P<month>{_MONTH}),?\s+(?P<year>\d{{4}})", re.IGNORECASE),
    re.compile(r"(?P<year>\d{4})-(?P<number>\d{2})-(?P<day>\d{2})"),
)
_NUMBER = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+|[+-]?\d+")
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_WORDS = (
    *(("one", "first"), ("two", "second"), ("three", "third"), ("four", "fourth")),
    *(("five", "fifth"), ("six", "sixth"), ("seven", "seventh"), ("eight", "eighth")),
    *(("nine", "ninth"), ("ten", "tenth"), ("eleven", "eleventh"), ("twelve", "twelfth")),
)
_TEENS = range(11, 14)
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


def surface(sample: Sample) -> tuple[tuple[str, ...], ...]:
    """Return for each unit how a text may write its value.

    This is the value as it is; also without what stands in brackets; a number with or without
    commas, as an ordinal, and in words up to twelve; and a date in either order.
    """
    return tuple(tuple(dict.fromkeys(_written(unit[-1]))) for unit in sample.units)


def _written(value: str) -> Iterator[str]:
    yield value
    bare = _BRACKETS.sub(" ", value).strip()
    if bare:
        yield bare
    if _NUMBER.fullmatch(bare):
        yield from _number(int(bare.replace(",", "")))
    for form in _DATES:
        if found := form.fullmatch(bare):
            yield from _date(**found.groupdict())


def _number(number: int) -> Iterator[str]:
    yield str(number)
    yield f"{number:,}"
    if number < 0:
        return
    ending = "th" if number % 100 in _TEENS else _ENDINGS.get(number % 10, "th")
    yield f"{number}{ending}"
    if 0 < number <= len(_WORDS):
        yield from _WORDS[number - 1]


def _date(year: str, day: str, month: str = "", number: str = "") -> Iterator[str]:
    if number and not 0 < int(number) <= len(_MONTHS):
        return
    named = month or _MONTHS[int(number) - 1]
    yield f"{named} {int(day)}, {year}"
    yield f"{int(day)} {named} {year}"
