"""Words and numbers of a name or a text, each under a key that says what it stands for.

The key of a word is the word without case and accents, that of a number its value. Parts of dates,
runways and the names of two countries have keys of their own: the 7 of `7 May 1907` is another 7
than that of `7 floors`.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_SHORT = {"sept": 8, **{month[:3]: number for number, month in enumerate(MONTHS)}}
_BARE_MONTHS = {"in", "of", "since", "until", "during", "by", "from", "early", "late", "mid"}
ORDINALS = frozenset({"st", "nd", "rd", "th"})

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_UNMARKED = str.maketrans({"ø": "o", "Ø": "o", "ł": "l", "Ł": "l", "đ": "d", "Đ": "d", "ı": "i"})
_ISO = re.compile(r"(?<!\d)(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?!\d)")
_SHORT_DATE = re.compile(r"(?<![\d/-])(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?!\d)")
_SPAN = re.compile(r"(?<!\d)(1\d{3}|20\d\d)[-–/](\d\d)(?![\d-])")
_RUNWAY = re.compile(r"(?<!\d)(\d{1,2})([LRC]?)/(\d{1,2})([LRC]?)(?![\d/])")
_HALF_TURN = 18
_LAST_DAY = 31


class Token(NamedTuple):
    """A word or number; ``start`` and ``end`` say where it is in its string."""

    text: str
    start: int
    end: int
    key: str

    @property
    def is_number(self) -> bool:
        """Whether it is made of digits."""
        return self.text[0].isdigit()

    @property
    def is_capital(self) -> bool:
        """Whether it begins with a capital letter."""
        return self.text[0].isupper()

    @property
    def is_special(self) -> bool:
        """Whether it is part of a date, a season, a runway's or one of two countries' names."""
        return ":" in self.key

    @property
    def meaning(self) -> tuple[str, int]:
        """The kind of its key and the number in it, such as `day` and 7; else nothing and 0."""
        kind, _, number = self.key.partition(":")
        return (kind, int(number)) if number.isdigit() else ("", 0)


def fold(word: str) -> str:
    """Return a word without case and accents."""
    marked = unicodedata.normalize("NFKD", word.translate(_UNMARKED))
    return "".join(char for char in marked if not unicodedata.combining(char)).casefold()


@lru_cache(maxsize=1 << 16)
def tokens_of(text: str) -> Sequence[Token]:
    """Return the words and numbers of a text, in order."""
    tokens = [Token(match[0], *match.span(), _key(match[0])) for match in _TOKEN.finditer(text)]
    if any(token.is_number for token in tokens):
        keys = dict(_keys_of_patterns(text))
        tokens = [token._replace(key=keys.get(token.start, token.key)) for token in tokens]
    for index, key in [*_keys_of_dates(tokens, text), *_keys_of_countries(tokens, text)]:
        tokens[index] = tokens[index]._replace(key=key)
    return tokens


def words_of(text: str) -> Iterator[tuple[str, str]]:
    """Yield each word of a text and its key, without those that only several words make."""
    return ((word, _key(word)) for word in _TOKEN.findall(text))


@lru_cache(maxsize=1 << 16)
def _key(word: str) -> str:
    if word[0].isalpha():
        return fold(word)
    whole, point, fraction = word.replace(",", "").partition(".")
    kept = fraction.rstrip("0")
    return (whole.lstrip("0") or "0") + (point + kept if kept else "")


def _keys_of_patterns(text: str) -> Iterator[tuple[int, str]]:
    """Yield where a number starts that is part of a date, of a season or of a runway's name."""
    for match in _ISO.finditer(text):
        yield match.start(3), f"month:{int(match[3])}"
        yield match.start(4), f"day:{int(match[4])}"
    for match in _SHORT_DATE.finditer(text):
        yield match.start(1), f"either:{int(match[1])}/{int(match[3])}"
        yield match.start(3), f"either:{int(match[3])}/{int(match[1])}"
    for match in _SPAN.finditer(text):
        if int(match[2]) == (int(match[1]) + 1) % 100:
            yield match.start(2), f"until:{int(match[1]) + 1}"
    for match in _RUNWAY.finditer(text):
        if abs(int(match[1]) - int(match[3])) == _HALF_TURN:
            yield match.start(1), f"runway:{int(match[1])}"
            yield match.start(3), f"runway:{int(match[3])}"


def _keys_of_dates(tokens: Sequence[Token], text: str) -> Iterator[tuple[int, str]]:
    """Yield which words are months, and which numbers are their days."""
    for index, token in enumerate(tokens):
        month = _month(token)
        if month is None:
            continue
        before, after = _day_before(tokens, index), _next_number(tokens, index, text)
        named = index > 0 and tokens[index - 1].key in _BARE_MONTHS
        if before is None and after is None and not named:
            continue
        yield index, f"month:{month}"
        if before is not None:
            yield before, f"day:{int(tokens[before].text)}"
        elif after is not None and _is_day(tokens[after]):
            yield after, f"day:{int(tokens[after].text)}"


def _month(token: Token) -> int | None:
    if not token.text[0].isupper():
        return None
    if token.key in MONTHS:
        return MONTHS.index(token.key) + 1
    return _SHORT[token.key] + 1 if token.key in _SHORT else None


def _is_day(token: Token) -> bool:
    return token.text.isdigit() and len(token.text) <= len("31") and int(token.text) <= _LAST_DAY


def _day_before(tokens: Sequence[Token], index: int) -> int | None:
    """Return the index of the day in `7 May`, `7th May` and `7th of May`."""
    index -= 1
    while index >= 0 and tokens[index].key in {*ORDINALS, "of"}:
        index -= 1
    return index if index >= 0 and _is_day(tokens[index]) else None


def _next_number(tokens: Sequence[Token], index: int, text: str) -> int | None:
    """Return the index of the day or year in `May 7`, `May the 7th` and `May 1907`."""
    for other in range(index + 1, min(index + 3, len(tokens))):
        if "." in text[tokens[index].end : tokens[other].start].removeprefix("."):
            return None
        if tokens[other].is_number:
            return other
        if tokens[other].key != "the":
            return None
    return None


def _keys_of_countries(tokens: Sequence[Token], text: str) -> Iterator[tuple[int, str]]:
    """Yield the parts of the names and abbreviations of the United States and the Kingdom."""
    for index, token in enumerate(tokens):
        if token.text[0] not in "Uu":
            continue
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        if token.text in {"US", "USA", "UK"}:
            yield index, f"{token.text}:initials"
        elif following is None:
            continue
        elif token.key == "united" and following.key in {"states", "kingdom"}:
            yield index, f"united:{following.key}"
            yield index + 1, f"{following.key}:united"
        elif token.text == "U" and following.text in {"S", "K"}:
            if text[token.end : following.start] not in {".", ". "}:
                continue
            yield index, f"U:{following.text}"
            yield index + 1, f"{following.text}:U"
            last = tokens[index + 2] if index + 2 < len(tokens) else None
            if last and last.text == "A" and text[following.end : last.start] in {".", ". "}:
                yield index + 2, "A:US"
