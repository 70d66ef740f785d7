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

from spor_tasks.corpora.logicnlg.columns import ColumnType, TypedColumn, TypedTable
from spor_tasks.metrics.programs.matching import Matches, matches
from spor_tasks.metrics.programs.parse import Literal, ProgramError

RowNumbers: TypeAlias = tuple[int, ...]
ProgramValue: TypeAlias = float | str
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

    def column(self, name: str) -> TypedColumn:
        number = self.table.numbers.get(name)
        if number is None:
            raise ProgramError("names a column that the table lacks", name)
        return self.table.columns[number]

    def cells(self, name: str, kind: ColumnType) -> Sequence[Any]:
        """Return the values of a column of this kind; a missing number is NaN, a text None."""
        column = self.column(name)
        if column.kind is not kind:
            raise ProgramError("is of another type", name)
        return column.values

    def number(self, value: ProgramValue) -> float:
        if not isinstance(value, str):
            return value
        if not isinstance(value, Literal):
            raise ProgramError("is of another type", value)
        number = as_number(value)
        if number is None:
            raise ProgramError("is not a number", value)
        return number

    # --- Counts and places ------------------------------------------------------------------------

    def only(self, rows: RowNumbers) -> bool:
        return len(rows) > 1 if rows is self.table.rows else len(rows) == 1

    def place(self, rows: RowNumbers, single: RowNumbers) -> int:
        """Return at which place among the rows the first of the others stands."""
        if len(rows) == 1:
            rows, single = single, rows
        if len(self.table.columns) < _COMPARED:
            raise ProgramError("needs a table of four columns")
        if not single:
            raise ProgramError("needs a row or a value")
        columns = [column.values for column in self.table.columns[:_COMPARED]]
        cells = [values[single[0]] for values in columns]
        for place, row in enumerate(rows):
            # A missing cell is not even equal to itself.
            if all(
                values[row] == cell and cell is not None
                for values, cell in zip(columns, cells, strict=True)
            ):
                return place
        raise ProgramError("needs a row or a value")

    def is_at(self, rows: RowNumbers, single: RowNumbers, place: int) -> bool:
        return self.place(rows, single) == (place if place >= 0 else len(rows) + place)

    def comes(self, first: RowNumbers, second: RowNumbers, holds: Relation) -> bool:
        return holds(self.place(self.table.rows, first), self.place(self.table.rows, second))

    # --- Of a column ------------------------------------------------------------------------------

    def uniq(self, rows: RowNumbers, name: str) -> int:
        column = self.column(name)
        present = {column.values[row] for row in rows}
        missing = [value for value in present if value is None or value != value]  # noqa: PLR0124
        return len(present) - max(0, len(missing) - 1)  # one NaN may differ from another

    def sum(self, rows: RowNumbers, name: str) -> float:
        present = self._present(rows, name)
        if present and isinstance(present[0], int):
            return sum(present)
        # A missing number counts as zero, which decides what numpy adds to what first.
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.nansum(np.array(self._at(rows, name), float)))

    def avg(self, rows: RowNumbers, name: str) -> float:
        count = len(self._present(rows, name))
        return self.sum(rows, name) / count if count else math.nan

    def most(self, rows: RowNumbers, name: str, most: Most) -> float:
        return most(self._present(rows, name), default=math.nan)

    def extreme(self, rows: RowNumbers, name: str, most: Most) -> RowNumbers:
        values = self._at(rows, name)
        if not rows:
            raise ProgramError("needs a row or a value")
        if any(value != value for value in values):  # noqa: PLR0124 - NaN
            return ()
        extreme = most(values)
        return tuple(row for row, value in zip(rows, values, strict=True) if value == extreme)

    def _at(self, rows: RowNumbers, name: str) -> list[float]:
        numbers = self.cells(name, ColumnType.NUMBER)
        return [numbers[row] for row in rows]

    def _present(self, rows: RowNumbers, name: str) -> list[float]:
        return [value for value in self._at(rows, name) if value == value]  # noqa: PLR0124 - NaN

    def hop(self, rows: RowNumbers, name: str) -> ProgramValue:
        column = self.column(name)
        if not rows:
            raise ProgramError("needs a row or a value")
        if column.kind is ColumnType.OTHER:
            raise ProgramError("is of another type", name)
        value = column.values[rows[0]]
        if value is None:
            raise ProgramError("needs a row or a value", name)
        if isinstance(value, str) and (number := as_number(value)) is not None:
            return number
        return value

    def most_freq(self, rows: RowNumbers, name: str) -> ProgramValue:
        texts = self.cells(name, ColumnType.TEXT)
        counts = Counter(texts[row] for row in rows if texts[row] is not None)
        if not counts:
            raise ProgramError("needs a row or a value")
        [(text, times)] = counts.most_common(1)
        if times == 1:
            raise ProgramError("needs one value where there are several")
        return str(text)

    # --- Of values --------------------------------------------------------------------------------

    def none(self, value: ProgramValue) -> bool:
        if not isinstance(value, str):
            raise ProgramError("is of another type", str(value))
        named = any(word in value for word in ("none", "n / a", "no information"))
        return named or value in {"-", "no"}

    def zero(self, value: ProgramValue) -> bool:
        return self.number(value) == 0

    def combined(
        self, first: ProgramValue, second: ProgramValue, combine: Callable[[float, float], object]
    ) -> object:
        return combine(self.number(first), self.number(second))

    def eq(self, first: ProgramValue, second: ProgramValue) -> bool:
        if isinstance(first, str) and isinstance(second, str):
            are_numbers = all(
                isinstance(value, Literal) and as_number(value) is not None
                for value in (first, second)
            )
            if not are_numbers:
                return first in second or second in first
        return self.number(first) == self.number(second)

    def not_eq(self, first: ProgramValue, second: ProgramValue) -> bool:
        return not self.eq(first, second)

    # --- Of a column and a value ------------------------------------------------------------------

    def equal(self, rows: RowNumbers, name: str, value: ProgramValue) -> Matches:
        """Return which of the rows have a value."""
        column = self.column(name)
        if column.kind is ColumnType.NUMBER:
            number = self.number(value)
            return Matches([column.values[row] == number for row in rows], negatable=True)
        texts = self.cells(name, ColumnType.TEXT)
        if not isinstance(value, str):
            raise ProgramError("is of another type", name)
        whole = rows is self.table.rows
        return matches(value, texts if whole else [texts[row] for row in rows])

    def compared(
        self, rows: RowNumbers, name: str, value: ProgramValue, holds: Relation
    ) -> list[bool]:
        """Return for which of the rows the relation of its cell to the value holds."""
        if holds in (operator.eq, operator.ne):
            cells, negatable = self.equal(rows, name, value)
            return [not cell for cell in cells] if holds is operator.ne and negatable else cells
        numbers, number = self.cells(name, ColumnType.NUMBER), self.number(value)
        return [holds(numbers[row], number) for row in rows]

    def filter_by(
        self, rows: RowNumbers, name: str, value: ProgramValue, holds: Relation
    ) -> RowNumbers:
        return tuple(compress(rows, self.compared(rows, name, value, holds)))

    def all_by(self, rows: RowNumbers, name: str, value: ProgramValue, holds: Relation) -> bool:
        return all(self.compared(rows, name, value, holds))

    def all_not_eq(self, rows: RowNumbers, name: str, value: ProgramValue) -> bool:
        return not any(self.equal(rows, name, value).cells)


def as_number(text: str) -> float | None:
    """Return what `float` makes of a text, or None; a whole number stays one."""
    whole = len(text) <= _EXACT and text.isascii() and text.isdigit()
    try:
        return int(text) if whole else float(text)
    except ValueError:
        return None


class Operator(NamedTuple):
    """An operator of programs.

    ``function`` is a function, or the name of a method of :class:`Published`. It takes the
    arguments of the program, then ``more``. ``takes`` has a letter for each argument: r are rows,
    c is the name of a column, v a value, b a truth value, and * any number of values.
    """

    takes: str
    function: str | Callable[..., Any]
    more: tuple[object, ...] = ()


_PLACES = ("first", "second", "third", "fourth", "fifth")
_ARITHMETIC = {"diff": operator.sub, "add": operator.add, "greater": operator.gt}
_RELATIONS = {
    "eq": operator.eq,
    "not_eq": operator.ne,
    "less": operator.lt,
    "less_eq": operator.le,
    "greater": operator.gt,
    "greater_eq": operator.ge,
}

OPERATORS = {
    "count": Operator("r", len),
    "half": Operator("r", lambda rows: len(rows) // 2),
    "one_third": Operator("r", lambda rows: len(rows) // 3),
    "only": Operator("r", "only"),
    "several": Operator("r", lambda rows: len(rows) > 1),
    "top": Operator("r", lambda rows: (*rows[:1],)),  # never the same object as all rows
    "bottom": Operator("r", lambda rows: (*rows[-1:],)),
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
    "and": Operator("bb", operator.and_),
    "exist": Operator("*", lambda *_: True),
    **{f"filter_{name}": Operator("rcv", "filter_by", (r,)) for name, r in _RELATIONS.items()},
    **{f"all_{name}": Operator("rcv", "all_by", (r,)) for name, r in _RELATIONS.items()},
    "all_not_eq": Operator("rcv", "all_not_eq"),
}
"""All operators by name: the 44 of the published list, `min` and `several`.

The published code has nothing that computes `mean`; here it is `avg`.
"""
