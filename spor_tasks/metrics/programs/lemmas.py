"""Lemmas of English words, and which words are comparatives or superlatives.

The forms of a word are those in lemminflect's dictionary, which is a part of that package: a word
that it lacks, such as a name, is its own lemma. A form that may be of several parts of speech is
taken as a noun or a verb by the word before it.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.metadata import version
from itertools import pairwise
from typing import NamedTuple

from spor_tasks.core.errors import require
from spor_tasks.metrics.programs import WORDS

_FIXED = frozenset(WORDS["lemmas"]["unchanged"].split())
_TAGS = {word: tag for tag, words in WORDS["lemmas"]["tags"].items() for word in words.split()}
_BEFORE_VERB = frozenset(WORDS["lemmas"]["subjects"].split())
_BEFORE_NOUN = frozenset(WORDS["lemmas"]["determiners"].split())
_LETTERS = re.compile(r"[a-z]+")


class Word(NamedTuple):
    """A word of a sentence; ``tag`` is that of a comparative or superlative, or empty."""

    text: str
    lemma: str
    tag: str


def words(tokens: Iterable[str]) -> list[Word]:
    """Return the words of a lower-cased sentence, in its order, with lemmas and tags."""
    return [_word(token, before) for before, token in pairwise(["", *tokens])]


@lru_cache(maxsize=65536)
def _word(text: str, before: str) -> Word:
    if not _LETTERS.fullmatch(text) or text in _FIXED:
        return Word(text, text, _TAGS.get(text, ""))
    forms = _forms(text)
    if tag := _TAGS.get(text) or _degree(text, forms):
        return Word(text, text, tag)
    return Word(text, _lemma(text, forms, before), "")


def signature() -> str:
    """Return whatever can change a lemma.

    Raises:
        ConfigError: the dictionary is not installed.
    """
    require("SP-Acc", "logicnlg", "lemminflect")
    return f"lemminflect:{version('lemminflect')}"


@lru_cache(maxsize=65536)
def _forms(text: str) -> Mapping[str, tuple[str, ...]]:
    require("SP-Acc", "logicnlg", "lemminflect")  # whose linker alone reads lemmas
    from lemminflect import getAllLemmas  # may be missing

    lemmas: dict[str, tuple[str, ...]] = getAllLemmas(text)
    return lemmas


def _degree(text: str, forms: Mapping[str, tuple[str, ...]]) -> str:
    ends = text.endswith("est"), text.endswith("er")
    as_other = [*forms.get("NOUN", ()), *forms.get("VERB", ())]
    bases = {lemma for part in ("ADJ", "ADV") for lemma in forms.get(part, ())}
    if not any(ends) or not bases - {text} or ("NOUN" in forms and text in as_other):
        return ""
    part = "JJ" if any(lemma != text for lemma in forms.get("ADJ", ())) else "RB"
    return part + ("S" if ends[0] else "R")


def _lemma(text: str, forms: Mapping[str, tuple[str, ...]], before: str) -> str:
    verb, noun = _shortest(forms.get("VERB")), _shortest(forms.get("NOUN"))
    if "AUX" in forms:
        return verb or text
    if verb is None or noun is None:
        is_own = text in (*forms.get("ADJ", ()), *forms.get("ADV", ()), noun)
        keeps = before in _BEFORE_NOUN if verb else is_own
        return text if keeps else verb or noun or text
    if before in _BEFORE_VERB:
        return verb
    is_past = noun == text != verb and not text.endswith("ing")  # such as `drove`
    return verb if is_past and before not in _BEFORE_NOUN else noun


def _shortest(lemmas: tuple[str, ...] | None) -> str | None:
    return min(lemmas, key=len) if lemmas else None
