"""Sets in folders, sound and unsound ones."""

from pathlib import Path

import pytest

from spor_tasks import cli
from spor_tasks.aspects import folder
from spor_tasks.core.sample import Split, SplitPair
from tests.support.strategies import pool


@pytest.fixture
def built(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = tmp_path / "sets"
    assert (
        cli.main(["data", "build", "--corpus=mini", "--aspect=systematicity", f"--out={path}"]) == 0
    )
    capsys.readouterr()
    return path


@pytest.fixture
def leaking(tmp_path: Path) -> Path:
    """Sets in which Atom holds the one test sample."""
    path = tmp_path / "leaking"
    test, combination = Split("test", pool(["ab"])), Split("combination", pool(["ab"]))
    pair = SplitPair(
        "systematicity", "letters", "strict", (Split("atom", pool(["c", "ab"])), combination), test
    )
    with folder.new(path) as staging:
        folder.write_sets(staging, pair, {"settings": {"limit": 0.02}})
    return path
