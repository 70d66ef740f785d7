"""Registers our tasks with the installed lm-eval: stubs in its task folder that include ours.

lm-eval reads one task from a file and follows no link to a folder, so each task has a stub.
"""

import json
import shutil
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.hosts import STUBS, TASKS
from spor_tasks.harness import task_files

_OTHER_WAYS = "Without it, use `spor eval`, or let lm-eval include the folder of `spor tasks path`."


def folder() -> Path:
    """Return the folder for stubs in the installed lm-eval, which is ours alone.

    Raises:
        ConfigError: lm-eval is not installed, or was uninstalled and left files behind.
    """
    package = find_spec("lm_eval")
    if package is None or not package.origin:
        raise ConfigError("lm-eval is not installed", remedy="Run `pip install lm-eval`.")
    return Path(package.origin).parent / "tasks" / STUBS


def are_needed() -> bool:
    """Return whether lm-eval needs stubs: a later one finds the folder by our entry point.

    It is asked for the folders that it would read tasks in.
    """
    from lm_eval.tasks import manager

    folders: list[Path] = []

    class Listing:
        def build(self, paths: Iterable[Path], **_: object) -> dict[str, object]:
            folders.extend(map(Path, paths))
            return {}

    read, manager.TaskIndex = manager.TaskIndex, Listing
    try:
        manager.TaskManager()
    finally:
        manager.TaskIndex = read
    return TASKS.resolve() not in [folder.resolve() for folder in folders]


def register(target: Path) -> int:
    """Bring the stubs in ``target`` up to date, and remove outdated ones; safe to repeat.

    Return their number.

    Raises:
        ConfigError: the folder cannot be written. Some stubs may then be missing; registering again
            completes them.
    """
    stubs = _stubs()
    try:
        task_files.write_all(target, stubs)
    except OSError as error:
        raise ConfigError(
            f"lm-eval's task folder cannot be written: {error}", where=target, remedy=_OTHER_WAYS
        ) from error
    return len(stubs)


def registered(target: Path) -> bool:
    """Return whether every stub exists and includes the file of this installation."""
    return {
        path.name: path.read_text("utf-8", "replace") for path in target.glob("*.yaml")
    } == _stubs()


def remove() -> tuple[Path, ...]:
    """Remove our folders from the installed lm-eval, or from what an uninstalled one left.

    Raises:
        OSError: a folder cannot be removed.
    """
    package = find_spec("lm_eval")
    places = (package and package.submodule_search_locations) or ()
    folders = tuple(Path(place) / "tasks" / STUBS for place in places)
    present = tuple(filter(Path.is_dir, folders))
    for folder in present:
        shutil.rmtree(folder)
    return present


def _stubs() -> dict[str, str]:
    return {
        file.path.name: f"include: {json.dumps(str(file.path))}\n" for file in task_files.files()
    }
