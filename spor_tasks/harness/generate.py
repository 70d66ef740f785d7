"""Writes the files of tasks and groups: ``python -m spor_tasks.harness.generate``.

Run it after a set was added or changed, where the corpora are; then commit the files.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import yaml

from spor_tasks.core.contracts import Sets, SetSpec
from spor_tasks.core.digests import digest
from spor_tasks.core.files import atomic_write
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import SplitPair
from spor_tasks.harness import task_files

_GROUP_VERSION = 1.0
"""The version of groups; that of a task is in its declaration."""


def contents(sets: Sets, specs: Iterable[SetSpec]) -> Iterator[tuple[str, str]]:
    """Yield the paths and the contents of the files of tasks over these sets of a benchmark.

    They are one for tuned models and each way to decode, and one for untuned models and each arm.

    Raises:
        CorpusError: the data of a set is missing.
    """
    for spec in specs:
        name_of_set = spec.name.protocol if _has_no_aspects(sets) else spec.name.aspect
        folder = f"{spec.benchmark}/{spec.name.corpus}/{name_of_set}"
        pair = sets.load(spec.name) if spec.is_pinned else None
        for name, text in task_texts(spec, pair):
            yield f"{folder}/{name}", text


def task_texts(
    spec: SetSpec, pair: SplitPair | None, *, templates: str = "../..", **more: object
) -> Iterator[tuple[str, str]]:
    """Yield file names and contents of the tasks over one set.

    ``templates`` is the way from them to what they include, and ``more`` goes into their metadata.
    Without sets, nothing says which test set it must be.
    """
    pinned = {} if pair is None else {"test_sha256": digest(pair.test.samples)}
    variants: list[dict[str, str]] = [{}, *({"decoding": name} for name in spec.decodings)]
    variants += [{"icl_arm": arm} for arm in spec.arms if spec.in_context]
    for variant in variants:
        task = _task(spec, variant, templates, {**more, **pinned})
        yield f"{task['task']}.yaml", dump(task)


def group_files(sets: Sets) -> Iterator[tuple[str, str]]:
    """Yield the paths and the contents of the files of all groups of a benchmark."""
    for name, members in groups(sets).items():
        yield f"{sets.name}/{name}.yaml", dump(group_content(name, members))


def group_content(name: str, members: Sequence[str]) -> dict[str, Any]:
    """Return the content of the file of a group."""
    return {"group": name, "task": list(members), "metadata": {"version": _GROUP_VERSION}}


def _has_no_aspects(sets: Sets) -> bool:
    return list(sets.groups) == [sets.name]


def groups(sets: Sets) -> dict[str, list[str]]:
    """Return the members of each group: tasks over the default sets, decoded greedily.

    Those that show demonstrations have groups of their own. A benchmark without aspects has a group
    for each corpus, or those that its sets name.
    """
    specs = sets.sets()
    if _has_no_aspects(sets):
        return _named_groups(specs)
    members: dict[str, dict[str, None]] = defaultdict(dict)
    members[sets.name] = dict.fromkeys(
        f"{sets.name}_{spec.name.corpus}" for spec in specs if spec.name.protocol == "published"
    )
    for spec in specs:
        if not spec.is_default:
            if spec.group:
                members[spec.group][spec.task] = None
            continue
        of_corpus = f"{sets.name}_{spec.name.corpus}"
        parts = spec.task.removesuffix(f"_{spec.name.part}")  # the task itself where there is one
        for group in filter(None, (of_corpus, spec.wider_group)):
            members[group][parts] = None
        if spec.name.part is not None:
            members[parts][spec.task] = None
        for arm in spec.arms if spec.in_context else ():
            members[f"{of_corpus}_icl"][f"{parts}_icl_{arm}"] = None
            if spec.name.part is not None:
                members[f"{parts}_icl_{arm}"][spec.task_name(arm)] = None
    return {name: list(found) for name, found in members.items()}


def _named_groups(specs: Iterable[SetSpec]) -> dict[str, list[str]]:
    members: dict[str, list[str]] = defaultdict(list)
    for spec in specs:
        for group in (spec.group or f"{spec.name.corpus}_all", spec.wider_group):
            if spec.is_default and group:
                members[group].append(spec.task)
    return dict(members)


def _task(
    spec: SetSpec, variant: Mapping[str, str], folder: str, more: Mapping[str, object]
) -> dict[str, Any]:
    shown = f"_icl{spec.template.removeprefix('_base')}"
    templates = [shown if "icl_arm" in variant else spec.template]
    if "decoding" in variant:
        templates.append(f"_{variant['decoding']}")
    included = [f"{folder}/{template}" for template in templates]
    part = {} if spec.name.part is None else {"part": spec.name.part}
    return {
        "include": included[0] if len(included) == 1 else included,
        "task": spec.task_name(variant.get("icl_arm"), variant.get("decoding")),
        "metadata": {
            "version": spec.version,
            "benchmark": spec.benchmark,
            "aspect": spec.name.aspect,
            "corpus": spec.name.corpus,
            "protocol": spec.name.protocol,
            **part,
            **variant,
            **more,
        },
    }


def dump(content: Mapping[str, Any]) -> str:
    """Return the text of a task file."""
    text: str = yaml.safe_dump(content, sort_keys=False)
    return text


def main() -> None:
    """Write all files, and remove those of tasks that are gone."""
    files: dict[str, str] = {}
    for name in registry().names("benchmark"):
        sets: Sets = registry().get("benchmark", name)
        files |= dict([*contents(sets, sets.sets()), *group_files(sets)])
    for path in task_files.FOLDER.rglob("*.yaml"):
        if path.relative_to(task_files.FOLDER).as_posix() not in files:
            path.unlink()
    for name, text in files.items():
        path = task_files.FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as file:
            file.write(text.encode())


if __name__ == "__main__":
    main()
