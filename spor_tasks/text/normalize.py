"""The three string conversions of the published implementation, each under a name of its own."""

import re
from collections.abc import Iterator

_DISPLAY = str.maketrans({"_": " ", "\\": None, '"': None})

# The characters that the published alignment turns into spaces.
_PUNCTUATION = "’!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~\n。！，–"
_CLEAN = _DISPLAY | {ord(char): " " for char in _PUNCTUATION if ord(char) not in _DISPLAY}

# A run of what `clean` keeps or removes, from the first to the last character that it keeps.
_PARTING = "".join(re.escape(char) for char in _PUNCTUATION if ord(char) not in _DISPLAY) + "_"
_TOKEN = re.compile(rf"[^\s{_PARTING}\"\\](?:[^\s{_PARTING}]*[^\s{_PARTING}\"\\])?")


def display(text: str) -> str:
    """Return ``text`` as prompts show it: ``_`` a space, no backslash, no double quote."""
    return text.translate(_DISPLAY)


def words_of_identifier(identifier: str) -> str:
    """Write a camel-case predicate or attribute in words: ``birthPlace`` becomes ``birth place``.

    Every capital becomes a space and its lower-case letter and nothing is stripped, so
    ``LCCN_number`` becomes `` l c c n_number`` with the leading space, as published.
    """
    return "".join(f" {char.lower()}" if char.isupper() else char for char in identifier)


def clean(text: str) -> str:
    """Return ``text`` as the alignment sees it: display form, punctuation to spaces, lower case."""
    return text.translate(_CLEAN).strip().lower()


def token_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where in ``text`` each token of ``clean(text).split()`` begins and ends."""
    return (match.span() for match in _TOKEN.finditer(text))
