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


def test_all_is_well(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", str(runs)]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("Systematicity: mini, strict sets\nmodel  metric")
    assert "wrong" not in printed.out
    assert printed.err == ""


def test_what_is_left_out_is_told_by_the_status_too(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (runs / "results_x.json").write_text("{")
    for command in (["report"], ["report", "--leaderboard"]):
        assert cli.main([*command, str(runs)]) == 1
        printed = capsys.readouterr()
        assert "2.00" in printed.out
        assert "Problems:" in printed.out
        assert "results_x.json: is not a readable result file" in printed.out


def test_scores_without_samples_are_well_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_result(tmp_path / "results_1.json")
    assert cli.main(["report", str(tmp_path)]) == 0
    assert "has no sample file: only its scores are reported" in capsys.readouterr().out


def test_nothing_to_report_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", str(tmp_path)]) == 2
    assert "has no results of SPOR tasks" in capsys.readouterr().err


def test_a_leaderboard_is_printed_and_written(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["report", "--leaderboard", str(runs), "--out", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out.startswith("Systematicity: mini, strict sets, PARENT (n = 3)")
    assert (tmp_path / "out" / "leaderboard.json").exists()


def test_a_leaderboard_and_a_difference_at_once_are_too_much(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        cli.main(["report", "--leaderboard", "--diff", str(runs), str(runs)])
    assert "not allowed with" in capsys.readouterr().err
