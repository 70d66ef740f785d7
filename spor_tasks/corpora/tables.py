"""The table of a sample, and its headers."""

from collections.abc import Mapping
from typing import TypeVar

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Sample
from spor_tasks.core.table import CellTable, Table

T = TypeVar("T", Table, CellTable)
_FORMS: Mapping[type, str] = {
    Table: '{"header": [name, …], "rows": [[text, …], …]}',
    CellTable: '{"cells": [[text, …], …], "highlighted": [[row, index], …]}',
}


def table_of(sample: Sample, kind: type[T]) -> T:
    """Return the table of a sample, which must be of a kind.

    Raises:
        CorpusError: the sample has no such table.
    """
    if not isinstance(table := sample.table, kind):
        raise CorpusError(
            "has no table of the kind that is needed",
            where=f"sample {sample.id}",
            remedy=f'Its context needs `"table": {_FORMS[kind]}`.',
        )
    return table


def header_values(sample: Sample) -> frozenset[str]:
    """Return the set of header values of a sample's table, as they are written.

    These are the names of its columns, or the values of its header cells; some tables have none.

    Raises:
        CorpusError: the sample has no table.
    """
    if isinstance(sample.table, CellTable):
        return frozenset(cell.value for cell in sample.table.cells if cell.is_header)
    return frozenset(table_of(sample, Table).header)


def header_of(sample: Sample) -> frozenset[str]:
    """Return the set of header values in lower case, to compare tables of different pages.

    Raises:
        CorpusError: as :func:`header_values`.
    """
    return frozenset(value.lower() for value in header_values(sample))
