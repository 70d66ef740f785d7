"""What is shown of work that takes long, on a terminal and elsewhere."""

import io
import sys
import time

from spor_tasks.cli import progress
from tests.conftest import Patch


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: Patch, stream: io.StringIO, pause: float) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "_SECONDS", 0.05)
    monkeypatch.setattr(progress, "_LINES_SECONDS", 0.05)
    with progress.working("counting\x1b[2J") as report:
        for steps in (3, 6):
            time.sleep(pause)
            report(steps, 12, f"best {steps} \x1b[2J")
    return stream.getvalue()


def test_long_work_is_a_bar_on_a_terminal_and_lines_elsewhere(monkeypatch: Patch) -> None:
    bar = shown(monkeypatch, Terminal(), 0.2)
    for part in (r"counting\u001b[2J:  50%|", r", best 6 \u001b[2J]", " 6/12 ["):
        assert part in bar
    assert shown(monkeypatch, io.StringIO(), 0.1).splitlines() == [
        rf"counting\u001b[2J: {share}, best {steps} \u001b[2J"
        for share, steps in (("25%", 3), ("50%", 6))
    ]
    for stream in (Terminal(), io.StringIO()):  # short work is not shown
        assert "counting" not in shown(monkeypatch, stream, 0)
