"""Writes the task files: ``python -m spor_tasks.harness.generate``.

Run it after a set was added or changed, where the corpora are; then commit the files.
"""

from collections.abc import Iterable, Iterator

import msgspec
import yaml

from spor_tasks.core.contracts import Benchmark, TaskSpec
from spor_tasks.core.digests import digest
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
    sets, sha256 = spec.sets, pair and digest(pair.test)
    variants: list[tuple[str | None, str | None]] = [(None, None)]  # an arm that is shown, or beams
    variants += [(None, decoding) for decoding in sets.decodings]
    variants += [(arm, None) for arm in spec.arms if sets.in_context]
    for arm, decoding in variants:
        metadata = {
            "version": spec.release.version,
            "benchmark": spec.benchmark,
            **sets.named,
            "decoding": decoding,
            "icl_arm": arm,
            "own_corpus": own_corpus and msgspec.to_builtins(own_corpus),
            "test_sha256": sha256,
        }
        tags = () if arm or decoding else spec.release.tags
        if arm and spec.release.is_default and sets.aspect != spec.benchmark:
            tags = (f"{spec.benchmark}_{sets.corpus}_icl",)
            if sets.part is not None:
                tags += (f"{spec.release.family.format(corpus=sets.corpus)}_icl_{arm}",)
        included = f"{templates}/{spec.asking.template}"
        task = {
            "include": [included, f"{templates}/_{decoding}"] if decoding else included,
            "task": spec.task_name(arm, decoding),
            "num_fewshot": spec.asking.shots if arm else None,
            "tag": list(tags),
            "metadata": {key: value for key, value in metadata.items() if value is not None},
        }
        content = {key: value for key, value in task.items() if value}
        yield f"{task['task']}.yaml", yaml.safe_dump(content, sort_keys=False)


def main() -> None:
    """Write all files, and remove those of tasks that are gone."""
    files: dict[str, str] = {}
    for name in registry().names("benchmark"):
        sets: Benchmark = registry().get("benchmark", name)
        files |= dict(contents(sets, sets.sets()))
    task_files.write_all(task_files.FOLDER, files)


if __name__ == "__main__":
    main()
