"""Tables for the tests of programs, where they are at hand."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from spor_tasks.core.table import parse_table
from spor_tasks.corpora.logicnlg import reader
from spor_tasks.corpora.logicnlg.columns import TypedTable, typed

Typed = Callable[[str], TypedTable]


@pytest.fixture(scope="session")
def typed_table(logicnlg_dir: Path) -> Typed:
    """Return a published table by its id."""
    text_of = reader.table_texts(logicnlg_dir)
    return cache(lambda table: typed(parse_table(text_of(table))))
