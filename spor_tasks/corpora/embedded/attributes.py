"""The language of `compmctg_mini`: words decide which value of each aspect a text has.

A value shows in words that no other value has, and any of its words fits any words of the other
aspects. So a model that knows the words of each value can write every combination.
"""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from spor_tasks.corpora.compmctg.spaces import Space

WORDS: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "sentiment": {
            "Negative": ("awful", "dull", "dreadful", "terrible", "poor", "disappointing"),
            "Positive": ("lovely", "superb", "pleasant", "charming", "splendid", "delightful"),
        },
        "tense": {
            "Present": ("is", "seems", "looks", "remains"),
            "Past": ("was", "seemed", "looked", "remained"),
        },
        "topic": {
            "Food": ("soup", "bread", "cake", "salad", "stew", "cheese"),
            "Music": ("song", "choir", "drummer", "concert", "melody", "violin"),
            "Travel": ("train", "hotel", "ferry", "airport", "journey", "guide"),
        },
    }
)
"""The words of each value."""

SPACE = Space(
    "compmctg_mini",
    MappingProxyType({aspect: tuple(values) for aspect, values in WORDS.items()}),
)

PREFIXES = (
    *("In short,", "To be fair,", "On the whole,", "As expected,", "Once again,"),
    *("Without a doubt,", "For many people,", "Surprisingly,", "In this town,", "To everyone,"),
)
"""How texts begin, whatever their values; none is the beginning of another one."""

DEGREES = ("really", "quite", "rather", "truly")
"""Words that may stand before one of sentiment."""

REPEATS = 3
"""How often a test set asks for each beginning and combination."""


def values_of(text: str) -> Mapping[str, str | None]:
    """Return the value of each aspect, None where words of no value or of several are in the text.

    Case does not matter, nor whether the text is a sentence.
    """
    words = set(re.findall(r"\w+", text.lower()))
    return {aspect: _only(words, values) for aspect, values in WORDS.items()}


def _only(words: set[str], values: Mapping[str, Iterable[str]]) -> str | None:
    matching = [value for value, own in values.items() if not words.isdisjoint(own)]
    return matching[0] if len(matching) == 1 else None


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
