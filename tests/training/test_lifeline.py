"""Processes that follow the one that had them started."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from training import lifeline

TOLD = "import sys; print(__name__, sys.argv); sys.exit(3)"
ASLEEP = "import time; print('up', flush=True); time.sleep(60)"


def follower(folder: Path, code: str) -> list[str]:
    """Return the command that runs the code as a module that follows."""
    (folder / "followed.py").write_text(code)
    return [sys.executable, "-m", lifeline.__name__, "followed", "--one", "two"]


@pytest.fixture(autouse=True)
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{REPOSITORY}{os.pathsep}{tmp_path}")


def test_a_module_runs_as_if_nobody_were_followed(tmp_path: Path) -> None:
    with lifeline.line() as line:
        done = subprocess.run(
            follower(tmp_path, TOLD), stdin=line, capture_output=True, text=True, check=False
        )
    assert done.stdout == f"__main__ {[str(tmp_path / 'followed.py'), '--one', 'two']}\n"
    assert (done.returncode, done.stderr) == (3, "")


def test_the_end_of_the_line_interrupts(tmp_path: Path) -> None:
    with lifeline.line() as line, lifeline.standard_input(line):
        process = subprocess.Popen(
            follower(tmp_path, ASLEEP), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert process.stdout
        assert process.stdout.readline() == "up\n"
        time.sleep(0.2)
        assert process.poll() is None
    _, said = process.communicate(timeout=20)
    assert said.endswith("KeyboardInterrupt\n")


def test_the_line_was_cut_before_the_process_was_up(tmp_path: Path) -> None:
    with lifeline.line() as line:
        held = os.dup(line)
    process = subprocess.run(
        follower(tmp_path, ASLEEP), stdin=held, capture_output=True, text=True, check=False
    )
    os.close(held)
    assert process.stderr.endswith("KeyboardInterrupt\n")


def test_standard_input_is_as_before() -> None:
    before = os.fstat(0)
    with lifeline.line() as line:
        with lifeline.standard_input(line):
            assert os.path.sameopenfile(0, line)
        assert os.fstat(0) == before
    assert os.fstat(0) == before


def test_a_process_whose_standard_input_is_closed_can_be_followed_too(tmp_path: Path) -> None:
    (tmp_path / "parent.py").write_text(
        "import subprocess, sys\n"
        "from training import lifeline\n"
        "with lifeline.line() as line, lifeline.standard_input(line):\n"
        "    sys.exit(subprocess.run(sys.argv[1:]).returncode)\n"
    )
    command = [sys.executable, str(tmp_path / "parent.py"), *follower(tmp_path, TOLD)]
    script = 'exec "$@" <&-'
    assert subprocess.run(["sh", "-c", script, "sh", *command], check=False).returncode == 3  # noqa: S607
