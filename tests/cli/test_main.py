"""The command `spor`: its exit status, and how it fails."""

from pathlib import Path

import pytest

from spor_tasks import __version__, cli
from spor_tasks.harness import stubs


@pytest.fixture
def stub_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "stubs"
    monkeypatch.setattr(stubs, "folder", lambda: folder)
    return folder


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"spor {__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["tasks"], ["data", "fetch", "--corpus", "none"]])
def test_a_command_that_is_incomplete_or_wrong_ends_with_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    assert "usage: spor" in capsys.readouterr().err


def test_an_error_is_told_without_a_traceback(
    stub_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stub_folder.write_text("")
    assert cli.main(["tasks", "register"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"error: {stub_folder}: lm-eval's task folder cannot be written")
    assert "spor eval" in printed.err


def test_an_interrupt_is_told_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(stubs, "folder", interrupt)
    assert cli.main(["tasks", "register"]) == 130
    assert capsys.readouterr().err == "interrupted\n"
