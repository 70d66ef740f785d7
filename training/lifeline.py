"""Processes that end when the process that started them ends, however it ends.

Their standard input is a pipe into which nothing is written. Only the starting process holds its
other end, so when it ends or is killed, the system closes the pipe, and all readers notice at once.
The processes between them, submitit's controller or accelerate's launcher, pass standard input on.
"""

import os
import runpy
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")

_GRACE = 10.0  # seconds that a process has to clean up


@contextmanager
def line() -> Iterator[int]:
    """Yield a descriptor; processes that follow and have it as standard input end with the block.

    They also end when this process ends.
    """
    reading, writing = os.pipe()
    try:
        yield reading
    finally:
        os.close(writing)
        os.close(reading)


@contextmanager
def standard_input(descriptor: int) -> Iterator[None]:
    """Make this the standard input of all processes that are started within the block."""
    own = os.dup(0)
    os.dup2(descriptor, 0)
    try:
        yield
    finally:
        os.dup2(own, 0)
        os.close(own)


def following(work: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return a function that does the work in a process that ends when its line does."""
    return partial(_do, work)


def _do(work: Callable[..., _T], *args: object, **kwargs: object) -> _T:
    # A process that a shell runs in the background ignores interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=_follow, daemon=True).start()
    return work(*args, **kwargs)


def _follow() -> None:
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGINT)  # the main thread is interrupted as from the keyboard
    time.sleep(_GRACE)
    os._exit(1)


if __name__ == "__main__":  # python -m training.lifeline MODULE ARGUMENT...
    del sys.argv[0]
    following(runpy.run_module)(sys.argv[0], run_name="__main__", alter_sys=True)
