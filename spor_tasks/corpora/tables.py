"""Headers and texts of a table in the context of a sample, whatever the kind of the table.

A table has one row of column names (``{"header": [name, …], "rows": …}``,
:mod:`spor_tasks.core.table`), or cells of which some are headers (``{"cells": …}``,
:mod:`spor_tasks.corpora.totto.table`).
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import msgspec

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import AttributeValue, DataUnit, Json, Sample
from spor_tasks.corpora.logicnlg.linearize import linked_columns
from spor_tasks.corpora.logicnlg.linearize import table_of as table_of_columns
from spor_tasks.corpora.logicnlg.surface import cells_of_columns
from spor_tasks.corpora.totto.linearize import units_of
from spor_tasks.corpora.totto.table import as_json, has_cells, table_of


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


_TITLES = ("title", "section_title", "section_text")
_ABOUT_NO_TEXT = ("name", "source", "overlap", "prompt")


class Pointed(NamedTuple):
    """The strings that a sample points at, and whether they are what its text must say.

    They are highlighted cells, or else all cells of linked columns, of which a text has some.
    """

    strings: tuple[str, ...]
    are_told: bool


def has_table(sample: Sample) -> bool:
    """Return whether a sample is about highlighted cells or linked columns of a table."""
    return has_cells(sample) or has_columns(sample)


def has_columns(sample: Sample) -> bool:
    """Return whether the units of a sample name columns of a table by number."""
    given = sample.context.get("table")
    is_table = isinstance(given, Mapping) and "header" in given
    return is_table and all(unit[-1].isdecimal() for unit in sample.units)


def pointed(sample: Sample) -> Pointed:
    """Return the cells that a sample points at.

    Raises:
        CorpusError: the sample has no table, or one that is malformed.
    """
    if has_cells(sample):
        values = tuple(cell.value for cell in table_of(sample).highlighted_cells)
        return Pointed(values, are_told=True)
    found = (cell for _, *cells in cells_of_columns(sample) for cell in cells)
    return Pointed(tuple(dict.fromkeys(found)), are_told=False)


def shown_texts(sample: Sample) -> Iterator[str]:
    """Yield all texts that a prompt may show of a table: titles, headers and cells.

    Raises:
        CorpusError: as :func:`pointed`.
    """
    yield from (text for key in _TITLES if (text := sample.about(key)))
    if has_cells(sample):
        yield from (cell.value for cell in table_of(sample).cells)
        return
    table = table_of_columns(sample)
    yield from (text for row in (table.header, *table.rows) for text in row)


def written(
    sample: Sample, write: Callable[[str], str]
) -> tuple[tuple[DataUnit, ...], dict[str, Json]]:
    """Return the units and the context of a sample with each text of its table written anew.

    What is known of the sentence alone, such as its template, is not in the context.

    Raises:
        CorpusError: as :func:`pointed`.
    """
    context = {key: sample.context[key] for key in _ABOUT_NO_TEXT if key in sample.context}
    context |= {key: write(text) for key in _TITLES if (text := sample.about(key))}
    if has_cells(sample):
        table = table_of(sample)
        cells = (
            tuple(msgspec.structs.replace(cell, value=write(cell.value)) for cell in row)
            for row in table.rows
        )
        table = replace(table, rows=tuple(cells))
        return units_of(table), {**context, "table": as_json(table)}
    shown = table_of_columns(sample)
    header, *rows = ([write(text) for text in row] for row in (shown.header, *shown.rows))
    units = (AttributeValue(header[i], str(i)) for i in linked_columns(sample))
    return tuple(units), {**context, "table": {"header": header, "rows": rows}}
