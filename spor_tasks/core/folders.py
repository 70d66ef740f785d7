"""Folders that are written completely or not at all, each with a manifest of its content."""

import ctypes
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from spor_tasks.core.errors import ConfigError, ResultError
from spor_tasks.core.files import (
    LONGEST_NAME,
    FileContent,
    JsonObject,
    read_json,
    shortened,
    write_json,
)

MANIFEST = "spor.json"
"""The manifest's name in a folder that other programs write to as well."""
_SCHEMA = 1


def user_cache() -> Path:
    """Return this package's folder in the user's cache."""
    import platformdirs  # not needed to read a corpus in another folder

    return platformdirs.user_cache_path("spor", appauthor=False)


@contextmanager
def atomic_folder(
    path: Path, *, kind: str, overwrite: bool, manifest: str = MANIFEST
) -> Iterator[Path]:
    """Yield a new folder that replaces ``path`` when the block ends without an error.

    Until then ``path`` does not change, and after an error or an interrupt nothing is left of the
    new folder. The manifest of a folder names its ``kind``, and only a folder of the same kind
    replaces it. Linux exchanges the two in one step on most file systems. Elsewhere, a process that
    is killed between two renames leaves the old folder under another name, and :func:`recover`
    renames it back.

    Raises:
        ConfigError: another process is writing ``path``; ``path`` is not empty, and ``overwrite``
            is off or it is not a finished folder of this kind; or its parent cannot be written.
    """
    path = Path(os.path.realpath(path))  # accepts a link to itself, unlike Path.resolve
    building = _sibling(path, "partial")
    with writing_alone(path, _sibling(path, "lock")):
        _settle(path)
        refuse_to_lose(path, kind, overwrite=overwrite, manifest=manifest)
        shutil.rmtree(building, ignore_errors=True)  # left by a process that was killed
        try:
            building.mkdir()
            yield building
            if not (path.exists() and _exchanged(building, path)):
                if path.exists():
                    path.rename(_sibling(path, "old"))
                building.rename(path)
        finally:
            _settle(path)
            shutil.rmtree(building, ignore_errors=True)


def recover(path: Path) -> None:
    """Restore the folder ``path`` if a process was killed while replacing it.

    Call this before reading a folder that :func:`atomic_folder` wrote.
    """
    with suppress(OSError, ValueError, ConfigError):  # no such name, or its writer is alive
        path = Path(os.path.realpath(path))
        if not path.exists() and _sibling(path, "old").exists():
            with writing_alone(path, _sibling(path, "lock")):
                _settle(path)


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two folders in one step; return false if nothing happened, as it cannot be done."""
    try:
        exchange = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError, TypeError):  # another system
        return False
    here = -100  # AT_FDCWD
    failed = exchange(here, os.fsencode(one), here, os.fsencode(other), 2)  # RENAME_EXCHANGE
    return not failed


def _sibling(path: Path, end: str) -> Path:
    return path.with_name(f".{shortened(path.name, LONGEST_NAME - len(end) - 2)}.{end}")


@contextmanager
def writing_alone(path: Path, lock: Path) -> Iterator[None]:
    """Keep other processes from writing ``path``; the system frees the lock if this one dies.

    Raises:
        ConfigError: another process has the lock, or it cannot be written.
    """
    from filelock import FileLock, Timeout  # slow to import

    held = FileLock(lock, blocking=False)
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
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
        try:
            with suppress(OSError):  # Windows does not delete an open file
                lock.unlink()
        finally:
            held.release()


def refuse_to_lose(path: Path, kind: str, *, overwrite: bool, manifest: str = MANIFEST) -> None:
    """Check that ``path`` is empty, or with ``overwrite`` a finished folder of the same kind.

    Raises:
        ConfigError: it is not.
    """
    if _is_free(path):
        return
    try:
        actual_kind = read_manifest(path, manifest).get("kind")
    except ResultError:
        actual_kind = None
    if actual_kind != kind:
        raise ConfigError(
            f"already exists and is not a finished folder of {kind}; refusing to overwrite it",
            where=path,
            remedy="Choose another folder, or move this one away.",
        )
    if not overwrite:
        raise ConfigError(
            "already exists",
            where=path,
            remedy="Choose another folder, or replace this one with --overwrite; the settings of a "
            "training have overwrite=true.",
        )


def _is_free(path: Path) -> bool:
    return not path.exists() or (path.is_dir() and not any(path.iterdir()))


def _settle(path: Path) -> None:
    """Finish or undo an interrupted pair of renames; no other process may be writing ``path``."""
    old = _sibling(path, "old")
    if not old.exists():
        return
    if _is_free(path):
        old.rename(path)
    else:
        shutil.rmtree(old, ignore_errors=True)


def write_manifest(folder: Path, manifest: JsonObject, name: str = MANIFEST) -> None:
    """Write the folder's manifest, as its last file: a folder without one is not finished."""
    write_json(folder / name, stamped(manifest))


def stamped(manifest: JsonObject) -> JsonObject:
    """Return a manifest as a folder has it, under the version of its form."""
    return {"schema": _SCHEMA, **manifest}


def read_manifest(folder: Path, name: str = MANIFEST) -> FileContent:
    """Return the manifest of a folder that :func:`write_manifest` finished.

    Raises:
        ResultError: there is none, it is damaged, or another version of this package wrote it.
    """
    recover(folder)
    path = folder / name
    if not os.path.lexists(path):
        raise ResultError(f"is not a finished folder: it has no {name}", where=folder)
    manifest = read_json(path, ResultError)
    if manifest.get("schema") != _SCHEMA:
        raise ResultError(
            f"is not a manifest of schema {_SCHEMA}",
            where=path,
            remedy="Another version of spor-tasks wrote it. Install that version, or create the "
            "folder again.",
        )
    return manifest
