"""The language of `logicnlg_mini`: its statements about a table, and the program of each.

A table has three columns: a person, where they are from, and how many of something they have. The
file `statements.tsv` has the forms of statements: rows of words and slots, such as `<name> has the
<op> <things> .`, with a program for each word that the slot `<op>` takes. Any other slot takes one
word of the table, or a number.
"""

import csv
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

from spor_tasks.core.table import Table

COUNTS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
"""The words for numbers of rows. They are never in a table, unlike numbers in digits."""

THRESHOLDS = range(11, 20)
"""The numbers that a statement compares a number with."""

SUMS = range(17, 31)
"""The numbers that a statement compares a sum with."""

COLUMNS = ("person", "home", "things")
"""The slots for the names of the columns."""

SLOT = re.compile(r"<(\w+)>")

SlotWords: TypeAlias = Mapping[str, Mapping[str, str]]
"""The words that each slot takes, in small letters, and how a statement writes them."""


class Form(NamedTuple):
    """A form of statements with one operator, and the kind of logic that it needs."""

    logic: str
    wording: str
    operator: str
    program: str


class ParsedStatement(NamedTuple):
    """The kind of logic of a statement, and its program."""

    logic: str
    program: str


with Path(__file__).with_name("statements.tsv").open(encoding="utf-8", newline="") as _file:
    _, *_rows = csv.reader(_file, delimiter="\t", quoting=csv.QUOTE_NONE)

FORMS = tuple(Form(*row) for row in _rows)
"""All forms, those of one wording together. No sentence has two of them."""

LOGICS = tuple(dict.fromkeys(form.logic for form in FORMS))
"""The kinds of logic."""

_PATTERNS = {
    form: re.compile(
        SLOT.sub(r"(?P<\1>\\S+)", re.escape(form.wording.replace("<op>", form.operator)))
    )
    for form in FORMS
}
_DIFFERENT = (("name", "other"), ("place", "rival"))


@lru_cache(maxsize=64)  # a table has several statements, one after another
def words_of(table: Table) -> SlotWords:
    """Return the words of statements about a table; none, if it does not have three columns."""
    if len(table.header) != len(COLUMNS):
        return {}
    person, home, things = table.header
    headers = {"person": person, "persons": f"{person}s", "home": home, "things": things}
    names, places = (
        {row[column].casefold(): row[column] for row in table.rows if column < len(row)}
        for column in (0, 1)
    )
    return {
        **{slot: {word.casefold(): word} for slot, word in headers.items()},
        **dict.fromkeys(("name", "other"), names),
        **dict.fromkeys(("place", "rival"), places),
        "number": {str(number): str(number) for number in THRESHOLDS},
        "sum": {str(number): str(number) for number in SUMS},
        "count": {word: str(count) for word, count in COUNTS.items()},
    }


def parse(text: str, table: Table) -> ParsedStatement | None:
    """Return the statement that a text is, or None if the language does not have it.

    Case and blanks do not matter, nor whether there is a blank before the full stop. A statement
    names only what is in the table.
    """
    if not text.strip().endswith("."):
        return None
    words = " ".join([*text.strip().removesuffix(".").casefold().split(), "."])
    slots = words_of(table)
    for form, pattern in _PATTERNS.items() if slots else ():
        if match := pattern.fullmatch(words):
            values = {slot: slots[slot].get(word) for slot, word in match.groupdict().items()}
            # Some statements about one and the same thing would be true whatever the table says.
            is_empty = any(a in values and values[a] == values.get(b) for a, b in _DIFFERENT)
            if not is_empty and None not in values.values():
                logic, program = form.logic, form.program
                break
    else:
        return None
    said = {**dict(zip(COLUMNS, table.header, strict=True)), **values}
    return ParsedStatement(logic, SLOT.sub(lambda slot: str(said[slot[1]]), program))
