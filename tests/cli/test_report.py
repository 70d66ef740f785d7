"""`spor report`: what it prints, and its exit status."""

from pathlib import Path

import pytest

from spor_tasks import cli
from tests.support.result_files import write_result, write_run


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for number, arm in enumerate(["atom", "combination", None]):
        write_run(tmp_path / "runs", str(number), [1.0 + number, 2.0, 3.0], arm=arm)
    return tmp_path / "runs"


def test_a_report_or_a_leaderboard_is_printed(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["report", str(runs)]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("Systematicity: mini, strict sets (smallest difference found")
    assert "Problems:" not in printed.out
    assert printed.err == ""
    assert cli.main(["report", "--leaderboard", str(runs), "--out", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out.startswith("Systematicity: mini, strict sets, PARENT (n = 3)")
    assert (tmp_path / "out" / "leaderboard.json").exists()


@pytest.mark.parametrize("options", [[], ["--leaderboard"]])
def test_the_status_says_that_a_file_is_left_out(
    runs: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (runs / "results_x.json").write_text("{")
    assert cli.main(["report", *options, str(runs)]) == 1
    printed = capsys.readouterr().out
    assert "2.00" in printed
    assert "results_x.json: is not a readable result file" in printed.partition("Problems:")[2]


def test_scores_need_no_samples_and_a_report_needs_scores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["report", str(tmp_path)]) == 2
    assert "has no results of SPOR tasks" in capsys.readouterr().err
    write_result(tmp_path / "results_1.json")
    assert cli.main(["report", str(tmp_path)]) == 0
    assert "has no sample file: only its scores are reported" in capsys.readouterr().out
