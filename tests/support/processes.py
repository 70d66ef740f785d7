"""What tests that kill ask of the system."""

import signal
import subprocess
import sys
import time
from multiprocessing import get_context


def alive(pid):
    """Say whether a process goes on; one that nobody has asked about since it ended does not."""
    told = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    return told.stdout.strip()[:1] not in {"", "Z"}


def forked(work, *args, **kwargs):
    """Start the work in a copy of this process, which need not import what takes seconds."""
    process = get_context("fork").Process(target=_do, args=(work, *args), kwargs=kwargs)
    process.start()
    return process


def _do(work, *args, **kwargs):
    # A process that a shell runs in the background ignores interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    status = work(*args, **kwargs)
    sys.exit(status if isinstance(status, int) else 0)


def wait_until(condition, process):
    """Wait until the process has brought about the condition."""
    deadline = time.monotonic() + 120
    while not condition() and time.monotonic() < deadline:
        assert process.is_alive()
        time.sleep(0.002)
