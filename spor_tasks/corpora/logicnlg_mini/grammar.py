"""The language of the embedded tables: its sentences, the program of each, and when it is true.

A table has three columns: a person, where they are from, and how many of something they have. A
form of sentence is a row of words and slots, such as ``<name> has the <op> <things> .``; each slot
takes one word. The same forms write sentences and read them.
"""

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple, TypeAlias

from spor_tasks.core.table import Table

COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
"""The words for numbers of rows. They are never in a table, unlike numbers in digits."""

THRESHOLDS = range(11, 20)
"""What a sentence compares numbers with: none of these is below or above those of most tables."""

SUMS = range(17, 31)
"""What a sentence compares sums with."""

_COLUMNS = ("person", "home", "things")
_HEADERS = (*_COLUMNS, "persons")
_SLOT = re.compile(r"<(\w+)>")
_HOLDS_OF = {"more": operator.gt, "fewer": operator.lt, "above": operator.gt, "below": operator.lt}
_EXTREMES: dict[str, Callable[..., "Row"]] = {"most": max, "fewest": min}
_FILTERS = {"more": "greater", "fewer": "less"}

Filling: TypeAlias = Mapping[str, str]
"""The word in each slot of a sentence, as the table has it."""


class Row(NamedTuple):
    """A row of a table."""

    name: str
    place: str
    number: int


@dataclass(frozen=True, slots=True)
class Scene:
    """The rows of a table, to say what holds of them; no two have one name or one number."""

    rows: tuple[Row, ...]

    def number(self, name: str) -> int:
        """Return the number of a person."""
        return next(row.number for row in self.rows if row.name == name)

    def place(self, name: str) -> str:
        """Return the place of a person."""
        return next(row.place for row in self.rows if row.name == name)

    def names(self, place: str) -> list[str]:
        """Return the people from a place."""
        return [row.name for row in self.rows if row.place == place]

    def total(self, place: str) -> int:
        """Return the sum of the numbers of a place."""
        return sum(row.number for row in self.rows if row.place == place)

    def extreme(self, filling: Filling) -> Row:
        """Return the row with the most or the fewest."""
        return _EXTREMES[filling["op"]](self.rows, key=lambda row: row.number)

    def beyond(self, filling: Filling) -> list[str]:
        """Return the people with more, or with fewer, than the sentence's number."""
        return [row.name for row in self.rows if _compare(filling, row.number, _bound(filling))]

    @property
    def mean(self) -> float:
        """The mean of the numbers."""
        return sum(row.number for row in self.rows) / len(self.rows)


def _bound(filling: Filling) -> int:
    return int(filling["number"])


def _compare(filling: Filling, one: float, other: float) -> bool:
    return bool(_HOLDS_OF[filling["op"]](one, other))


@dataclass(frozen=True)
class Form:
    """A form of sentence, and the kind of logic that it needs.

    ``programs`` are its programs by the word in its slot ``op``; without the slot, by an empty one.
    """

    logic: str
    wording: tuple[str, ...]
    programs: Mapping[str, str]
    holds: Callable[[Scene, Filling], bool]

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """Its slots, without those for the names of columns."""
        slots = (token[1:-1] for token in self.wording if token[0] == "<")
        return tuple(slot for slot in slots if slot not in _HEADERS)

    @cached_property
    def operators(self) -> dict[str, str]:
        """The words for its slot ``op``, as a lexicon has those of other slots."""
        return {word: word for word in self.programs}

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """The numbers of the columns that its programs use."""
        program = next(iter(self.programs.values()))
        return tuple(i for i, column in enumerate(_COLUMNS) if f"<{column}>" in program)


def _form(
    logic: str,
    wording: str,
    programs: str | dict[str, str],
    holds: Callable[[Scene, Filling], bool],
) -> Form:
    given = {"": programs} if isinstance(programs, str) else programs
    return Form(logic, tuple(wording.split()), given, holds)


def _each(program: str, operators: Mapping[str, str]) -> dict[str, str]:
    return {word: program.replace("<op>", name) for word, name in operators.items()}


def _greater(one: str, other: str, words: tuple[str, str] = ("more", "fewer")) -> dict[str, str]:
    more, fewer = words
    return {more: f"greater{{{one}; {other}}}", fewer: f"greater{{{other}; {one}}}"}


def _of(slot: str, column: str) -> str:
    return f"hop{{filter_eq{{all_rows; <person>; <{slot}>}}; <{column}>}}"


def _sum(slot: str) -> str:
    return f"sum{{filter_eq{{all_rows; <home>; <{slot}>}}; <things>}}"


_TOP = {"most": "argmax", "fewest": "argmin"}
_AVERAGE = "avg{all_rows; <things>}"
_FROM = "filter_eq{all_rows; <home>; <place>}"
_BEYOND = "filter_<op>{all_rows; <things>; <number>}"
_HIM = "filter_eq{all_rows; <person>; <name>}"

FORMS = (
    _form(
        "superlative",
        "<name> has the <op> <things> .",
        _each("eq{hop{<op>{all_rows; <things>}; <person>}; <name>}", _TOP),
        lambda scene, f: scene.extreme(f).name == f["name"],
    ),
    _form(
        "superlative",
        "the <op> <things> go to <name> .",
        _each("eq{hop{<op>{all_rows; <things>}; <person>}; <name>}", _TOP),
        lambda scene, f: scene.extreme(f).name == f["name"],
    ),
    _form(
        "superlative",
        "the <op> <things> go to <place> .",
        _each("eq{hop{<op>{all_rows; <things>}; <home>}; <place>}", _TOP),
        lambda scene, f: scene.extreme(f).place == f["place"],
    ),
    _form(
        "comparison",
        "<name> has <op> <things> than <other> .",
        _greater(_of("name", "things"), _of("other", "things")),
        lambda scene, f: _compare(f, scene.number(f["name"]), scene.number(f["other"])),
    ),
    _form(
        "comparison",
        "<name> and <other> share <op> <home> .",
        _each(
            f"<op>{{{_of('name', 'home')}; {_of('other', 'home')}}}", {"a": "eq", "no": "not_eq"}
        ),
        lambda scene, f: (scene.place(f["name"]) == scene.place(f["other"])) == (f["op"] == "a"),
    ),
    _form(
        "count",
        "<place> has <count> of the <persons> .",
        f"eq{{count{{{_FROM}}}; <count>}}",
        lambda scene, f: len(scene.names(f["place"])) == COUNTS[f["count"]],
    ),
    _form(
        "count",
        "the number of <persons> with <op> than <number> <things> is <count> .",
        _each(f"eq{{count{{{_BEYOND}}}; <count>}}", _FILTERS),
        lambda scene, f: len(scene.beyond(f)) == COUNTS[f["count"]],
    ),
    _form(
        "average",
        "<name> has <op> <things> than the average <person> .",
        _greater(_of("name", "things"), _AVERAGE),
        lambda scene, f: _compare(f, scene.number(f["name"]), scene.mean),
    ),
    _form(
        "average",
        "the average number of <things> is <op> <number> .",
        _greater(_AVERAGE, "<number>", ("above", "below")),
        lambda scene, f: _compare(f, scene.mean, _bound(f)),
    ),
    _form(
        "total",
        "<place> has <op> <things> in total than <rival> .",
        _greater(_sum("place"), _sum("rival")),
        lambda scene, f: _compare(f, scene.total(f["place"]), scene.total(f["rival"])),
    ),
    _form(
        "total",
        "the <persons> from <place> have <op> than <sum> <things> in total .",
        _greater(_sum("place"), "<sum>"),
        lambda scene, f: _compare(f, scene.total(f["place"]), int(f["sum"])),
    ),
    _form(
        "majority",
        "most of the <persons> are from <place> .",
        f"greater{{count{{{_FROM}}}; half{{all_rows}}}}",
        lambda scene, f: 2 * len(scene.names(f["place"])) > len(scene.rows),
    ),
    _form(
        "majority",
        "most of the <persons> have <op> than <number> <things> .",
        _each(f"greater{{count{{{_BEYOND}}}; half{{all_rows}}}}", _FILTERS),
        lambda scene, f: 2 * len(scene.beyond(f)) > len(scene.rows),
    ),
    _form(
        "all",
        "every <person> has <op> than <number> <things> .",
        _each("all_<op>{all_rows; <things>; <number>}", _FILTERS),
        lambda scene, f: len(scene.beyond(f)) == len(scene.rows),
    ),
    _form(
        "all",
        "every <person> from <place> has <op> than <number> <things> .",
        _each(f"all_<op>{{{_FROM}; <things>; <number>}}", _FILTERS),
        lambda scene, f: {*scene.names(f["place"])} <= {*scene.beyond(f)},
    ),
    _form(
        "only",
        "<name> is the only <person> from <place> .",
        f"and{{only{{{_FROM}}}; only{{filter_eq{{{_HIM}; <home>; <place>}}}}}}",
        lambda scene, f: scene.names(f["place"]) == [f["name"]],
    ),
    _form(
        "only",
        "only <name> has <op> than <number> <things> .",
        _each(
            f"and{{only{{{_BEYOND}}}; only{{filter_<op>{{{_HIM}; <things>; <number>}}}}}}", _FILTERS
        ),
        lambda scene, f: scene.beyond(f) == [f["name"]],
    ),
)
"""All forms of sentences. Of two of one length, no sentence is both."""

LOGICS = tuple(dict.fromkeys(form.logic for form in FORMS))
"""The kinds of logic."""

_BY_LENGTH = {
    length: [form for form in FORMS if len(form.wording) == length]
    for length in {len(form.wording) for form in FORMS}
}
_BY_WORDING = {form.wording: form for form in FORMS}
_LIKE = {"name": ("name", "place"), "place": ("place", "name")}


class Sentence(NamedTuple):
    """A sentence of the language about a table."""

    form: Form
    filling: Filling

    @property
    def words(self) -> list[str]:
        """The words, the full stop among them."""
        return [self.filling.get(word[1:-1], word) for word in self.form.wording]

    @property
    def text(self) -> str:
        """The text, with a blank before the full stop."""
        return " ".join(self.words)

    @property
    def template(self) -> str:
        """The text with `[ENT]` in place of each name, place, number and count."""
        return " ".join(
            "[ENT]" if token[1:-1] in _ENTITIES else self.filling.get(token[1:-1], token)
            for token in self.form.wording
        )

    @property
    def program(self) -> str:
        """The program that it means."""
        values = dict(self.filling)
        if "count" in values:
            values["count"] = str(COUNTS[values["count"]])
        program = self.form.programs[values.get("op", "")]
        return _SLOT.sub(lambda slot: values[slot[1]], program)


_ENTITIES = frozenset(["name", "other", "place", "rival", "number", "sum", "count"])
_TWO = (("other", "name"), ("rival", "place"))

Lexicon: TypeAlias = Mapping[str, Mapping[str, str]]
"""The words that a slot takes, in small letters, and how a sentence has them."""


@lru_cache(maxsize=64)  # a table has several sentences, one after another
def lexicon(table: Table) -> Lexicon:
    """Return what may stand in sentences about a table; nothing, if it has not three columns."""
    if len(table.header) != len(_COLUMNS):
        return {}
    person, home, things = table.header
    names, places = (_cells(table, column) for column in (0, 1))
    headers = {"person": person, "persons": f"{person}s", "home": home, "things": things}
    return {
        **{slot: {word.casefold(): word} for slot, word in headers.items()},
        **dict.fromkeys(("name", "other"), names),
        **dict.fromkeys(("place", "rival"), places),
        "number": {str(number): str(number) for number in THRESHOLDS},
        "sum": {str(number): str(number) for number in SUMS},
        "count": {count: count for count in COUNTS},
    }


def _cells(table: Table, column: int) -> dict[str, str]:
    return {row[column].casefold(): row[column] for row in table.rows if column < len(row)}


def headers(known: Lexicon) -> dict[str, str]:
    """Return the words for the columns, by their slots."""
    return {slot: word for slot in _HEADERS if slot in known for word in known[slot].values()}


def parse(words: Sequence[str], known: Lexicon) -> Sentence | None:
    """Return the sentence that these words are, whatever their case, or None."""
    small = [word.casefold() for word in words]
    for form in _BY_LENGTH.get(len(words), ()):
        filling = _filling(form, small, known)
        if filling is not None:
            return Sentence(form, headers(known) | filling)
    return None


def _filling(form: Form, words: Sequence[str], known: Lexicon) -> dict[str, str] | None:
    filling = dict[str, str]()
    for token, word in zip(form.wording, words, strict=True):
        if token[0] != "<":
            if token != word:
                return None
            continue
        slot = token[1:-1]
        found = form.operators.get(word) if slot == "op" else known.get(slot, {}).get(word)
        if found is None:
            return None
        filling[slot] = found
    # Of one and the same thing, some sentences would be true whatever the table says.
    same = any(one in filling and filling[one] == filling[other] for one, other in _TWO)
    return None if same else filling


def words_for(slot: str, form: Form, known: Lexicon, filling: Filling) -> list[str]:
    """Return the words that a slot of a form may take, without those that another has."""
    words = form.operators if slot == "op" else known[slot]
    return [word for word in words.values() if word not in filling.values()]


def variations(sentence: Sentence, known: Lexicon) -> Iterator[tuple[str, Sentence]]:
    """Yield the sentences that differ from this one in a single name, place, number or operator.

    With each comes the slot of the other word.
    """
    form, filling = sentence
    for changed in form.slots:
        kept = {slot: word for slot, word in filling.items() if slot != changed}
        for slot in _LIKE.get(changed, (changed,)):
            wording = (f"<{slot}>" if token == f"<{changed}>" else token for token in form.wording)
            if other := _BY_WORDING.get(tuple(wording)):
                for word in words_for(slot, other, known, filling):
                    yield slot, Sentence(other, {**kept, slot: word})
