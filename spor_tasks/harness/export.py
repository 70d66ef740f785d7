"""The task files of a group as one folder, as in lm-eval; they need this package."""

import re
from collections.abc import Container, Iterator
from pathlib import Path

import yaml

from spor_tasks.core.folders import atomic_folder
from spor_tasks.harness import task_files

# The parts of the page that are only about this package.
_OWN = re.compile(r"<!-- package -->\n.*?<!-- /package -->\n", flags=re.DOTALL)


def write(folder: Path, group: str = "spor") -> None:
    """Write the files of a group's tasks, of the groups that hold them, and their page.

    Metrics and data come from this package, which must be installed.

    Raises:
        ConfigError: the folder is not empty, or cannot be written.
    """
    with atomic_folder(folder, kind="export", overwrite=False) as place:
        for name, text in _files(group):
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")


def _files(group: str) -> Iterator[tuple[str, str]]:
    """Yield paths below the folder, and contents."""
    exported = {file.name: file for file in task_files.expand([group])}
    included = {"_base", *(Path(file.content["include"]).name for file in exported.values())}
    templates = [task_files.TEMPLATES / name for name in sorted(included)]
    for path in [*templates, *(file.path for file in exported.values())]:
        yield path.relative_to(task_files.TEMPLATES).as_posix(), path.read_text("utf-8")
    for file in task_files.files():
        if file.kind == "group":
            members = [name for name in file.content["task"] if _holds(name, exported)]
            if members:
                content = file.content | {"task": members}
                yield file.path.name, yaml.safe_dump(content, sort_keys=False)
    page = (task_files.TEMPLATES / "README.md").read_text("utf-8")
    yield "README.md", _OWN.sub("", page)


def _holds(name: str, exported: Container[str]) -> bool:
    """Return whether a task, or any task of a group, is exported."""
    return any(file.name in exported for file in task_files.expand([name]))
