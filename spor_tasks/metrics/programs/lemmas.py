"""Lemmas of English words, and which words are comparatives or superlatives.

The forms of a word are those in lemminflect's dictionary, which is a part of that package: a word
that it lacks, such as a name, is its own lemma. A form that may be of several parts of speech is
taken as a noun or a verb by the word before it.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.metadata import version
from typing import NamedTuple

from spor_tasks.core.errors import require

_UNCHANGED = (
    "a an the this that these those as us his hers its ours theirs yours less plus across always "
    "perhaps thus whereas besides first second third last per no not both"
)
_FIXED = frozenset(_UNCHANGED.split())  # though the dictionary has them as nouns or verbs

_COMPARATIVE = {
    "RBR": ("more", "less"),
    "JJR": ("better", "worse", "fewer", "greater", "further", "farther", "lesser", "elder"),
    "RBS": ("most",),
    "JJS": ("least", "best", "worst", "fewest"),
}
_TAGS = {word: tag for tag, words in _COMPARATIVE.items() for word in words}

_SUBJECTS = "i you he she it we they who which that to not also never only"
_DETERMINERS = (
    "a an the this these those his her its their our my your of in at on for by with from all "
    "no any some each every most more many other total"
)
_BEFORE_VERB, _BEFORE_NOUN = frozenset(_SUBJECTS.split()), frozenset(_DETERMINERS.split())
_LETTERS = re.compile(r"[a-z]+")


class Word(NamedTuple):
    """A word of a sentence; ``tag`` is that of a comparative or superlative, or empty."""

    text: str
    lemma: str
    tag: str


def words(tokens: Iterable[str]) -> list[Word]:
    """Return the words of a lower-cased sentence, in its order, with lemmas and tags."""
    sentence_words, before = list[Word](), ""
    for token in tokens:
        sentence_words.append(_word(token, before))
        before = token
    return sentence_words


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
    _require_dictionary()
    return f"lemminflect:{version('lemminflect')}"


def _require_dictionary() -> None:
    require("SP-Acc", "logicnlg", "lemminflect")  # whose linker alone reads lemmas


@lru_cache(maxsize=65536)
def _forms(text: str) -> Mapping[str, tuple[str, ...]]:
    _require_dictionary()
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
