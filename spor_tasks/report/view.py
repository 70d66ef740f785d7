"""What is shown of a sample that is about a table: the table, and what the sample points at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spor_tasks.core.sample import Contrast, DataUnit, Sample
from spor_tasks.core.table import Table


@dataclass(frozen=True, slots=True)
class TableView:
    """A table and its title, and the numbers of the columns that each text is about.

    ``columns`` has a set for the sample's own text, and of a pair a second one for the other text.
    """

    title: str
    table: Table
    columns: tuple[frozenset[int], ...]


def view_of(sample: Sample) -> TableView | None:
    """Return what is shown of a sample's table; None if it has none of rows of texts."""
    given = sample.context.get("table")
    if not isinstance(given, Mapping):
        return None
    header: Any = given.get("header")
    rows: Any = given.get("rows")
    if not isinstance(rows, list) or not all(map(_are_texts, (header, *rows))):
        return None
    table = Table(tuple(header), tuple(map(tuple, rows)))
    other = sample.challenge
    sides = [sample.units, other.units] if isinstance(other, Contrast) else [sample.units]
    columns = tuple(_columns(units, len(table.header)) for units in sides)
    return TableView(sample.about("title") or "", table, columns)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _columns(units: Sequence[DataUnit], width: int) -> frozenset[int]:
    """Return the columns that units end with the number of, those that there are."""
    numbers = (int(unit[-1]) for unit in units if _is_number(unit[-1]))
    return frozenset(number for number in numbers if number < width)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _LONGEST


_LONGEST = 4  # digits of a column's number
