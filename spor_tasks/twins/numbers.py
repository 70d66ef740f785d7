"""Invented numbers and dates: other digits in the same form, within a plausible range."""

import random
import string
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from spor_tasks.twins.tokens import MONTHS

_Value = TypeVar("_Value", bound=int | str)
_YEARS = range(1000, 2100)
_LONG_MONTHS = (1, 3, 5, 7, 8, 10, 12)
_SHORT_MONTHS = (4, 6, 9, 11)
_RUNWAYS = 36  # tens of degrees
_TEENS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SPELLED: Mapping[str, int] = {
    **{word: number for number, word in enumerate(_TEENS)},
    **{word: 10 * number for number, word in enumerate(_TENS, start=2)},
}
"""Numbers by their words, as far as one word names them."""
_WORDS = {number: word for word, number in SPELLED.items()}


def as_integer(number: str) -> int | None:
    """Return the value of digits such as `3,500.0`; None if it is not whole."""
    whole, _, fraction = number.replace(",", "").partition(".")
    return int(whole) if whole.isdigit() and not fraction.strip("0") else None


def mantissa(number: str) -> str:
    """Return the digits from the first to the last that is not zero."""
    return "".join(filter(str.isdigit, number)).strip("0")


def ordinal(number: int) -> str:
    """Return the ending of an ordinal: `st` of 1."""
    if number // 10 % 10 == 1:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


class Numbers:
    """One mapping from numbers to others, and from dates to others; each is one to one.

    A year is some years earlier; another number keeps its first digit, its zeros at the end and how
    many digits it has, since its digits are replaced where they are. 0 and 1 stay, and so may a
    number from 2100 to 2999 that would have become a year. A month becomes
    another one as long, save February, and a day from 1 to 28 another day with as many digits, so
    that a date stays a date. A runway's name is turned, as all runways are.
    """

    def __init__(self, seed: str) -> None:
        self._seed = seed
        rng = random.Random(f"{seed} dates")
        self._years_back = rng.choice((4, 8))  # of four, so that 29 February stays
        self._turned = rng.randrange(1, 18)
        self._months = {
            2: 2,
            **deranged(_LONG_MONTHS, rng),
            **deranged(_SHORT_MONTHS, rng),
        }
        days = deranged(range(1, 10), rng) | deranged(range(10, 29), rng)
        self._days = {day: days.get(day, day) for day in range(1, 32)}
        self._digit = deranged(string.digits[1:], rng)
        self._small = deranged(string.digits[2:], rng)
        # `an 11` and `an 18` stay so.
        self._last = deranged("2345679", rng) | {"1": "8", "8": "1"}

    def month(self, number: int) -> int:
        """Return another month of as many days."""
        return self._months.get(number, number)

    def day(self, number: int) -> int:
        """Return another day of a month."""
        return self._days.get(number, number)

    def month_like(self, word: str, number: int) -> str:
        """Return the name of a month in the form of a word, which may be short: `Nov`."""
        name = MONTHS[self.month(number) - 1]
        full = len(word) > len("sept") or word.casefold() in MONTHS
        shown = name if full else name[:3]
        return shown.upper() if word.isupper() else shown.capitalize()

    def runway(self, number: int) -> int:
        """Return the name of a runway that points elsewhere."""
        return (number - 1 + self._turned) % _RUNWAYS + 1

    def year(self, number: int) -> int:
        """Return an earlier year."""
        span = len(_YEARS)
        return (number - _YEARS.start - self._years_back) % span + _YEARS.start

    def exchange(self, number: str) -> str:
        """Return other digits in the form of a number such as `3,500.0`."""
        value = as_integer(number)
        if value is not None and value in _YEARS:
            return overwritten(number, str(self.year(value)))
        digits = mantissa(number)
        if value in {0, 1} or not digits:
            return number
        other = overwritten(number, self._other(digits, value))
        while as_integer(other) in _YEARS:  # which only years become
            other = overwritten(other, self._other(mantissa(other), None))
        return other

    def scaled(self, digits: str) -> str:
        """Return the digits that :meth:`exchange` writes for digits without zeros around them."""
        return self._other(digits, None)

    def spelled(self, number: int) -> str | None:
        """Return the word for what becomes of a number; None if no one word is."""
        return _WORDS.get(int(self.exchange(str(number))))

    def _other(self, digits: str, value: int | None) -> str:
        if len(digits) == 1:
            return (self._small if value == int(digits) else self._digit)[digits]
        first, middle, last = digits[0], digits[1:-1], digits[-1]
        if middle:
            factor, offset = self._steps[len(middle) % len(self._steps)]
            size = len(middle)
            middle = str((int(middle) * factor + offset) % 10**size).zfill(size)
        return f"{first}{middle}{self._last[last]}"

    @cached_property
    def _steps(self) -> Sequence[tuple[int, int]]:
        """Factors without a common divisor with 10, which make a permutation, and offsets."""
        rng = random.Random(f"{self._seed} digits")
        return [
            (10 * rng.randrange(1, 10**6) + rng.choice((1, 3, 7, 9)), rng.randrange(10**6))
            for _ in range(5)
        ]


def deranged(values: Sequence[_Value], rng: random.Random) -> dict[_Value, _Value]:
    """Return a mapping of the values onto themselves that keeps none in its place."""
    shuffled = list(values)
    rng.shuffle(shuffled)
    return dict(zip(shuffled, [*shuffled[1:], shuffled[0]], strict=True))


def overwritten(number: str, digits: str) -> str:
    """Return a number with these digits over its own, from the first that is not zero."""
    shown = iter(digits)
    started = False
    written = []
    for char in number:
        started = started or char in "123456789"
        written.append(next(shown, char) if started and char.isdigit() else char)
    return "".join(written)
