# ruff: noqa: PD011 - the columns are not those of pandas
"""The types of columns: those that pandas gives them."""

import io
import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.table import Table
from spor_tasks.corpora.logicnlg.columns import ColumnType, typed

NUMBERS = "1|2|-3|+4|007|1.5|.5|5.|-0|1e5| 7|7 | 1.5 "
LONG = "-9223372036854775808|0.1234567890123456789|123456789012345678901.5|1e308|1e-320"
HUGE = "inf|-Infinity|+inf|1e309|1E400"
MISSING = "|n/a|nan|None|null|NA"
OTHERS = "1e|1e+|e5|.|none|true|false|True|0x1|1,000|1_0|a|١| "
CELLS = f"{NUMBERS}|{LONG}|{HUGE}|{MISSING}|{OTHERS}".split("|")


def in_pandas(text):
    return pd.read_csv(io.StringIO(text), sep="#")


def as_text(table):
    return "".join("#".join(row) + "\n" for row in (table.header, *table.rows))


def check(table, frame):
    ours = typed(table)
    assert [column.name for column in ours.columns] == list(frame.columns)
    assert ours.size == len(frame)
    for column, (_, series) in zip(ours.columns, frame.items(), strict=True):
        theirs = series.tolist()
        assert (column.kind is ColumnType.NUMBER) == (str(series.dtype) in {"int64", "float64"})
        if column.kind is ColumnType.NUMBER:
            assert type(column.values[0]) is type(theirs[0])
            # 0.0 is equal to -0.0, and NaN is equal to NaN here
            assert all(
                a == b or (math.isnan(a) and math.isnan(b))
                for a, b in zip(column.values, theirs, strict=True)
                if isinstance(a, int | float)
            )
        elif column.kind is ColumnType.TEXT:
            assert list(column.values) == [None if pd.isna(cell) else cell for cell in theirs]


@given(st.lists(st.sampled_from(CELLS) | st.floats().map(repr), min_size=1, max_size=4))
def test_a_column_is_typed_as_pandas_does(cells):
    table = Table(("a", "b"), tuple((cell, "z") for cell in cells))
    check(table, in_pandas(as_text(table)))


@given(st.lists(st.sampled_from(["a", "a.1", "a.2", "a.1.1", "Unnamed: 1", ""]), min_size=2))
def test_names_differ_as_those_of_pandas(header):
    table = Table(tuple(header), (tuple("1" for _ in header),))
    check(table, in_pandas(as_text(table)))


@pytest.mark.parametrize("cells", [["9" * 19, "1"], ["9" * 5000], ["-" + "9" * 19], ["0" * 200]])
def test_whole_numbers_beyond_64_bits_are_neither_numbers_nor_texts(cells):
    [column] = typed(Table(("n",), tuple((cell,) for cell in cells))).columns
    assert column.kind is ColumnType.OTHER


def test_odd_tables_are_typed():
    short = typed(Table(("a", "b"), (("1", "x"), ("2",))))
    assert (short.columns[1].values, short.ragged) == (("x", None), False)
    assert typed(Table(("a",), (("1",), ("2", "3")))).ragged
    [_, empty] = typed(Table(("a", "b"), (("x", ""), ("y", "")))).columns
    assert empty.kind is ColumnType.NUMBER
    assert all(math.isnan(float(str(value))) for value in empty.values)
    assert typed(Table((), ())).columns == ()
    assert [column.kind for column in typed(Table(("a",), ())).columns] == [ColumnType.TEXT]
