# ruff: noqa: D103 - an operator does what its name says
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
from spor_tasks.metrics.programs.parse import Literal, ProgramError, as_number

RowNumbers: TypeAlias = tuple[int, ...]
ProgramValue: TypeAlias = float | str
"""A number or a text; a text of the program itself is a :class:`Literal`."""

Relation: TypeAlias = Callable[[Any, Any], bool]
Most: TypeAlias = Callable[..., float]
"""`max` or `min`."""

_COMPARED = 4  # cells of a row, by which the published code finds it

# --- Columns and values; each raises a ProgramError where there is none ---------------------------


def column_of(table: TypedTable, name: str) -> TypedColumn:
    if name not in table.numbers:
        raise ProgramError("names a column that the table lacks", name)
    return table.columns[table.numbers[name]]


def cells_of(table: TypedTable, name: str, kind: ColumnType) -> Sequence[Any]:
    """Return the values of a column of this kind; a missing number is NaN, a text None."""
    column = column_of(table, name)
    if column.kind is not kind:
        raise ProgramError("is of another type", name)
    return column.values


def numbers_at(table: TypedTable, rows: RowNumbers, name: str) -> list[float]:
    numbers = cells_of(table, name, ColumnType.NUMBER)
    return [numbers[row] for row in rows]


def present_at(table: TypedTable, rows: RowNumbers, name: str) -> list[float]:
    return [value for value in numbers_at(table, rows, name) if value == value]  # noqa: PLR0124 - NaN


def number_of(value: ProgramValue) -> float:
    number = as_number(value) if isinstance(value, Literal) else value
    if number is None or isinstance(number, str):
        raise ProgramError("is not a number", value)
    return number


def first_of(rows: RowNumbers) -> int:
    if not rows:
        raise ProgramError("needs a row or a value")
    return rows[0]


# --- Counts and places ----------------------------------------------------------------------------


def only(table: TypedTable, rows: RowNumbers) -> bool:
    return len(rows) > 1 if rows is table.rows else len(rows) == 1


def place(table: TypedTable, rows: RowNumbers, single: RowNumbers) -> int:
    """Return at which place among the rows the first of the others stands."""
    if len(rows) == 1:
        rows, single = single, rows
    if len(table.columns) < _COMPARED:
        raise ProgramError("needs a table of four columns")
    columns = [column.values for column in table.columns[:_COMPARED]]
    cells = [values[first_of(single)] for values in columns]
    for number, row in enumerate(rows):
        # A missing cell is not even equal to itself.
        if all(
            values[row] == cell and cell is not None
            for values, cell in zip(columns, cells, strict=True)
        ):
            return number
    raise ProgramError("needs a row or a value")


def is_at(table: TypedTable, rows: RowNumbers, single: RowNumbers, number: int) -> bool:
    return place(table, rows, single) == (number if number >= 0 else len(rows) + number)


def comes(table: TypedTable, first: RowNumbers, second: RowNumbers, holds: Relation) -> bool:
    return holds(place(table, table.rows, first), place(table, table.rows, second))


# --- Of a column ----------------------------------------------------------------------------------


def uniq(table: TypedTable, rows: RowNumbers, name: str) -> int:
    column = column_of(table, name)
    present = {column.values[row] for row in rows}
    missing = [value for value in present if value is None or value != value]  # noqa: PLR0124
    return len(present) - max(0, len(missing) - 1)  # one NaN may differ from another


def total(table: TypedTable, rows: RowNumbers, name: str) -> float:
    present = present_at(table, rows, name)
    if present and isinstance(present[0], int):
        return sum(present)
    # A missing number counts as zero, which decides what numpy adds to what first.
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.nansum(np.array(numbers_at(table, rows, name), float)))


def avg(table: TypedTable, rows: RowNumbers, name: str) -> float:
    count = len(present_at(table, rows, name))
    return total(table, rows, name) / count if count else math.nan


def extreme(table: TypedTable, rows: RowNumbers, name: str, most: Most) -> float:
    return most(present_at(table, rows, name), default=math.nan)


def at_extreme(table: TypedTable, rows: RowNumbers, name: str, most: Most) -> RowNumbers:
    values = numbers_at(table, rows, name)
    first_of(rows)
    if any(value != value for value in values):  # noqa: PLR0124 - NaN
        return ()
    extreme = most(values)
    return tuple(row for row, value in zip(rows, values, strict=True) if value == extreme)


def hop(table: TypedTable, rows: RowNumbers, name: str) -> ProgramValue:
    column = column_of(table, name)
    value = column.values[first_of(rows)]
    if column.kind is ColumnType.OTHER or value is None:
        raise ProgramError("is of another type", name)
    number = as_number(value) if isinstance(value, str) else None
    return value if number is None else number


def most_freq(table: TypedTable, rows: RowNumbers, name: str) -> ProgramValue:
    texts = cells_of(table, name, ColumnType.TEXT)
    counts = Counter(texts[row] for row in rows if texts[row] is not None)
    for text, times in counts.most_common(1):
        if times > 1:
            return str(text)
    raise ProgramError("needs one value that is more frequent", name)


# --- Of values ------------------------------------------------------------------------------------


def none(_: TypedTable, value: ProgramValue) -> bool:
    if not isinstance(value, str):
        raise ProgramError("is of another type", value)
    named = any(word in value for word in ("none", "n / a", "no information"))
    return named or value in {"-", "no"}


def eq(_: TypedTable, first: ProgramValue, second: ProgramValue) -> bool:
    if isinstance(first, str) and isinstance(second, str):
        are_numbers = all(
            isinstance(value, Literal) and as_number(value) is not None for value in (first, second)
        )
        if not are_numbers:
            return first in second or second in first
    return number_of(first) == number_of(second)


def combined(
    _: TypedTable,
    first: ProgramValue,
    second: ProgramValue,
    combine: Callable[[float, float], object],
) -> object:
    return combine(number_of(first), number_of(second))


# --- Of a column and a value ----------------------------------------------------------------------


def equal(table: TypedTable, rows: RowNumbers, name: str, value: ProgramValue) -> Matches:
    """Return which of the rows have a value."""
    column = column_of(table, name)
    if column.kind is ColumnType.NUMBER:
        number = number_of(value)
        return Matches([column.values[row] == number for row in rows], negatable=True)
    texts = cells_of(table, name, ColumnType.TEXT)
    if not isinstance(value, str):
        raise ProgramError("is of another type", name)
    return matches(value, texts if rows is table.rows else [texts[row] for row in rows])


def compared(
    table: TypedTable, rows: RowNumbers, name: str, value: ProgramValue, holds: Relation
) -> list[bool]:
    """Return for which of the rows the relation of its cell to the value holds."""
    if holds in (operator.eq, operator.ne):
        cells, negatable = equal(table, rows, name, value)
        return [not cell for cell in cells] if holds is operator.ne and negatable else cells
    numbers, number = cells_of(table, name, ColumnType.NUMBER), number_of(value)
    return [holds(numbers[row], number) for row in rows]


def filter_by(
    table: TypedTable, rows: RowNumbers, name: str, value: ProgramValue, holds: Relation
) -> RowNumbers:
    return tuple(compress(rows, compared(table, rows, name, value, holds)))


def all_by(
    table: TypedTable, rows: RowNumbers, name: str, value: ProgramValue, holds: Relation
) -> bool:
    return all(compared(table, rows, name, value, holds))


class Operator(NamedTuple):
    """An operator of programs.

    Its ``function`` takes a table, the arguments of the program, then ``more``. It raises a
    :class:`ProgramError` where it has no answer. ``takes`` has a letter for each argument: r are
    rows, c is the name of a column, v a value, b a truth value, and * any number of values.
    """

    takes: str
    function: Callable[..., Any]
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
    "count": Operator("r", lambda _, rows: len(rows)),
    "half": Operator("r", lambda _, rows: len(rows) // 2),
    "one_third": Operator("r", lambda _, rows: len(rows) // 3),
    "only": Operator("r", only),
    "several": Operator("r", lambda _, rows: len(rows) > 1),
    "top": Operator("r", lambda _, rows: (*rows[:1],)),  # never the same object as all rows
    "bottom": Operator("r", lambda _, rows: (*rows[-1:],)),
    **{name: Operator("rr", is_at, (number,)) for number, name in enumerate(_PLACES)},
    "last": Operator("rr", is_at, (-1,)),
    "after": Operator("rr", comes, (operator.gt,)),
    "before": Operator("rr", comes, (operator.lt,)),
    **{function.__name__: Operator("rc", function) for function in (uniq, avg, hop, most_freq)},
    **{most.__name__: Operator("rc", extreme, (most,)) for most in (max, min)},
    **{f"arg{most.__name__}": Operator("rc", at_extreme, (most,)) for most in (max, min)},
    "sum": Operator("rc", total),
    "mean": Operator("rc", avg),
    "none": Operator("v", none),
    "zero": Operator("v", lambda _, value: number_of(value) == 0),
    **{name: Operator("vv", combined, (combine,)) for name, combine in _ARITHMETIC.items()},
    "eq": Operator("vv", eq),
    "not_eq": Operator("vv", lambda *values: not eq(*values)),
    "and": Operator("bb", lambda _, first, second: first and second),
    "exist": Operator("*", lambda *_: True),
    **{f"filter_{name}": Operator("rcv", filter_by, (r,)) for name, r in _RELATIONS.items()},
    **{f"all_{name}": Operator("rcv", all_by, (r,)) for name, r in _RELATIONS.items()},
    "all_not_eq": Operator("rcv", lambda *operands: not any(equal(*operands).cells)),
}
"""All operators by name: the 44 of the published list, `min` and `several`.

The published code has nothing that computes `mean`; here it is `avg`.
"""
