"""Which values a text has, told exactly: the inverse of how the embedded texts are written."""

import re
from collections.abc import Iterable, Mapping

from spor_tasks.corpora.compmctg_mini.worlds import DEGREES, PREFIXES, WORDS


def oracle(text: str) -> Mapping[str, str | None]:
    """Return the value of each aspect, None where words of no value or of several are in the text.

    Case does not matter, nor whether the text is a sentence.
    """
    words = set(re.findall(r"\w+", text.lower()))
    return {aspect: _only(words, values) for aspect, values in WORDS.items()}


def _only(words: set[str], values: Mapping[str, Iterable[str]]) -> str | None:
    found = [value for value, said in values.items() if not words.isdisjoint(said)]
    return found[0] if len(found) == 1 else None


def is_readable(text: str) -> bool:
    """Return whether a text is a sentence of the language: one with one value of each aspect.

    Case and blanks do not matter.
    """
    return _SENTENCE.fullmatch(" ".join(text.split())) is not None and None not in (
        oracle(text).values()
    )


def _one_of(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(map(re.escape, words))})"


_QUALITY, _VERB, _THING = (
    _one_of(word for said in values.values() for word in said) for values in WORDS.values()
)
_CLAUSE = f"the {_THING} {_VERB} (?:{_one_of(DEGREES)} )?{_QUALITY}"
_SENTENCE = re.compile(
    rf"{_one_of(PREFIXES)} ?{_CLAUSE}(?: and {_CLAUSE})? ?\.", re.IGNORECASE | re.ASCII
)
