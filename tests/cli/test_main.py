"""The command `spor`: its exit status, and how it fails."""

from unittest.mock import patch

import pytest

from spor_tasks import __version__, cli
from spor_tasks.core.errors import ConfigError
from spor_tasks.harness import stubs
from tests.conftest import Captured, Spor


def test_the_parser_ends_with_its_status(spor: Spor) -> None:
    assert spor("--version") == f"spor {__version__}\n"
    for words, printed in (
        ("", "usage: spor"),
        ("tasks", "usage: spor tasks"),
        ("data fetch --corpus none", "usage: spor data fetch"),
        ("report --leaderboard --diff runs runs", "not allowed with"),
    ):
        assert printed in spor(words, ends=2)


@pytest.mark.parametrize(
    ("error", "status", "printed"),
    [
        (
            ConfigError("wrong", where="file", remedy="Right it."),
            2,
            "error: file: wrong\n  Right it.",
        ),
        (PermissionError(13, "denied", "file"), 2, "error: [Errno 13] denied: 'file'"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_errors_have_no_traceback(
    error: BaseException, status: int, printed: str, capsys: Captured
) -> None:
    with patch.object(stubs, "folder", side_effect=error):
        assert cli.main(["tasks", "register"]) == status
    assert capsys.readouterr() == ("", f"{printed}\n")
