"""Tables for the tests of programs, where they are at hand."""

from functools import cache

import pytest

from spor_tasks.core.table import parse_table
from spor_tasks.corpora.logicnlg import reader
from spor_tasks.corpora.logicnlg.columns import typed


@pytest.fixture(scope="session")
def typed_table(logicnlg_dir):
    """Return a published table by its id."""
    text_of = reader.table_texts(logicnlg_dir)
    return cache(lambda table: typed(parse_table(text_of(table))))
