"""The language of `compmctg_mini`: words decide which value of each aspect a text has.

A value shows in words that no other value has, and any of its words fits any words of the other
aspects. So a model that knows the words of each value can write every combination.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from spor_tasks.corpora.compmctg.spaces import Space


class _Language(msgspec.Struct):
    words: dict[str, dict[str, tuple[str, ...]]]
    prefixes: tuple[str, ...]
    degrees: tuple[str, ...]


_TEXT = Path(__file__).with_name("attributes.toml").read_text("utf-8")
_LANGUAGE = msgspec.convert(tomllib.loads(_TEXT), _Language)

WORDS = _LANGUAGE.words
"""The words of each value, by aspect."""

SPACE = Space("compmctg_mini", {aspect: tuple(values) for aspect, values in WORDS.items()})

PREFIXES = _LANGUAGE.prefixes
"""How texts begin, whatever their values; none is the beginning of another one."""

DEGREES = _LANGUAGE.degrees
"""Words that may stand before one of sentiment."""

REPEATS = 3
"""How often a test set asks for each beginning and combination."""


def values_of(text: str) -> Mapping[str, str | None]:
    """Return the value of each aspect, None where words of no value or of several are in the text.

    Case does not matter, nor whether the text is a sentence.
    """
    words = set(re.findall(r"\w+", text.lower()))
    values: dict[str, str | None] = {}
    for aspect, words_of_values in WORDS.items():
        matching = [value for value, own in words_of_values.items() if not words.isdisjoint(own)]
        values[aspect] = matching[0] if len(matching) == 1 else None
    return values


def is_readable(text: str) -> bool:
    """Return whether a text is a sentence of the language: one with one value of each aspect.

    Case and blanks do not matter.
    """
    return _SENTENCE.fullmatch(" ".join(text.split())) is not None and None not in (
        values_of(text).values()
    )


def _one_of(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(map(re.escape, words))})"


_QUALITY, _VERB, _THING = (
    _one_of(word for words in values.values() for word in words) for values in WORDS.values()
)
_CLAUSE = f"the {_THING} {_VERB} (?:{_one_of(DEGREES)} )?{_QUALITY}"
_SENTENCE = re.compile(
    rf"{_one_of(PREFIXES)} ?{_CLAUSE}(?: and {_CLAUSE})? ?\.", re.IGNORECASE | re.ASCII
)
