"""Results that version 0.2.0 wrote: each later version reads them and prints the same report.

`tests/data/runs` has two adapters of the demo on 12 samples, seed 0, and copied inputs on 6 samples
of five tasks. Only the names of folders and the description of the machine were taken out. No
corpus is needed to read them.
"""

from pathlib import Path

from tests.conftest import REPOSITORY, Patch, Spor

DATA = REPOSITORY / "tests" / "data"


def test_the_reports_are_those_of_then(tmp_path: Path, spor: Spor, monkeypatch: Patch) -> None:
    monkeypatch.setenv("SPOR_DATA_DIR", str(tmp_path / "nowhere"))
    monkeypatch.chdir(DATA)
    for command, file in (
        ("report runs", "report.txt"),
        ("report runs --leaderboard", "leaderboard.txt"),
        ("report --diff runs/atom runs/combination", "diff.txt"),
    ):
        assert spor(command) == (DATA / "runs" / file).read_text("utf-8")
    spor(f"report runs --out {tmp_path}")
    assert (tmp_path / "page.html").stat().st_size > 100_000
