"""The task files of the released sets as one folder, such as lm-eval takes: YAML that needs us."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml

from spor_tasks.benchmarks.spor import sets as registry
from spor_tasks.benchmarks.spor.sets import SplitName
from spor_tasks.core.folders import atomic_folder
from spor_tasks.harness import task_files
from spor_tasks.harness.generate import task_name


def write(folder: Path, splits: Iterable[SplitName] | None = None) -> None:
    """Write the task files of splits, by default of all that were released, and their page.

    They are decoded greedily. Metrics and data come from this package, which must be installed.

    Raises:
        ConfigError: the folder is not empty, or cannot be written.
    """
    if splits is None:
        splits = (split for split in registry.available() if split.protocol == "published")
    files = dict(_files({task_name(split) for split in splits}))
    with atomic_folder(folder, kind="export", overwrite=False) as place:
        for name, text in files.items():
            (place / name).write_text(text, "utf-8")


def _files(exported: set[str]) -> Iterator[tuple[str, str]]:
    """Yield names and contents."""
    known = {file.name: file.content for file in task_files.files()}

    def holds(name: str) -> bool:
        members = known[name]["task"] if "group" in known[name] else []
        return name in exported or any(map(holds, members))

    for name, content in known.items():
        if "group" in content and holds(name):
            members = [member for member in content["task"] if holds(member)]
            yield f"{name}.yaml", yaml.safe_dump(content | {"task": members}, sort_keys=False)
    templates = {"_base", *(known[name]["include"] for name in exported)}
    for name in [*(f"{name}.yaml" for name in sorted(exported)), *sorted(templates)]:
        yield name, (task_files.FOLDER / name).read_text("utf-8")
    page = (task_files.FOLDER / "README.md").read_text("utf-8")
    # without what is between the marks of the package's own
    yield (
        "README.md",
        re.sub(r"<!-- package -->\n.*?<!-- /package -->\n", "", page, flags=re.DOTALL),
    )
