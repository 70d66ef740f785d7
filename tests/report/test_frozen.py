"""Results that version 0.2.0 wrote: each later version reads them and prints the same report.

`tests/data/runs` has two adapters of the demo on 12 samples, seed 0, and copied inputs on 6 samples
of five tasks. Only the names of folders and the description of the machine were taken out.
"""

from pathlib import Path

import pytest

from spor_tasks import cli
from tests.conftest import REPOSITORY

DATA = REPOSITORY / "tests" / "data"


@pytest.mark.parametrize(
    ("command", "file"),
    [
        (["report", "runs"], "report.txt"),
        (["report", "runs", "--leaderboard"], "leaderboard.txt"),
        (["report", "--diff", "runs/atom", "runs/combination"], "diff.txt"),
    ],
)
def test_results_of_version_0_2_0_give_the_report_of_then(
    command: list[str],
    file: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(DATA)
    assert cli.main(command) == 0
    assert capsys.readouterr().out == (DATA / "runs" / file).read_text("utf-8")


def test_no_corpus_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPOR_DATA_DIR", str(tmp_path / "nowhere"))
    assert cli.main(["report", str(DATA / "runs"), "--out", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "page.html").stat().st_size > 100_000
