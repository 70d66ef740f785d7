"""Stubs in lm-eval's folder of tasks: all of them or none, whoever comes in between."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest

from spor_tasks.harness import stubs, task_files
from spor_tasks.harness.stubs import Changes
from tests.conftest import REPOSITORY

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="its folders cannot be locked")

ROUNDS = 100 if os.environ.get("SPOR_SOAK") else 4
NUMBER = len(task_files.files())


@pytest.fixture(autouse=True)
def quick_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read the task files once: it is the writing that may go wrong."""
    monkeypatch.setattr(task_files, "files", cache(task_files.files))
    task_files.files()


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "lm_eval" / "tasks" / "stubs"
    folder.parent.mkdir(parents=True)
    yield folder
    assert {path.name for path in folder.parent.iterdir()} <= {"stubs"}


def number_of_stubs(folder: Path) -> int:
    """Return how many files there are, all of which are stubs as they should be."""
    if not folder.exists():
        return 0
    expected = {file.path.name: stubs._stub(file.path) for file in task_files.files()}
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert found.items() <= expected.items()
    return len(found)


def test_who_registers_and_who_removes_at_once_wait_for_each_other(folder: Path) -> None:
    ends = set()
    for number in range(ROUNDS):
        actions = [stubs.register, stubs.unregister, stubs.register, stubs.unregister]
        with ThreadPoolExecutor(4) as pool:
            done = [pool.submit(action, folder) for action in actions[number % 2 :]]
        for each in done:
            each.result()
        ends.add(number_of_stubs(folder))
    assert ends <= {0, NUMBER}


DYING = """
import os, signal, sys
from contextlib import contextmanager
from pathlib import Path
from spor_tasks.harness import stubs

folder, left = Path(sys.argv[1]), int(sys.argv[2])
write = stubs.atomic_write

@contextmanager
def dying(path):
    global left
    with write(path) as file:
        yield file
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

stubs.atomic_write = dying
stubs.register(folder)
"""


@pytest.mark.parametrize("written", [0, NUMBER // 2])
@pytest.mark.parametrize(("repair", "left"), [(stubs.register, NUMBER), (stubs.unregister, 0)])
def test_a_register_that_is_killed_is_completed_or_undone(
    written: int, repair: Callable[[Path], Changes], left: int, folder: Path
) -> None:
    command = [sys.executable, "-c", DYING, str(folder), str(written)]
    assert subprocess.run(command, cwd=REPOSITORY, check=False).returncode == -signal.SIGKILL
    assert len(list(folder.glob("*.yaml"))) == written
    repair(folder)
    assert number_of_stubs(folder) == left
