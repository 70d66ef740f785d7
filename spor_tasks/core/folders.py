"""Folders: written whole or not at all, each with a manifest that says what it holds."""

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from spor_tasks.core.errors import ConfigError, ResultError
from spor_tasks.core.files import Row, read_json, write_json

MANIFEST = "spor.json"
"""The manifest's name in a folder that other programs write files to as well."""
_SCHEMA = 1


# How often, and after how many seconds, one looks again for a folder that is between two names.
_LOOKS, _PAUSE = 50, 0.02


@contextmanager
def atomic_folder(
    path: Path, *, kind: str, overwrite: bool, manifest: str = MANIFEST
) -> Iterator[Path]:
    """Give a new folder that takes the place of ``path`` when the block ends without an error.

    Until then ``path`` is as it was; after an error or an interrupt nothing is left of the new one.
    What is written there says its ``kind`` in its manifest, and replaces nothing of another kind.
    Where the system can exchange two names at once, as Linux can on its own disks, a folder that is
    replaced is at its name at every moment; elsewhere a process that is killed between two renames
    leaves it beside, and the next one who reads or writes it puts it back (:func:`recover`).

    Raises:
        ConfigError: another process is writing ``path``; or ``path`` holds something and
            ``overwrite`` is off, or something else than a finished folder of this kind, which is
            never replaced; or its parent cannot be written.
    """
    path = Path(os.path.realpath(path))  # which takes a link to itself as it is
    building = _beside(path, "partial")
    with _writing_alone(path):
        _settle(path)
        _refuse_to_lose(path, kind, manifest, overwrite=overwrite)
        shutil.rmtree(building, ignore_errors=True)  # of a process that was killed
        try:
            building.mkdir()
            yield building
            _refuse_to_lose(path, kind, manifest, overwrite=overwrite)  # again: it may take hours
            _replace(path, building)
        finally:
            shutil.rmtree(building, ignore_errors=True)


def recover(path: Path) -> None:
    """Put the folder ``path`` back where one who was to replace it was killed in between.

    Whoever reads a folder of :func:`atomic_folder` calls this if it is not there.
    """
    with suppress(OSError, ValueError):  # of a name that no folder can have
        path = Path(os.path.realpath(path))
        for _ in range(_LOOKS):
            if path.exists() or not _beside(path, "old").exists():
                return
            with suppress(ConfigError), _writing_alone(path):
                _settle(path)
                return
            time.sleep(_PAUSE)  # its writer is alive, and between the two renames


def _beside(path: Path, end: str) -> Path:
    return path.with_name(f".{path.name}.{end}")


@contextmanager
def _writing_alone(path: Path) -> Iterator[None]:
    """Keep other processes from writing ``path``; the system frees the lock of one that dies."""
    lock = _beside(path, "lock")
    held = FileLock(lock, blocking=False)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        held.acquire()
    except Timeout as error:
        raise ConfigError(
            "is being written by another process",
            where=path,
            remedy="Wait until it is finished, or choose another folder.",
        ) from error
    except OSError as error:
        raise ConfigError(f"cannot be written: {error}", where=path) from error
    try:
        yield
    finally:
        with suppress(OSError):  # Windows keeps a file that is open
            lock.unlink()
        held.release()


def _refuse_to_lose(path: Path, kind: str, manifest: str, *, overwrite: bool) -> None:
    if _is_free(path):
        return
    try:
        found = read_manifest(path, manifest).get("kind")
    except ResultError:
        found = None
    if found != kind:
        raise ConfigError(
            f"exists and is no finished {kind}, so it is never replaced",
            where=path,
            remedy="Choose another folder, or move this one away.",
        )
    if not overwrite:
        raise ConfigError(
            "exists already",
            where=path,
            remedy="Choose another folder, or have this one replaced by setting `overwrite`.",
        )


def _is_free(path: Path) -> bool:
    return not path.exists() or (path.is_dir() and not any(path.iterdir()))


def _replace(path: Path, new: Path) -> None:
    """Put the folder ``new`` where ``path`` is; what was there is deleted last."""
    if not path.exists():
        new.rename(path)
    elif not _exchange(path, new):
        try:
            path.rename(_beside(path, "old"))
            new.rename(path)
        finally:
            _settle(path)


def _settle(path: Path) -> None:
    """Finish or undo what two renames were to do; the caller alone writes ``path``."""
    old = _beside(path, "old")
    if not old.exists():
        return
    if _is_free(path):
        old.rename(path)
    else:
        shutil.rmtree(old, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Let two folders trade names in one step; False where the system or the disk cannot."""
    if sys.platform != "linux":
        return False
    import ctypes  # noqa: PLC0415 - few commands replace a folder

    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE of renameat2(2)
    names = os.fsencode(one), os.fsencode(other)
    try:
        return not ctypes.CDLL(None).renameat2(here, names[0], here, names[1], exchange)
    except AttributeError:  # a C library without it
        return False


def write_manifest(folder: Path, manifest: Row, name: str = MANIFEST) -> None:
    """Write the folder's manifest. It comes last: a folder without one is not finished."""
    write_json(folder / name, {"schema": _SCHEMA, **manifest})


def read_manifest(folder: Path, name: str = MANIFEST) -> dict[str, Any]:
    """Read the manifest of a folder that :func:`write_manifest` finished.

    Raises:
        ResultError: there is none, it is damaged, or a later version of this package wrote it.
    """
    recover(folder)
    path = folder / name
    if not os.path.lexists(path):
        raise ResultError(f"is not finished: it has no {name}", where=folder)
    manifest = read_json(path, ResultError)
    if manifest.get("schema") != _SCHEMA:
        raise ResultError(
            f"is no manifest of schema {_SCHEMA}",
            where=path,
            remedy="Another version of spor-tasks wrote it; install that one, or make it again.",
        )
    return manifest
