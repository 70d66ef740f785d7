"""What is shown of work that takes long, on a terminal and elsewhere."""

import io
import sys
import time

import pytest

from spor_tasks.cli import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, *, pause: float, what: str = "counting"
) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "_SECONDS", 0.05)
    with progress.working(what):
        time.sleep(pause)
    return stream.getvalue()


def test_long_work_is_shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "counting: 00:00" in shown(monkeypatch, Terminal(), pause=0.5)


def test_the_name_of_a_file_acts_on_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    bar = shown(monkeypatch, Terminal(), pause=0.5, what="checking a\n\x1b[2J")
    assert r"checking a\u000a\u001b[2J: 00:00" in bar


def test_work_that_reports_its_steps_is_shown_as_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "_SECONDS", 0.05)
    with progress.working("counting") as report:
        report(3, 12, "best so far 7")
        time.sleep(0.5)
    assert "counting:  25%|" in stream.getvalue()
    assert ", best so far 7]" in stream.getvalue()
    assert " 3/12 [" in stream.getvalue()


def test_short_work_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "counting" not in shown(monkeypatch, Terminal(), pause=0)


def test_nothing_is_shown_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, io.StringIO(), pause=0.2) == ""


def test_where_there_is_no_terminal_long_work_has_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "_SECONDS", 0.05)
    monkeypatch.setattr(progress, "_LINES_SECONDS", 0.2)
    with progress.working("counting") as report:
        report(3, 12, "best so far \x1b[2J 7")
        time.sleep(0.5)
    lines = stream.getvalue().splitlines()
    assert 1 <= len(lines) <= 2
    assert set(lines) == {r"counting: 00:00, 25%, best so far \u001b[2J 7"}


def test_an_error_ends_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(KeyError), progress.working("counting"):
        raise KeyError
