"""Workers end with the process that had them started, however that ended, and leave no orphans."""

import json
import os
import signal
import subprocess
import sys
import time

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
from spor_tasks.cli import main

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

def follow(todo, logs, gpu):
    if logs.parent.name == "killed":
        run._GRACE = 1.0  # whoever goes on none the less is killed
    _follow(lambda: nap(logs.parent), logs, gpu)

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
"""

# The status of a parent that got a signal.
STATUSES = {
    "terminated": (signal.SIGTERM, 143),
    "interrupted": (signal.SIGINT, 130),
    "killed": (signal.SIGKILL, -signal.SIGKILL),
}


def noted(folder, ending="pid"):
    """Return the workers that wrote a file, with what is in it: who started them."""
    files = folder.glob(f"*.{ending}")
    return {int(file.stem): int(text) for file in files if (text := file.read_text())}


def wait_while(condition, seconds):
    deadline = time.monotonic() + seconds
    while condition() and time.monotonic() < deadline:
        time.sleep(0.1)


def test_workers_end_in_order_with_their_parent(tmp_path):
    (tmp_path / "napping.py").write_text(NAPPING)
    folders = {name: tmp_path / name for name in STATUSES}
    for folder in folders.values():
        folder.mkdir()
        (folder / "experiment.yaml").write_text(EXPERIMENT.format(folder=folder))
    path = f"{REPOSITORY}{os.pathsep}{tmp_path}"
    process = subprocess.Popen(
        [sys.executable, "-c", PARENTS, str(tmp_path), *STATUSES],
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    started = set()
    try:
        parents = json.loads(process.stdout.readline())
        wait_while(lambda: any(len(noted(each)) < 2 for each in folders.values()), 120)
        for folder in folders.values():
            workers = noted(folder)
            ours = {*workers, *workers.values()}  # and what stands between them and their parent
            assert (len(workers), len(ours)) == (2, 3)
            started |= ours
        for name, (number, _) in STATUSES.items():
            os.kill(parents[name], number)
        statuses = dict(json.loads(line) for line in process.stdout)
        wait_while(lambda: any(map(alive, started)), 20)
        assert {*filter(alive, started)} == set()
    finally:
        for orphan in filter(alive, started):
            os.kill(orphan, signal.SIGKILL)
        process.kill()
        process.communicate()
    assert statuses == {name: status for name, (_, status) in STATUSES.items()}
    for folder in folders.values():
        assert noted(folder, "interrupted").keys() == noted(folder).keys()
