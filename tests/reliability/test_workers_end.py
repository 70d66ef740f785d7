"""Workers end with the process that had them started, however that ended, and leave no orphans."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.support.processes import alive

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

EXPERIMENT = """
name: asleep
output: {folder}
models: [{{name: m, overrides: ["model.path=nowhere"]}}]
sets: [{{aspect: systematicity, corpora: [mini], arms: [atom]}}]
"""

# What is imported takes seconds, so it is done once, for several parents at the same time.
PARENTS = """
import json, os, signal, sys
from pathlib import Path
import torch
from training.experiments import run
from training.__main__ import main

import napping
run._follow = napping.follow
# Of what a shell runs in the background, interrupts are ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
folder = Path(sys.argv[1])
pids = {}
for name in sys.argv[2:]:
    if not (pid := os.fork()):
        here = folder / name
        sys.exit(main(["run", str(here / "experiment.yaml"), "--workers", "2"]))
    pids[name] = pid
print(json.dumps(pids), flush=True)
names = {pid: name for name, pid in pids.items()}
for _ in pids:
    pid, status = os.wait()
    print(json.dumps([names[pid], os.waitstatus_to_exitcode(status)]), flush=True)
"""

# A worker notes itself and its parent, and naps until it is interrupted.
NAPPING = """
import os, time
from pathlib import Path
from training.experiments import run

_follow = run._follow

def follow(experiment, *arguments):
    run.work = lambda *_: nap(experiment.folder)
    _follow(experiment, *arguments)

def nap(folder):
    file = Path(folder) / f"{os.getpid()}.pid"
    file.write_text(str(os.getppid()))
    while True:
        try:
            time.sleep(300)
        except KeyboardInterrupt:
            file.with_suffix(".interrupted").write_text(file.read_text())
            if Path(folder).name != "killed":
                raise
            run._GRACE = 1.0  # whoever goes on none the less is killed
"""

# The status of a parent that got a signal.
STATUSES = {
    "terminated": (signal.SIGTERM, 143),
    "interrupted": (signal.SIGINT, 130),
    "killed": (signal.SIGKILL, -signal.SIGKILL),
}


class Ended:
    """What became of parents that got a signal, and of their workers."""

    def __init__(self, folder: Path, process: subprocess.Popen[str]) -> None:
        self._folder = folder
        parents: dict[str, int] = json.loads(process.stdout.readline())
        deadline = time.monotonic() + 120
        while any(len(self.noted(name)) < 2 for name in STATUSES):
            assert time.monotonic() < deadline, "the workers do not start"
            time.sleep(0.1)
        # the workers, and what stands between them and their parent
        self.processes = {
            name: {*self.noted(name), *self.noted(name).values()} for name in STATUSES
        }
        for name, (number, _) in STATUSES.items():
            os.kill(parents[name], number)
        self.statuses = dict(json.loads(line) for line in process.stdout)
        deadline = time.monotonic() + 20
        while self.orphans() and time.monotonic() < deadline:
            time.sleep(0.1)

    def noted(self, name: str, ending: str = "pid") -> dict[int, int]:
        """Return the workers that wrote a file, with what is in it: who started them."""
        files = (self._folder / name).glob(f"*.{ending}")
        return {int(file.stem): int(text) for file in files if (text := file.read_text())}

    def orphans(self) -> set[int]:
        return {*filter(alive, set().union(*self.processes.values()))}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ended]:
    folder = tmp_path_factory.mktemp("parents")
    (folder / "napping.py").write_text(NAPPING)
    for name in STATUSES:
        (folder / name).mkdir()
        (folder / name / "experiment.yaml").write_text(EXPERIMENT.format(folder=folder / name))
    path = f"{REPOSITORY}{os.pathsep}{folder}"
    process = subprocess.Popen(
        [sys.executable, "-c", PARENTS, str(folder), *STATUSES],
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield (done := Ended(folder, process))
        for orphan in done.orphans():
            os.kill(orphan, signal.SIGKILL)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("name", STATUSES)
def test_workers_end_in_order_with_their_parent(name: str, ended: Ended) -> None:
    workers = ended.noted(name)
    assert (len(workers), len(ended.processes[name])) == (2, 3)
    assert ended.orphans().isdisjoint(ended.processes[name])
    assert ended.noted(name, "interrupted").keys() == workers.keys()
    assert ended.statuses[name] == STATUSES[name][1]
