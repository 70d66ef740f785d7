"""Golden files: what the published evaluation says of outputs, and whole reports."""

import pytest

from spor_tasks.core.files import read_rows
from tests.conftest import REPOSITORY


def read(folder, name, *, rows):
    """Return the rows of ``{name}.jsonl.gz``, of which there must be so many."""
    golden = [row for _, row in read_rows(folder / f"{name}.jsonl.gz")]
    assert len(golden) == rows
    return golden


def same(name, text):
    """Compare with a file of `tests/data/report`. To renew it, delete it and run the test twice."""
    file = REPOSITORY / "tests" / "data" / "report" / name
    if not file.exists():
        file.write_text(text, "utf-8")
        pytest.fail(f"wrote {file}: read it")
    assert text == file.read_text("utf-8")
