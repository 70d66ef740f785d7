"""How time and memory grow with inputs of one, two and four times a size.

The last column is the exponent of the time by the last doubling: 1 is in proportion, 2 the square.
What would grow with the square has a limit; inputs beyond it are refused in one line.
"""

import json
import tempfile
from collections.abc import Callable, Iterator
from math import log2
from pathlib import Path
from typing import Any

from docs.benchmarks.measure import apart
from spor_tasks import cli
from spor_tasks.core.codec import MOST_UNITS
from spor_tasks.results.samples import orphans

Rows = Iterator[dict[str, Any]]


def sample(units: range, **fields: str) -> dict[str, Any]:
    """Return a row of so many units."""
    data = [[f"key{i}", f"value{i}"] for i in units]
    return {"data": data, "texts": [" ".join(value for _, value in data)], **fields}


def units(count: int) -> Rows:
    """Yield a corpus with samples of so many units, each of which also occurs alone."""
    for i in range(count):
        yield from (sample(range(i, i + 1), split="train", category=kind) for kind in "ab")
    yield sample(range(count // 2), split="train")
    yield sample(range(count), split="test")


def outputs(count: int) -> Rows:
    """Yield a sample of so many units, and an output of as many words, none of them a value."""
    yield sample(range(count), output=" ".join(f"word{i}" for i in range(count)))


def phones(count: int) -> Rows:
    """Yield a corpus in which every sample has a value of its own."""
    for i in range(count):
        for split in ("train", "test"):
            number = f"+49-{i:09d}"
            texts = [f"Call {number} now."]
            yield {"split": split, "data": [["phone", number]], "texts": texts}


def command(words: str) -> None:
    """Run a command, which may refuse its input."""
    cli.main(words.split())


def lonely(folder: str) -> None:
    """Look for sample files without a result."""
    orphans(Path(folder))


def show(name: str, sizes: tuple[int, ...], run: Callable[[int], tuple[Any, ...]]) -> None:
    """Print the costs of a function and its arguments at each size, and the exponent."""
    costs = [apart(*run(size)) for size in sizes]
    figures = (
        f"{size:>7,}: {cost.processor:6.2f} s {cost.megabytes:6.0f} MB"
        for size, cost in zip(sizes, costs, strict=True)
    )
    print(f"{name:<44}{'  '.join(figures)}  {log2(costs[-1].processor / costs[-2].processor):5.2f}")


def main() -> None:
    """Measure each kind of input."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)

        def written(rows: Rows) -> Path:
            path = place / "rows.jsonl"
            path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
            return path

        def made(rows: Callable[[int], Rows], size: int) -> tuple[Any, ...]:
            words = f"tasks make {written(rows(size))} --out {place / 'tasks'} --overwrite"
            return command, words

        def scored(size: int) -> tuple[Any, ...]:
            return command, f"score {written(outputs(size))} --metric coverage --corpus e2e"

        def found(size: int) -> tuple[Any, ...]:
            folder = place / str(size)
            folder.mkdir()
            for number in range(size):
                (folder / f"samples_task_{number}.jsonl").touch()
            return lonely, str(folder)

        quarter = MOST_UNITS // 4
        sizes = (quarter, 2 * quarter, 4 * quarter)
        show("units of a sample, `tasks make`", sizes, lambda size: made(units, size))
        show("units of a sample, `score`", sizes, scored)
        beyond = (4 * quarter, 8 * quarter, 16 * quarter)
        show("the same beyond the limit", beyond, scored)
        show("values of an attribute", (2_500, 5_000, 10_000), lambda size: made(phones, size))
        show("sample files without a result", (1_000, 2_000, 4_000), found)


if __name__ == "__main__":
    main()
