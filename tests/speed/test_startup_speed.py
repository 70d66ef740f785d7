"""How long a user waits before anything happens. Target: 1.5 s to import and to list tasks."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.benchmark

TARGET = 1.5
COMMANDS = {
    "import spor_tasks": [sys.executable, "-c", "import spor_tasks"],
    "import spor_tasks.harness.task": [sys.executable, "-c", "import spor_tasks.harness.task"],
    "spor tasks list": [str(Path(sys.executable).parent / "spor"), "tasks", "list"],
    "index of our tasks": [
        sys.executable,
        "-c",
        "from spor_tasks.harness import task_files; task_files.manager().all_tasks",
    ],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_start(name: str) -> None:
    def seconds() -> float:
        started = time.perf_counter()
        subprocess.run(COMMANDS[name], check=True, capture_output=True)
        return time.perf_counter() - started

    best = min(seconds() for _ in range(3))
    print(f"\n{name}: {best:.2f} s, {best / TARGET:.2f} of the target of {TARGET} s")
