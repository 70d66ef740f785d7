"""The lock of a cell, by which workers know of each other."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from spor_tasks.core.errors import ConfigError

_LOCK = ".lock"


@contextmanager
def claimed(folder: Path, patience: float) -> Iterator[bool]:
    """Lock a cell's folder, and yield whether that worked within ``patience`` seconds.

    The system frees the lock if this process dies.

    Raises:
        ConfigError: the folder cannot be written.
    """
    lock = FileLock(folder / _LOCK, timeout=patience)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        yield False
        return
    except OSError as error:
        raise ConfigError(f"cannot be written: {error}", where=folder) from error
    try:
        yield True
    finally:
        lock.release()


def is_held(folder: Path) -> bool:
    """Return whether another process has locked a cell."""
    if not (folder / _LOCK).exists():  # else a look would write it
        return False
    with claimed(folder, 0) as is_mine:
        return not is_mine
