"""The ranker: how well each program that a search found fits the sentence.

The published ranker is a BERT that was trained on programs and sentences, and its weights were not
published. The lexical ranker compares the operators of a program with the words of the sentence.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from spor_tasks.metrics.programs import WORDS
from spor_tasks.metrics.programs.execute import ALL_ROWS
from spor_tasks.metrics.programs.parse import Call, ProgramError, parse

SIGNATURE = "ranker:lexical-1"
"""The ranker, as a part of the signature of a score."""

KINDS: Mapping[str, frozenset[str]] = {
    kind: frozenset(words["operators"].split()) for kind, words in WORDS["kinds"].items()
}
"""The operators of each kind of logic; a program has the kinds of all its operators."""

_CUES = {kind: frozenset(words["words"].split()) for kind, words in WORDS["kinds"].items()}
_HIGH = frozenset(WORDS["ranker"]["most"].split())
_LOW = frozenset(WORDS["ranker"]["least"].split())
_FEWER = frozenset(WORDS["ranker"]["fewer"].split())
_WORD = re.compile(r"[\w']+(?:\.\d+)?")
_COUNTED = re.compile(r"(?:^| )(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten) (?=[a-z])")
_OF_VALUES = frozenset(["eq", "not_eq", "greater", "diff", "add", "exist", "and"])


def calls(call: Call) -> Iterator[Call]:
    """Yield a program, and all parts of it that are programs."""
    yield call
    for argument in call.arguments:
        if isinstance(argument, Call):
            yield from calls(argument)


def fit(sentence: str, program: str) -> float:
    """Return how well a program, without its verdict, fits a sentence; more is better.

    A kind of logic that both the operators and the words have adds 1; one that only the operators
    have takes 1, one that only the words have a half. A maximum where the words say the minimum
    takes 2, and the reverse; a number that is greater than another, but is mentioned after it,
    takes 1. A value that is in the sentence adds a half, as does a column that the sentence names;
    other columns take a quarter. To count all rows takes a half, each operator a tenth.
    """
    try:
        tree = parse(program)
    except ProgramError:
        return float("-inf")
    used, words = {each.operator for each in calls(tree)}, _words(sentence)
    columns, values = _literals(tree)
    score = -0.1 * program.count("{") - 0.5 * ("count{all_rows}" in program)
    for kind, names in KINDS.items():
        if names & used:
            score += 1 if kind in words.kinds else -1
        elif kind in words.kinds:
            score -= 0.5
    if opposite := {1: {"argmin", "min"}, -1: {"argmax", "max"}}.get(words.direction):
        score -= 2 * bool(used & opposite)
    named = sum(_words(column).stems <= words.stems for column in columns)
    score += 0.5 * named - 0.25 * (len(columns) - named)
    score += 0.5 * sum(_words(value).stems <= words.stems for value in values)
    return score - _is_reversed(tree, sentence.lower(), words)


class _SentenceWords(NamedTuple):
    stems: frozenset[str]
    kinds: frozenset[str]
    direction: int  # 1 for a maximum, -1 for a minimum


@lru_cache(maxsize=4096)
def _words(text: str) -> _SentenceWords:
    lower = text.lower()
    words = frozenset(_WORD.findall(lower))
    kinds = {kind for kind, cues in _CUES.items() if cues & words}
    if _COUNTED.search(lower):
        kinds.add("count")
    stems = frozenset(word.removesuffix("s") for word in words)
    return _SentenceWords(stems, frozenset(kinds), bool(words & _HIGH) - bool(words & _LOW))


def _literals(tree: Call) -> tuple[set[str], set[str]]:
    """Return the columns that a program names, and the values in it."""
    columns, values = set[str](), set[str]()
    for call in calls(tree):
        for i, argument in enumerate(call.arguments):
            if not isinstance(argument, Call) and argument != ALL_ROWS:
                is_column = i == 1 and call.operator not in _OF_VALUES
                (columns if is_column else values).add(argument)
    return columns, values


def _is_reversed(tree: Call, sentence: str, words: _SentenceWords) -> bool:
    """Return whether the lesser of two things is mentioned first, without a word for less."""
    if tree.operator != "greater":
        return False
    places = []
    for part in tree.arguments:
        values = _literals(part)[1] if isinstance(part, Call) else {part}
        found = [place for value in values if (place := sentence.find(value)) >= 0]
        places.append(min(found, default=None))
    first, second = places
    if first is None or second is None or first == second:
        return False
    return (first > second) != bool(words.stems & _FEWER)
