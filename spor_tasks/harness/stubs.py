"""Registers our tasks with the installed lm-eval: stubs in its task folder that include ours."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from spor_tasks import __version__
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import atomic_write, read_bytes
from spor_tasks.harness import task_files

# The first words of every stub. A file without them is not ours, and is never touched.
_MARK = "# Written by `spor tasks register`"
_FOLDER = "spor_tasks_stubs"
_OTHER_WAYS = 'Without it, use `spor eval …`, or `lm_eval --include_path "$(spor tasks path)" …`.'


class Changes(NamedTuple):
    """How many stubs were written, were removed, and were already up to date."""

    written: int
    removed: int
    kept: int


def folder() -> Path:
    """Return the folder for stubs in the installed lm-eval.

    Raises:
        ConfigError: lm-eval is not installed, or was uninstalled and left files behind.
    """
    found = find_spec("lm_eval")
    if found is None or not found.origin or not found.submodule_search_locations:
        raise ConfigError("lm-eval is not installed", remedy="Run `pip install lm-eval`.")
    return Path(found.submodule_search_locations[0]) / "tasks" / _FOLDER


def register(target: Path) -> Changes:
    """Bring the stubs in ``target`` up to date, and remove outdated ones; safe to repeat.

    Raises:
        ConfigError: a file that is not ours has the name of a stub, or the folder is read-only.
            Some stubs may then be missing; registering again completes them.
    """
    wanted = {target / file.path.name: _stub(file.path) for file in task_files.files()}
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _alone(target.parent):
            ours = set(_stubs(target))
            for path in wanted:
                if os.path.lexists(path) and path not in ours:
                    raise ConfigError(
                        "is not a file that `spor tasks register` wrote; refusing to replace it",
                        where=path,
                        remedy="Move it away, and run the command again.",
                    )
            stale = ours - wanted.keys()
            changed = {path: text for path, text in wanted.items() if _content(path) != text}
            for path in stale:
                path.unlink()
            for path, text in changed.items():
                with atomic_write(path) as file:
                    file.write(text)
    except OSError as error:
        raise _unwritable(target, error) from error
    return Changes(len(changed), len(stale), len(wanted) - len(changed))


def remove() -> Mapping[Path, Changes]:
    """Remove our stubs from the installed lm-eval, or from the folder that an uninstalled one left.

    Raises:
        ConfigError: neither exists, or the folder is read-only.
    """
    found = find_spec("lm_eval")
    if found is None or found.origin:
        return {(target := folder()): unregister(target)}
    # A folder without code, which Python takes for a namespace package.
    done = {}
    for place in map(Path, found.submodule_search_locations or ()):
        target = place / "tasks" / _FOLDER
        done[target] = unregister(target)
        if done[target].removed:
            # Because of the stubs, pip has not removed lm-eval's folders.
            for path, _, _ in os.walk(place, topdown=False):
                with suppress(OSError):  # something else is in it
                    Path(path).rmdir()
    return done


def unregister(target: Path) -> Changes:
    """Remove our stubs from ``target``, and the folder if nothing else is in it.

    Raises:
        ConfigError: the folder is read-only.
    """
    if not target.is_dir():
        return Changes(0, 0, 0)
    try:
        with _alone(target.parent):
            ours = tuple(_stubs(target))
            for path in ours:
                path.unlink()
            with suppress(OSError):  # something else is in it
                target.rmdir()
    except OSError as error:
        raise _unwritable(target, error) from error
    return Changes(0, len(ours), 0)


def registered(target: Path) -> bool:
    """Return whether every stub exists and includes the file of this installation."""
    return all(_content(target / file.path.name) == _stub(file.path) for file in task_files.files())


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let one process at a time change stubs, if the system can lock a folder."""
    try:
        import fcntl  # noqa: PLC0415 - Windows has none
    except ImportError:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # of a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _stub(task_file: Path) -> bytes:
    return (
        f"{_MARK} (spor-tasks {__version__}); `spor tasks register --remove` deletes it.\n"
        f"include: {json.dumps(str(task_file))}\n"
    ).encode()


def _stubs(target: Path) -> Iterator[Path]:
    for path in target.glob("*.yaml"):
        if (_content(path) or b"").startswith(_MARK.encode()):
            yield path
    yield from target.glob(".*.yaml.*.partial")  # of a process that was killed


def _content(path: Path) -> bytes | None:
    """Return what is in a file; None if it is anything else, such as a link that leads nowhere."""
    try:
        return read_bytes(path)
    except OSError:
        return None


def _unwritable(target: Path, error: OSError) -> ConfigError:
    return ConfigError(
        f"lm-eval's task folder cannot be written: {error}", where=target, remedy=_OTHER_WAYS
    )
