"""The command `spor`: its exit status, and how it fails."""

import pytest

from spor_tasks import __version__, cli
from spor_tasks.core.errors import ConfigError
from spor_tasks.harness import stubs


@pytest.mark.parametrize(
    ("arguments", "status", "printed"),
    [
        (["--version"], 0, f"spor {__version__}\n"),
        ([], 2, "usage: spor"),
        (["tasks"], 2, "usage: spor tasks"),
        (["data", "fetch", "--corpus", "none"], 2, "usage: spor data fetch"),
        (["report", "--leaderboard", "--diff", "runs", "runs"], 2, "not allowed with"),
    ],
)
def test_the_parser_ends_with_its_status(
    arguments: list[str], status: int, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == status
    assert printed in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("error", "status", "printed"),
    [
        (ConfigError("wrong", where="file", remedy="Right it."), 2, "file: wrong\n  Right it."),
        (PermissionError(13, "denied", "file"), 2, "error: [Errno 13] denied: 'file'"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_an_error_is_printed_without_a_traceback(
    error: BaseException,
    status: int,
    printed: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr(stubs, "folder", fail)
    assert cli.main(["tasks", "register"]) == status
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.removeprefix("error: ") == f"{printed.removeprefix('error: ')}\n"
