"""A table whose columns have types: those that `pandas.read_csv` gives them by default.

The published code of LogicNLG works on what pandas reads: its programs and its texts of tables.
The rules are few, and applying them here takes a fraction of the time; tests compare both.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TypeAlias

from spor_tasks.core.table import Table

CellValue: TypeAlias = int | float | str | None
"""A value as pandas has it; a missing number is NaN, any other missing value None."""

MISSING = frozenset(
    ["", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"]
) | {"<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"}
"""The texts that pandas reads as a missing value."""

_WHOLE = re.compile(r"\s*[+-]?[0-9]+\s*", re.ASCII)
_REAL = re.compile(
    r"\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?\s*|[+-]?inf(?:inity)?",
    re.ASCII | re.IGNORECASE,
)
_TRUTH = frozenset(["True", "TRUE", "true", "False", "FALSE", "false"])
_LONG = 100  # characters; no number of 64 bits is as long, and Python refuses to read the longest


class ColumnType(Enum):
    """The type of a column's values."""

    NUMBER = "number"
    TEXT = "text"
    OTHER = "other"
    """Truth values, or whole numbers too large for 64 bits."""


@dataclass(frozen=True, slots=True)
class TypedColumn:
    """A column; ``cells`` are its texts as they were, ``values`` what pandas makes of them."""

    name: str
    kind: ColumnType
    values: tuple[CellValue, ...]
    cells: tuple[str, ...]


@dataclass(frozen=True)
class TypedTable:
    """A table by columns.

    A name that occurs again is numbered as pandas does (`name.1`), and a missing name is
    `Unnamed: 0`, by its place. A row that is too short ends with missing values. A table with a row
    that is too long is ``ragged``: nobody can say which columns its cells belong to.
    """

    columns: tuple[TypedColumn, ...]
    size: int
    ragged: bool = False

    @cached_property
    def rows(self) -> tuple[int, ...]:
        """The numbers of all rows."""
        return tuple(range(self.size))

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each column by its name, also with each run of blanks as one."""
        spaced = {" ".join(column.name.split()): i for i, column in enumerate(self.columns)}
        return spaced | {column.name: i for i, column in enumerate(self.columns)}


def typed(table: Table) -> TypedTable:
    """Return the table with the types of its columns."""
    width = len(table.header)
    rows = [row if len(row) == width else (*row, *[""] * (width - len(row))) for row in table.rows]
    columns = zip(*rows, strict=False) if rows else iter([()] * width)
    return TypedTable(
        tuple(map(_column, _names(table.header), columns)),
        len(rows),
        any(len(row) > width for row in table.rows),
    )


def _names(header: Sequence[str]) -> list[str]:
    """Return names that differ, as pandas makes them."""
    names = [name or f"Unnamed: {i}" for i, name in enumerate(header)]
    if len(set(names)) == len(names):
        return names
    times: dict[str, int] = {}
    for i in sorted(range(len(names)), key=lambda i: not header[i]):  # those with a name first
        original = name = names[i]
        again = times.get(name, 0)
        while again > 0:
            times[original] = again + 1
            name = f"{original}.{again}"
            again = again + 1 if name in names else times.get(name, 0)
        names[i] = name
        times[name] = 1
    return names


def _column(name: str, cells: tuple[str, ...]) -> TypedColumn:
    present = [cell for cell in cells if cell not in MISSING]
    kind, values = ColumnType.TEXT, tuple(None if cell in MISSING else cell for cell in cells)
    if cells and len(present) == len(cells) and all(map(_WHOLE.fullmatch, cells)):
        whole = tuple(map(int, cells)) if max(map(len, cells)) < _LONG else ()
        if whole and all(-(2**63) <= number < 2**63 for number in whole):
            return TypedColumn(name, ColumnType.NUMBER, whole, cells)
        kind = ColumnType.OTHER
    elif cells and all(map(_REAL.fullmatch, present)):
        numbers = tuple(math.nan if cell is None else float(cell) for cell in values)
        return TypedColumn(name, ColumnType.NUMBER, numbers, cells)
    elif present and _TRUTH.issuperset(present):
        kind = ColumnType.OTHER
    return TypedColumn(name, kind, values, cells)
