"""Which of the programs that a search found says what the sentence says.

The published ranker is a BERT that was trained on programs and sentences, and its weights were not
published. The lexical ranker compares the operators of a program with the words of the sentence.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

from spor_tasks.metrics.programs.execute import ALL_ROWS
from spor_tasks.metrics.programs.outcome import Failure
from spor_tasks.metrics.programs.parse import Call, Tree, parse


class RankerInput(NamedTuple):
    """A program without its verdict, the sentence it may mean, and the title of the table."""

    title: str
    sentence: str
    program: str


class Ranker(Protocol):
    """Says how well programs fit their sentences; more is better.

    The score of one program does not depend on the others. Of equal ones the first is taken.
    """

    @property
    def signature(self) -> str:
        """Whatever can change what it says."""

    def __call__(self, items: Sequence[RankerInput], /) -> Sequence[float]:
        """Return a number for each program."""


_KINDS = {
    "superlative": "argmax argmin max min",
    "comparison": "greater diff filter_less filter_greater filter_less_eq filter_greater_eq "
    "all_less all_greater all_less_eq all_greater_eq",
    "count": "count",
    "average": "avg mean",
    "total": "sum add",
    "majority": "half one_third most_freq",
    "only": "only several uniq",
    "order": "before after first second third fourth fifth last top bottom",
    "all": "exist all_eq all_not_eq all_less all_greater all_less_eq all_greater_eq",
    "not": "none zero not_eq filter_not_eq all_not_eq",
    "both": "and",
}
KINDS: Mapping[str, frozenset[str]] = {
    kind: frozenset(names.split()) for kind, names in _KINDS.items()
}
"""The operators of each kind of logic; a program has the kinds of all its operators."""


def operators(call: Call) -> frozenset[str]:
    """Return the operators of a program."""
    inner = (operators(argument) for argument in call.arguments if isinstance(argument, Call))
    return frozenset([call.operator]).union(*inner)


# --- By words -------------------------------------------------------------------------------------

_MOST = "most highest largest biggest greatest longest latest best oldest maximum tallest"
_LEAST = "least lowest smallest fewest shortest earliest worst youngest minimum"
_CUES = {
    "superlative": f"{_MOST} {_LEAST} top first last",
    "comparison": "than more less fewer higher lower larger smaller longer shorter better worse "
    "over under above below exceed exceeded difference earlier later older younger greater",
    "count": "times time number total there only",
    "average": "average averaged averaging mean",
    "total": "total sum combined combine altogether overall",
    "majority": "majority half third most common frequent",
    "only": "only unique different several many separate",
    "order": "first second third fourth fifth last final before after following followed",
    "all": "all every each both always",
    "not": "not no never none neither without didn't zero except different unable",
    "both": "and while both but",
}
_WORDS = {kind: frozenset(words.split()) for kind, words in _CUES.items()}
_HIGH, _LOW = frozenset(_MOST.split()), frozenset(_LEAST.split())
_WORD = re.compile(r"[\w']+(?:\.\d+)?")
_COUNTED = re.compile(r"(?:^| )(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten) (?=[a-z])")
_OF_VALUES = frozenset(["eq", "not_eq", "greater", "diff", "add", "exist", "and"])
_FEWER = frozenset(["less", "fewer", "lower", "smaller", "shorter", "below", "under", "earlier"])


class LexicalRanker:
    """Compares a program with the words of the sentence; nothing is learned.

    A kind of logic that both the operators and the words have adds 1; one that only the operators
    have takes 1, one that only the words have a half. A maximum where the words say the minimum
    takes 2, and the reverse; a number that is greater than another, but told in the other order,
    takes 1. A value that is in the sentence adds a half, as does a column that the sentence names;
    other columns take a quarter. To count all rows takes a half, each operator a tenth.
    """

    signature = "ranker:lexical-1"

    def __call__(self, items: Sequence[RankerInput]) -> list[float]:
        """Return how well each program fits."""
        return [_fit(item) for item in items]


def _fit(item: RankerInput) -> float:
    tree = parse(item.program)
    if isinstance(tree, Failure):
        return float("-inf")
    used, said = operators(tree), _said(item.sentence)
    columns, values = _literals(tree)
    score = -0.1 * item.program.count("{") - 0.5 * ("count{all_rows}" in item.program)
    for kind, of in KINDS.items():
        if of & used:
            score += 1 if kind in said.kinds else -1
        elif kind in said.kinds:
            score -= 0.5
    if opposite := {1: {"argmin", "min"}, -1: {"argmax", "max"}}.get(said.direction):
        score -= 2 * bool(used & opposite)
    named = sum(_said(column).words <= said.words for column in columns)
    score += 0.5 * named - 0.25 * (len(columns) - named)
    score += 0.5 * sum(_said(value).words <= said.words for value in values)
    return score - _is_reversed(tree, item.sentence.lower(), said)


class _Said(NamedTuple):
    words: frozenset[str]
    kinds: frozenset[str]
    direction: int  # 1 for a maximum, -1 for a minimum


@lru_cache(maxsize=4096)
def _said(text: str) -> _Said:
    lower = text.lower()
    words = frozenset(_WORD.findall(lower))
    found = {kind for kind, cues in _WORDS.items() if cues & words}
    if _COUNTED.search(lower):
        found.add("count")
    stems = frozenset(word.removesuffix("s") for word in words)
    return _Said(stems, frozenset(found), bool(words & _HIGH) - bool(words & _LOW))


def _literals(tree: Call) -> tuple[frozenset[str], frozenset[str]]:
    """Return the columns that a program names, and the values in it."""
    columns, values = set[str](), set[str]()
    for i, argument in enumerate(tree.arguments):
        if isinstance(argument, Call):
            inner_columns, inner_values = _literals(argument)
            columns |= inner_columns
            values |= inner_values
        elif argument != ALL_ROWS:
            is_column = i == 1 and tree.operator not in _OF_VALUES
            (columns if is_column else values).add(argument)
    return frozenset(columns), frozenset(values)


def _is_reversed(tree: Call, sentence: str, said: _Said) -> bool:
    """Say whether the lesser of two compared things is told first, without a word for less."""
    if tree.operator != "greater":
        return False
    one, other = (_first_told(_values(part), sentence) for part in tree.arguments)
    is_less = bool(said.words & _FEWER)
    return one is not None and other is not None and one != other and (one > other) != is_less


def _first_told(values: frozenset[str], sentence: str) -> int | None:
    places = (sentence.find(value) for value in values)
    return min((place for place in places if place >= 0), default=None)


def _values(tree: Tree) -> frozenset[str]:
    return _literals(tree)[1] if isinstance(tree, Call) else frozenset([tree])
