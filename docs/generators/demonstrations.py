"""Make spor_tasks/prompts/chosen: what tasks in context show, for shipped sets.

python docs/generators/demonstrations.py      # with the corpora, as docs/data.md says; half an hour
"""

import gzip
import json
from collections.abc import Iterator

from spor_tasks.core.errors import MissingError
from spor_tasks.core.files import atomic_write
from spor_tasks.core.sample import Sets
from spor_tasks.harness import documents, plan, task_files
from spor_tasks.prompts import demonstrations, kept
from spor_tasks.prompts.exchanged import with_twins


def choices() -> Iterator[tuple[str, Sets, int]]:
    """Yield a task, its sets and the number of demonstrations; tasks of one choice come once.

    Tasks whose sets are not on this machine are left out.
    """
    seen = set()
    for file in task_files.files():
        if file.sets.icl_arm:
            try:
                pair = plan.load(file.sets)
                pair = with_twins(pair) if documents.have_twins(pair) else pair
                for samples in pair.arms.values():
                    next(iter(samples))  # reads what is not read before
            except MissingError as error:
                print(f"{file.name} is left out: {error}")
                continue
            if (name := kept.name_of(pair, file.shots)) not in seen:
                seen.add(name)
                yield file.name, pair, file.shots


def main() -> None:
    """Write a file for each choice, and say how large all are; other files stay."""
    for task, pair, most in choices():
        content = kept.content_of(demonstrations.choose(pair, most), pair)
        packed = gzip.compress(json.dumps(content, separators=(",", ":")).encode(), mtime=0)
        with atomic_write(kept.SHIPPED / f"{kept.name_of(pair, most)}.gz") as out:
            out.write(packed)
        print(f"{task}: {len(content['numbers'])} samples, {len(packed):,} bytes", flush=True)
    sizes = [file.stat().st_size for file in kept.SHIPPED.glob("*.json.gz")]
    print(f"{len(sizes)} files, {sum(sizes):,} bytes")


if __name__ == "__main__":
    main()
