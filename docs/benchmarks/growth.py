"""How time and memory grow with inputs of one, two and four times a size.

The last column is the exponent of the time by the last doubling: 1 is in proportion, 2 the square.
What each process loads is left out. `docs/speed.md` has the table.
"""

import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from math import log2
from pathlib import Path
from typing import Any

from docs.benchmarks.measure import apart
from spor_tasks import cli, report
from spor_tasks.core.codec import MOST_UNITS
from spor_tasks.results.samples import orphans
from tests.support.invented_runs import town
from tests.support.result_files import result_content, sample_row

Rows = Iterator[dict[str, Any]]

Measured = tuple[Any, ...]
"""A function and its arguments."""

WORDS = [f"{first}{last}" for first in ("cold", "old", "har", "sea") for last in "abcdefghijklm"]
TASK = "spor_systematicity_mini"
BASE = "training/pretrained/mini"
MOST_DOCUMENTS = 4_000


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


def foreign(count: int) -> Rows:
    """Yield a sample of so many units, and an output of as many words, none of them a value."""
    yield sample(range(count), output=" ".join(f"word{i}" for i in range(count)))


def sentence() -> str:
    """Draw 20 words."""
    return " ".join(random.choices(WORDS, k=20))


def outputs(count: int) -> Rows:
    """Yield so many samples of three units, with two references and an output."""
    for i in range(count):
        data = [[f"key{k}", f"value{i} {random.choice(WORDS)}"] for k in range(3)]
        texts = [f"{' '.join(value for _, value in data)} {sentence()}." for _ in range(2)]
        yield {"data": data, "texts": texts, "output": f"{data[0][1]} {sentence()}."}


def phones(count: int) -> Rows:
    """Yield a corpus in which every sample has a value of its own."""
    for i in range(count):
        for split in ("train", "test"):
            number = f"+49-{i:09d}"
            texts = [f"Call {number} now."]
            yield {"split": split, "data": [["phone", number]], "texts": texts}


def write_runs(folder: Path, systems: int, samples: int) -> Path:
    """Write results of so many systems on the same samples, none of them like another."""
    folder.mkdir()
    towns = [town(number, f"Town {number}") for number in range(samples)]
    for number in range(systems):
        values = [random.uniform(0, 100) for _ in towns]
        scores = {"parent": sum(values) / samples}
        content = result_content(model=f"model-{number}", n=samples, scores=scores)
        (folder / f"results_{number}.json").write_text(json.dumps(content))
        rows = (
            sample_row(each, [f"{sentence()} Cold Sound."], {"parent": value}, place)
            for place, (each, value) in enumerate(zip(towns, values, strict=True))
        )
        write(folder / f"samples_{TASK}_{number}.jsonl", rows)
    return folder


def write(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    """Write the rows."""
    with path.open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def command(words: str) -> None:
    """Run a command, which may refuse its input."""
    cli.main(words.split())


def lonely(folder: Path) -> None:
    """Look for sample files without a result."""
    orphans(folder)


def board(folder: Path) -> None:
    """Rank the systems."""
    report.rank(report.collect([folder]))


def comparison(folder: Path) -> None:
    """Compare two systems."""
    report.write_compare(sorted(folder.glob("results_*.json")))


def page(folder: Path) -> None:
    """Write the report with its page."""
    report.write([folder], folder / "out")


def draw(rows: int) -> None:
    """Draw a token of each row, 50 times, among the likeliest 20 of SmolLM2's vocabulary."""
    import torch

    from spor_tasks.models.generation import SeededSampling

    scores, ids = torch.randn(rows, 49_152), torch.zeros(rows, 8, dtype=torch.int64)
    for _ in range(50):
        SeededSampling(range(rows), 8, top_k=20)(ids, scores)


def end(rows: int) -> None:
    """Look for the end of each row, after each of 60 tokens, ten times."""
    import torch
    from transformers import AutoTokenizer

    from spor_tasks.models.generation import LastTokens, StopAtText

    tokenizer = AutoTokenizer.from_pretrained(BASE)
    stop = StopAtText(tokenizer, "\n".__eq__, 0, LastTokens(tokenizer, frozenset("\n")))
    ids = torch.randint(len(tokenizer), (rows, 64))
    for place in 10 * [*range(4, 64)]:
        stop(ids[:, :place], None)


class Inputs:
    """Writes the input of each measurement into a folder of its own."""

    def __init__(self, place: Path) -> None:
        self.place, self.number = place, 0

    def folder(self) -> Path:
        """Return the path of a new folder."""
        self.number += 1
        return self.place / str(self.number)

    def made(self, rows: Callable[[int], Rows], size: int) -> Measured:
        """Make the tasks of a corpus."""
        folder = self.folder()
        folder.mkdir()
        file = write(folder / "rows.jsonl", rows(size))
        return command, f"tasks make {file} --out {folder / 'tasks'}"

    def scored(self, rows: Callable[[int], Rows], options: str, size: int) -> Measured:
        """Score outputs."""
        return command, f"score {write(self.folder(), rows(size))} --corpus e2e {options}"

    def evaluated(self, model: str, size: int) -> Measured:
        """Evaluate a model."""
        tasks = self.place / "tasks"
        if not tasks.exists():
            file = write(self.place / "rows.jsonl", phones(MOST_DOCUMENTS))
            apart(command, f"tasks make {file} --out {tasks}")
        words = (
            f"eval --model {model} --tasks spor_order_invariance_rows_performance --limit {size}"
        )
        options = f"--include_path {tasks} --output_path {self.folder()} --log_samples"
        return command, f"{words} {options}"

    def trained(self, size: int) -> Measured:
        """Train on so many pairs."""
        words = f"train configs/models/mini.yaml output={self.folder()} data.limit={size}"
        return command, f"{words} optimization.max_steps=null optimization.epochs=1"

    def found(self, size: int) -> Measured:
        """Look for results of sample files."""
        folder = self.folder()
        folder.mkdir()
        for number in range(size):
            (folder / f"samples_task_{number}.jsonl").touch()
        return lonely, folder

    def ranked(self, samples: int, systems: int) -> Measured:
        """Rank systems."""
        return board, write_runs(self.folder(), systems, samples)

    def of_two(self, work: Callable[[Path], None], samples: int) -> Measured:
        """Read the results of two systems."""
        return work, write_runs(self.folder(), 2, samples)


def show(name: str, sizes: tuple[int, ...], run: Callable[[int], Measured]) -> None:
    """Print the costs of a function and its arguments at each size, and the exponent."""
    _, *first = run(sizes[0] // 10)
    costs = [apart(*run(size), first=first) for size in sizes]
    figures = (
        f"{size:>7,}: {cost.processor:6.2f} s {cost.megabytes:6.0f} MB"
        for size, cost in zip(sizes, costs, strict=True)
    )
    exponent = log2(costs[-1].processor / costs[-2].processor)
    print(f"{name:<44}{'  '.join(figures)}  {exponent:5.2f}", flush=True)


def main(names: list[str]) -> None:
    """Measure each kind of input, or those in whose names one of these words is."""
    with tempfile.TemporaryDirectory() as place:
        inputs = Inputs(Path(place))
        quarter = MOST_UNITS // 4
        sizes = (quarter, 2 * quarter, 4 * quarter)
        beyond = (4 * quarter, 8 * quarter, 16 * quarter)
        coverage = partial(inputs.scored, foreign, "--metric coverage")
        metrics = "--metric parent,chrf --interval"
        for name, counts, run in (
            ("units of a sample, `tasks make`", sizes, partial(inputs.made, units)),
            ("units of a sample, `score`", sizes, coverage),
            ("the same beyond the limit", beyond, coverage),
            ("values of an attribute", (2_500, 5_000, 10_000), partial(inputs.made, phones)),
            ("sample files without a result", (1_000, 2_000, 4_000), inputs.found),
            ("systems of a board", (50, 100, 200), partial(inputs.ranked, 1_000)),
            (
                "samples of a board",
                (1_000, 2_000, 4_000),
                lambda size: inputs.ranked(size, systems=20),
            ),
            ("samples of a report", (2_500, 5_000, 10_000), partial(inputs.of_two, page)),
            (
                "samples of two systems, `compare`",
                (2_500, 5_000, 10_000),
                partial(inputs.of_two, comparison),
            ),
            (
                "outputs, `score`",
                (2_500, 5_000, 10_000),
                partial(inputs.scored, outputs, metrics),
            ),
            (
                "documents, `eval` with `dummy`",
                (1_000, 2_000, MOST_DOCUMENTS),
                partial(inputs.evaluated, "dummy"),
            ),
            (
                "documents, `eval` with `spor-hf`",
                (160, 320, 640),
                partial(
                    inputs.evaluated, f"spor-hf --model_args pretrained={BASE} --batch_size 16"
                ),
            ),
            ("rows of a batch, a drawn token", (32, 64, 128), lambda size: (draw, size)),
            ("rows of a batch, the end of a text", (256, 512, 1_024), lambda size: (end, size)),
            ("pairs, `train`", (600, 1_200, 2_400), inputs.trained),
        ):
            if not names or any(each in name for each in names):
                show(name, counts, run)


if __name__ == "__main__":
    main(sys.argv[1:])
