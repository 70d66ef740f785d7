"""Processes that end with the one that had them started, however that one ended.

Their standard input is a pipe that nothing is ever written to. Its other end is held by that
process alone, so when that is gone, even killed, the system closes it, and all who read learn of it
at once. What stands in between, submitit's controller or accelerate's launcher, passes standard
input on.
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

_GRACE = 10.0
"""Seconds that a process has to leave things in order."""


@contextmanager
def line() -> Iterator[int]:
    """Give the descriptor that processes which follow this one need as standard input.

    They end when the block does, or this process.
    """
    reading, writing = os.pipe()
    try:
        yield reading
    finally:
        os.close(writing)
        os.close(reading)


@contextmanager
def standard_input(descriptor: int) -> Iterator[None]:
    """Let this be the standard input of what is started within the block."""
    own = os.dup(0)
    os.dup2(descriptor, 0)
    try:
        yield
    finally:
        os.dup2(own, 0)
        os.close(own)


def following(work: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return what does the work in a process that ends with the one that holds its line."""
    return partial(_do, work)


def _do(work: Callable[..., _T], *args: object, **kwargs: object) -> _T:
    # Of what a shell runs in the background, interrupts are ignored.
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
