"""Headers and texts of a table in the context of a sample, whatever the kind of the table.

A table has one row of column names (``{"header": [name, …], "rows": …}``,
:mod:`spor_tasks.core.table`), or cells of which some are headers (``{"cells": …}``,
:mod:`spor_tasks.corpora.totto.table`).
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Sample
from spor_tasks.corpora.totto.table import has_cells


def header_values(sample: Sample) -> frozenset[str]:
    """Return the set of header values of a sample's table, as they are written.

    These are the names of its columns, or the values of its header cells; some tables have none.

    Raises:
        CorpusError: the sample has no table, or one that is malformed.
    """
    table: Any = sample.context.get("table")
    with suppress(TypeError, KeyError, IndexError):
        if "header" in table:
            return frozenset(map(str, table["header"]))
        cells = (cell for row in table["cells"] for cell in row)
        return frozenset(str(cell[0]) for cell in cells if not isinstance(cell, str) and cell[1])
    raise CorpusError(
        "has no table with a header",
        where=f"sample {sample.id}",
        remedy='Its context needs `"table": {"header": [name, …], "rows": [[text, …], …]}`, or '
        "`cells` as in ToTTo.",
    )


def header_of(sample: Sample) -> frozenset[str]:
    """Return the set of header values in lower case, to compare tables of different pages.

    Raises:
        CorpusError: as :func:`header_values`.
    """
    return frozenset(value.lower() for value in header_values(sample))


def has_table(sample: Sample) -> bool:
    """Return whether a sample is about highlighted cells or linked columns of a table."""
    return has_cells(sample) or has_columns(sample)


def has_columns(sample: Sample) -> bool:
    """Return whether the units of a sample name columns of a table by number."""
    table = sample.context.get("table")
    is_table = isinstance(table, Mapping) and "header" in table
    return is_table and all(unit[-1].isdecimal() for unit in sample.units)
