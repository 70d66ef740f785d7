"""How entities and texts are written with invented words in the places of their own."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from spor_tasks.text.normalize import display
from spor_tasks.twins.lexicon import Lexicon
from spor_tasks.twins.names import sounds_open
from spor_tasks.twins.numbers import as_integer, ordinal
from spor_tasks.twins.tokens import ORDINALS, Token, tokens_of

_ENTITIES = 8192
_BARE_POSSESSIVE = re.compile(r"[sS]['’](?!\w)")
_OPENING_QUOTE = re.compile(r"(?<!\w)['‘](?=\w)")
_EIGHT = re.compile(r"8|1[18](?:\d\d(?!\.\d)|(?:,\d{3})+)?(?![\d,])")  # eight, eleven or eighteen
_NAMED_OPEN = "AEFHILMNORSX"  # letters whose names begin with a vowel
_BETWEEN = " \"'“‘("  # what may stand between an article and its word


@lru_cache(maxsize=_ENTITIES)  # as entities recur
def exchanged_entity(lexicon: Lexicon, raw: str) -> str:
    """Return an entity with invented words, in its raw form.

    Raises:
        KeyError: it is not an entity of the corpus.
    """
    tokens = tokens_of(raw)
    parts = lexicon.parts(display(raw))
    written = {
        index: written_for(lexicon, tokens[index])
        for index, (_, is_exchanged) in enumerate(parts)
        if is_exchanged
    }
    return rewritten(raw, tokens, written)


def written_for(lexicon: Lexicon, token: Token) -> str:
    """Return what is written for an exchanged word or number."""
    numbers, kind, number = lexicon.numbers, *token.meaning
    if token.text.isdigit() and kind in {"month", "day", "runway"}:
        turned = {"month": numbers.month, "day": numbers.day, "runway": numbers.runway}[kind]
        return str(turned(number)).zfill(len(token.text))
    if kind == "month":
        return numbers.month_like(token.text, number)
    if kind == "until":
        return str(numbers.year(number))[-2:]
    if token.is_number:
        return numbers.exchange(token.text)
    if token.key not in lexicon.words:
        return "".join(lexicon.letters.get(letter, letter) for letter in token.text)
    return like(token.text, lexicon.words[token.key])


def like(shown: str, word: str) -> str:
    """Return a word with the capitals of another."""
    if shown.isupper():
        return word.upper()
    return word if shown.islower() else word.capitalize()


def rewritten(text: str, tokens: Sequence[Token], written: Mapping[int, str]) -> str:
    """Return a text with what is written for some tokens.

    Ordinals, articles and possessives agree with it.
    """
    agreeing = {
        other: form
        for index, word in written.items()
        for other, form in (
            (index + 1, _ending(tokens, index, word)),
            (index - 1, _article(text, tokens, index, word)),
        )
        if form and other not in written
    }
    parts, end = [], 0
    for index, word in sorted({**agreeing, **written}.items()):
        parts += [text[end : tokens[index].start], word]
        end = tokens[index].end
        if _needs_s(text, end, word):
            parts += [text[end], "s"]
            end += 1
    return "".join([*parts, text[end:]])


def _ending(tokens: Sequence[Token], index: int, word: str) -> str | None:
    """Return the `nd` that makes a number an ordinal; None if it is not one."""
    number = as_integer(word) if tokens[index].is_number else None
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    if number is None or following is None or following.start != tokens[index].end:
        return None
    return like(following.text, ordinal(number)) if following.key in ORDINALS else None


def _needs_s(text: str, end: int, word: str) -> bool:
    """Say whether the apostrophe at the end of a word in s now stands after another letter."""
    is_bare = _BARE_POSSESSIVE.match(text, end - 1) is not None
    return is_bare and word[-1] not in "sS" and not _OPENING_QUOTE.search(text, 0, end)


def _article(text: str, tokens: Sequence[Token], index: int, word: str) -> str | None:
    """Return the article for a word; None if none stands before it."""
    before = tokens[index - 1] if index else None
    if before is None or before.text not in {"a", "an", "A", "An"}:
        return None
    gap = text[before.end : tokens[index].start]
    if " " not in gap or gap.strip(_BETWEEN):
        return None
    form = "an" if _opens(tokens[index], word) else "a"
    return form if before.text[0] == "a" else form.capitalize()


def _opens(token: Token, word: str) -> bool:
    """Say whether `an` stands before what is written for a token."""
    if word[0].isdigit():
        return _EIGHT.match(word) is not None
    are_initials = word.isupper() and (token.is_special or len(word) == 1)
    return word[0] in _NAMED_OPEN if are_initials else sounds_open(word)
