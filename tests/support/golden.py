"""What the published evaluation says of a sample of outputs, read for tests."""

import json
from pathlib import Path
from typing import Any

from spor_tasks.core.files import read_rows


def read(folder: Path, name: str, *, rows: int) -> list[dict[str, Any]]:
    """Return the rows of ``{name}.jsonl.gz``, of which there must be so many."""
    golden = [row for _, row in read_rows(folder / f"{name}.jsonl.gz")]
    assert len(golden) == rows
    return golden


def read_json(path: Path) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value in a file."""
    return json.loads(path.read_bytes())
