"""Writes the task files: ``python -m spor_tasks.harness.generate``.

Run it after a set was added or changed, where the corpora are; then commit the files.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
import yaml

from spor_tasks.core.contracts import Benchmark, TaskSpec
from spor_tasks.core.digests import digest
from spor_tasks.core.files import atomic_write
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import Sets
from spor_tasks.harness import task_files


def contents(sets: Benchmark, specs: Iterable[TaskSpec]) -> Iterator[tuple[str, str]]:
    """Yield the paths and the contents of the files of tasks over these sets of a benchmark.

    They are one for tuned models and each way to decode, and one for untuned models and each arm.

    Raises:
        CorpusError: the data of a set is missing.
    """
    for spec in specs:
        has_aspects = spec.sets.aspect != spec.benchmark
        name_of_set = spec.sets.aspect if has_aspects else spec.sets.protocol
        folder = f"{spec.benchmark}/{spec.sets.corpus}/{name_of_set}"
        pair = sets.load(spec) if spec.release.is_pinned else None
        for name, text in task_texts(spec, pair):
            yield f"{folder}/{name}", text


def task_texts(
    spec: TaskSpec,
    pair: Sets | None,
    *,
    templates: str = "../..",
    own_corpus: task_files.OwnCorpus | None = None,
) -> Iterator[tuple[str, str]]:
    """Yield file names and contents of the tasks over one set.

    ``templates`` is the way from them to what they include. Without sets, nothing says which test
    set it must be.
    """
    more = {
        "own_corpus": own_corpus and msgspec.to_builtins(own_corpus),
        "test_sha256": pair and digest(pair.test),
    }
    variants: list[dict[str, str]] = [{}, *({"decoding": name} for name in spec.sets.decodings)]
    variants += [{"icl_arm": arm} for arm in spec.arms if spec.sets.in_context]
    for variant in variants:
        task = _task(spec, variant, templates, more)
        yield f"{task['task']}.yaml", yaml.safe_dump(task, sort_keys=False)


def _task(
    spec: TaskSpec, variant: Mapping[str, str], folder: str, more: Mapping[str, object]
) -> dict[str, Any]:
    decoding, arm = variant.get("decoding"), variant.get("icl_arm")
    templates = [spec.asking.template, *([f"_{decoding}"] if decoding else [])]
    included = [f"{folder}/{template}" for template in templates]
    metadata = {
        "version": spec.release.version,
        "benchmark": spec.benchmark,
        **spec.sets.named,
        **variant,
        **more,
    }
    tags = spec.release.tags if not variant else ()
    if arm and spec.release.is_default and spec.sets.aspect != spec.benchmark:
        tags = (f"{spec.benchmark}_{spec.sets.corpus}_icl",)
        if spec.sets.part is not None:
            tags += (f"{spec.release.family.format(corpus=spec.sets.corpus)}_icl_{arm}",)
    task = {
        "include": included if decoding else included[0],
        "task": spec.task_name(arm, decoding),
        "num_fewshot": spec.asking.shots if arm else None,
        "tag": list(tags),
        "metadata": {key: value for key, value in metadata.items() if value is not None},
    }
    return {key: value for key, value in task.items() if value}


def main() -> None:
    """Write all files, and remove those of tasks that are gone."""
    files: dict[str, str] = {}
    for name in registry().names("benchmark"):
        sets: Benchmark = registry().get("benchmark", name)
        files |= dict(contents(sets, sets.sets()))
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
