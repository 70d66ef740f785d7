"""Writes the files of tasks and groups: ``python -m spor_tasks.harness.generate``.

Run it after a split was added or changed, with the corpora at hand; the files are committed.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import yaml

from spor_tasks.benchmarks.spor import sets as registry
from spor_tasks.benchmarks.spor.sets import SplitName
from spor_tasks.core.digests import digest
from spor_tasks.core.files import atomic_write
from spor_tasks.core.sample import ARMS
from spor_tasks.harness import task_files

_VERSIONS = {"_parent": 2.0, "_order_main": 2.0, "_cwio": 2.0, "_copy_rule": 2.0}
"""What the tasks of each template are at; README.md tells what changed."""

_GROUP_VERSION = 1.0
_TEMPLATES = {
    ("order_invariance", "main"): "_order_main",
    ("order_invariance", "cwio"): "_cwio",
    ("rule_learnability", None): "_copy_rule",
}
_PAPERS_CORPORA = ("webnlg", "e2e")


def task_name(split: SplitName, *, arm: str | None = None, beams: bool = False) -> str:
    """Return the name of a split's task; that of the default sets says nothing of their kind.

    With ``arm`` it is the one that shows demonstrations of this arm.
    """
    other = None if _is_default(split) else split.protocol
    shown = arm and f"icl_{arm}"
    decoding = "beam5" if beams else None
    parts = ["spor", split.aspect, split.corpus, split.part, other, shown, decoding]
    return "_".join(filter(None, parts))


def contents(splits: Iterable[SplitName]) -> Iterator[tuple[str, str]]:
    """Yield the names and the contents of the files of each split's tasks.

    There are two for tuned models, and for each arm of a default split one for untuned ones.

    Raises:
        CorpusError: the data of a split is not at hand.
    """
    for split in splits:
        sha256 = digest(registry.load(*split).test.samples)
        for beams in (False, True):
            name = task_name(split, beams=beams)
            yield f"{name}.yaml", _dump(_task(name, split, sha256, beams=beams))
        for arm in ARMS[split.aspect] if _is_default(split) else ():
            name = task_name(split, arm=arm)
            yield f"{name}.yaml", _dump(_task(name, split, sha256, arm=arm))


def group_files() -> Iterator[tuple[str, str]]:
    """Yield the names and the contents of the files of all groups."""
    for name, members in groups().items():
        content = {"group": name, "task": members, "metadata": {"version": _GROUP_VERSION}}
        yield f"{name}.yaml", _dump(content)


def groups() -> dict[str, list[str]]:
    """Return the members of each group: tasks over the default sets, decoded greedily.

    Those that show demonstrations have groups of their own.
    """
    members: dict[str, dict[str, None]] = defaultdict(dict)
    members["spor"] = dict.fromkeys(f"spor_{corpus}" for corpus in _PAPERS_CORPORA)
    for split in registry.available():
        if not _is_default(split):
            continue
        task, whole = task_name(split), task_name(split._replace(part=None))
        members[f"spor_{split.corpus}"][whole] = None
        members[f"spor_{split.aspect}"][whole] = None
        if split.part is not None:
            members[whole][task] = None
        for arm in ARMS[split.aspect]:
            task, whole = (task_name(s, arm=arm) for s in (split, split._replace(part=None)))
            members[f"spor_{split.corpus}_icl"][whole] = None
            if split.part is not None:
                members[whole][task] = None
    return {name: list(found) for name, found in members.items()}


def _task(
    name: str, split: SplitName, sha256: str, *, arm: str | None = None, beams: bool = False
) -> dict[str, Any]:
    template = _TEMPLATES.get((split.aspect, split.part), "_parent")
    over = ["_beam5"] if beams else []
    if arm:
        over.append("_icl_pair" if template == "_order_main" else "_icl")
    part = {} if split.part is None else {"part": split.part}
    shown = {"icl_arm": arm} if arm else {}
    return {
        "include": [template, *over] if over else template,
        "task": name,
        "metadata": {
            "version": _VERSIONS[template],
            "aspect": split.aspect,
            "corpus": split.corpus,
            "protocol": split.protocol,
            **part,
            **shown,
            "test_sha256": sha256,
        },
    }


def _is_default(split: SplitName) -> bool:
    default = next(other for other in registry.available() if other[:2] == split[:2])
    return split.protocol == default.protocol


def _dump(content: Mapping[str, Any]) -> str:
    return yaml.safe_dump(content, sort_keys=False)


def main() -> None:
    """Write all files, and remove those of tasks that are no more."""
    files = dict([*contents(registry.available()), *group_files()])
    for path in task_files.FOLDER.glob("*.yaml"):
        if path.name not in files:
            path.unlink()
    for name, text in files.items():
        with atomic_write(task_files.FOLDER / name) as file:
            file.write(text.encode())


if __name__ == "__main__":
    main()
