# ruff: noqa: D102 - an operator does what its name says
"""The operators, as published: what each returns for a table, oddities included.

Rows are a tuple of their numbers in the table, in order. The oddities:

- `filter_eq` and `all_eq` read a text as regular expressions (:mod:`.matching`), case-sensitively;
- two texts are equal if either contains the other, and so an empty one equals all;
- numbers are equal only if all their bits are;
- `first` to `last`, `after` and `before` find a row by its first four cells;
- the sum of no rows is 0, their mean and extremes are NaN, and all of no rows have any value;
- `argmax` and `argmin` are empty if a value is missing, which `max` and `min` leave out;
- `uniq` counts a missing value as one; `hop` takes the first of several rows;
- `exist` is always true; `only` of all rows means several, as only the search writes it.
"""

import math
import operator
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from spor_tasks.corpora.logicnlg.columns import Column, Kind, TypedTable
from spor_tasks.metrics.programs.matching import matches
from spor_tasks.metrics.programs.parse import Literal, ProgramError

Rows: TypeAlias = tuple[int, ...]
Value: TypeAlias = float | str
"""A number or a text; a text of the program itself is a :class:`Literal`."""

Relation: TypeAlias = Callable[[Any, Any], bool]
Most: TypeAlias = Callable[..., float]
"""`max` or `min`."""

_EXACT = 15  # digits of a whole number that is the same as a float
_COMPARED = 4  # cells of a row, by which the published code finds it


class Published:
    """The published operators on one table.

    Each raises :class:`ProgramError` where it has no answer.
    """

    def __init__(self, table: TypedTable) -> None:
        self.table = table

    # --- Columns ----------------------------------------------------------------------------------

    def column(self, name: str) -> Column:
        number = self.table.numbers.get(name)
        if number is None:
            raise ProgramError("names a column that the table lacks", name)
        return self.table.columns[number]

    def cells(self, name: str, kind: Kind) -> Sequence[Any]:
        """Return the values of a column of this kind; a missing number is NaN, a text None."""
        column = self.column(name)
        if column.kind is not kind:
            raise ProgramError("is of another type", name)
        return column.values

    def number(self, value: Value) -> float:
        if not isinstance(value, str):
            return value
        if not isinstance(value, Literal):
            raise ProgramError("is of another type", value)
        found = as_number(value)
        if found is None:
            raise ProgramError("is not a number", value)
        return found

    # --- Counts and places ------------------------------------------------------------------------

    def count(self, rows: Rows) -> int:
        return len(rows)

    def half(self, rows: Rows) -> int:
        return len(rows) // 2

    def one_third(self, rows: Rows) -> int:
        return len(rows) // 3

    def only(self, rows: Rows) -> bool:
        return len(rows) > 1 if rows is self.table.rows else len(rows) == 1

    def several(self, rows: Rows) -> bool:
        return len(rows) > 1

    def top(self, rows: Rows) -> Rows:
        return (*rows[:1],)  # never the same object as all rows

    def bottom(self, rows: Rows) -> Rows:
        return (*rows[-1:],)

    def place(self, rows: Rows, one: Rows) -> int:
        """Return at which place among the rows the first of the others stands."""
        if len(rows) == 1:
            rows, one = one, rows
        if len(self.table.columns) < _COMPARED:
            raise ProgramError("needs a table of four columns")
        if not one:
            raise ProgramError("needs a row or a value")
        columns = [column.values for column in self.table.columns[:_COMPARED]]
        cells = [values[one[0]] for values in columns]
        for place, row in enumerate(rows):
            # A missing cell is not even equal to itself.
            if all(
                values[row] == cell and cell is not None
                for values, cell in zip(columns, cells, strict=True)
            ):
                return place
        raise ProgramError("needs a row or a value")

    def is_at(self, rows: Rows, one: Rows, place: int) -> bool:
        return self.place(rows, one) == (place if place >= 0 else len(rows) + place)

    def comes(self, one: Rows, other: Rows, holds: Relation) -> bool:
        return holds(self.place(self.table.rows, one), self.place(self.table.rows, other))

    # --- Of a column ------------------------------------------------------------------------------

    def uniq(self, rows: Rows, name: str) -> int:
        column = self.column(name)
        present = {column.values[row] for row in rows}
        missing = [value for value in present if _is_missing(value)]
        return len(present) - max(0, len(missing) - 1)  # one NaN may differ from another

    def sum(self, rows: Rows, name: str) -> float:
        present = self._present(rows, name)
        if present and isinstance(present[0], int):
            return sum(present)
        # A missing number counts as zero, which decides what numpy adds to what first.
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.nansum(np.array(self._at(rows, name), float)))

    def avg(self, rows: Rows, name: str) -> float:
        count = len(self._present(rows, name))
        return self.sum(rows, name) / count if count else math.nan

    def most(self, rows: Rows, name: str, most: Most) -> float:
        return most(self._present(rows, name), default=math.nan)

    def extreme(self, rows: Rows, name: str, most: Most) -> Rows:
        values = self._at(rows, name)
        if not rows:
            raise ProgramError("needs a row or a value")
        if any(value != value for value in values):  # noqa: PLR0124 - NaN
            return ()
        extreme = most(values)
        return tuple(row for row, value in zip(rows, values, strict=True) if value == extreme)

    def _at(self, rows: Rows, name: str) -> list[float]:
        numbers = self.cells(name, Kind.NUMBER)
        return [numbers[row] for row in rows]

    def _present(self, rows: Rows, name: str) -> list[float]:
        return [value for value in self._at(rows, name) if value == value]  # noqa: PLR0124 - NaN

    def hop(self, rows: Rows, name: str) -> Value:
        column = self.column(name)
        if not rows:
            raise ProgramError("needs a row or a value")
        if column.kind is Kind.OTHER:
            raise ProgramError("is of another type", name)
        value = column.values[rows[0]]
        if value is None:
            raise ProgramError("needs a row or a value", name)
        if isinstance(value, str) and (number := as_number(value)) is not None:
            return number
        return value

    def most_freq(self, rows: Rows, name: str) -> Value:
        texts = self.cells(name, Kind.TEXT)
        counts = Counter(texts[row] for row in rows if texts[row] is not None)
        if not counts:
            raise ProgramError("needs a row or a value")
        [(text, times)] = counts.most_common(1)
        if times == 1:
            raise ProgramError("needs one value where there are several")
        return str(text)

    # --- Of values --------------------------------------------------------------------------------

    def none(self, value: Value) -> bool:
        if not isinstance(value, str):
            raise ProgramError("is of another type", str(value))
        named = any(word in value for word in ("none", "n / a", "no information"))
        return named or value in {"-", "no"}

    def zero(self, value: Value) -> bool:
        return self.number(value) == 0

    def combined(self, one: Value, other: Value, combine: Callable[[float, float], Any]) -> Any:  # noqa: ANN401
        return combine(self.number(one), self.number(other))

    def eq(self, one: Value, other: Value) -> bool:
        if isinstance(one, str) and isinstance(other, str) and not _are_numbers(one, other):
            return one in other or other in one
        return self.number(one) == self.number(other)

    def not_eq(self, one: Value, other: Value) -> bool:
        return not self.eq(one, other)

    def both(self, one: bool, other: bool) -> bool:  # noqa: FBT001 - an operator of truth values
        return one and other

    def exist(self, *_: Value) -> bool:
        return True

    # --- Of a column and a value ------------------------------------------------------------------

    def equal(self, rows: Rows, name: str, value: Value) -> tuple[list[bool], bool]:
        """Return which of the rows have a value, and whether a negation asks for the others."""
        column = self.column(name)
        if column.kind is Kind.NUMBER:
            number = self.number(value)
            return [column.values[row] == number for row in rows], True
        texts = self.cells(name, Kind.TEXT)
        if not isinstance(value, str):
            raise ProgramError("is of another type", name)
        whole = rows is self.table.rows
        return matches(value, texts if whole else [texts[row] for row in rows])

    def compared(self, rows: Rows, name: str, value: Value, holds: Relation) -> list[bool]:
        """Return which of the rows have a number of which the relation holds."""
        numbers, number = self.cells(name, Kind.NUMBER), self.number(value)
        return [holds(numbers[row], number) for row in rows]

    def filter_by(self, rows: Rows, name: str, value: Value, holds: Relation) -> Rows:
        return tuple(compress(rows, self.compared(rows, name, value, holds)))

    def all_by(self, rows: Rows, name: str, value: Value, holds: Relation) -> bool:
        return all(self.compared(rows, name, value, holds))

    def filter_eq(self, rows: Rows, name: str, value: Value) -> Rows:
        return tuple(compress(rows, self.equal(rows, name, value)[0]))

    def filter_not_eq(self, rows: Rows, name: str, value: Value) -> Rows:
        found, negatable = self.equal(rows, name, value)
        return tuple(compress(rows, [not one for one in found] if negatable else found))

    def all_eq(self, rows: Rows, name: str, value: Value) -> bool:
        return all(self.equal(rows, name, value)[0])

    def all_not_eq(self, rows: Rows, name: str, value: Value) -> bool:
        return not any(self.equal(rows, name, value)[0])


def as_number(text: str) -> float | None:
    """Return what `float` makes of a text, or None; a whole number stays one."""
    whole = len(text) <= _EXACT and text.isascii() and text.isdigit()
    try:
        return int(text) if whole else float(text)
    except ValueError:
        return None


def _are_numbers(*values: str) -> bool:
    return all(isinstance(value, Literal) and as_number(value) is not None for value in values)


def _is_missing(value: object) -> bool:
    return value is None or value != value  # noqa: PLR0124 - NaN


class Operator(NamedTuple):
    """An operator: the method that computes it, and what this takes after the arguments.

    ``takes`` has a letter for each argument: r are rows, c is the name of a column, v a value, b a
    truth value, and * any number of values.
    """

    takes: str
    method: str
    more: tuple[Any, ...] = ()


_PLACES = ("first", "second", "third", "fourth", "fifth")
_ARITHMETIC = {"diff": operator.sub, "add": operator.add, "greater": operator.gt}
_RELATIONS = {
    "less": operator.lt,
    "less_eq": operator.le,
    "greater": operator.gt,
    "greater_eq": operator.ge,
}

OPERATORS = {
    **{name: Operator("r", name) for name in ("count", "half", "one_third", "only", "several")},
    **{name: Operator("r", name) for name in ("top", "bottom")},
    **{name: Operator("rr", "is_at", (place,)) for place, name in enumerate(_PLACES)},
    "last": Operator("rr", "is_at", (-1,)),
    "after": Operator("rr", "comes", (operator.gt,)),
    "before": Operator("rr", "comes", (operator.lt,)),
    **{name: Operator("rc", name) for name in ("uniq", "avg", "sum", "hop", "most_freq")},
    **{most.__name__: Operator("rc", "most", (most,)) for most in (max, min)},
    **{f"arg{most.__name__}": Operator("rc", "extreme", (most,)) for most in (max, min)},
    "mean": Operator("rc", "avg"),
    **{name: Operator("v", name) for name in ("none", "zero")},
    **{name: Operator("vv", "combined", (combine,)) for name, combine in _ARITHMETIC.items()},
    **{name: Operator("vv", name) for name in ("eq", "not_eq")},
    "and": Operator("bb", "both"),
    "exist": Operator("*", "exist"),
    **{name: Operator("rcv", name) for name in ("filter_eq", "filter_not_eq")},
    **{name: Operator("rcv", name) for name in ("all_eq", "all_not_eq")},
    **{f"filter_{name}": Operator("rcv", "filter_by", (r,)) for name, r in _RELATIONS.items()},
    **{f"all_{name}": Operator("rcv", "all_by", (r,)) for name, r in _RELATIONS.items()},
}
"""All operators by name: the 44 of the published list, `min` and `several`.

The published code has nothing that computes `mean`; here it is `avg`.
"""
