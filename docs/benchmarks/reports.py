"""`spor report` of 50 files with 100,000 samples, and how soon Chromium shows the page.

Baselines are JSON alone, which parses every line, and the tables alone.
"""

import json
import random
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from unittest.mock import patch

from playwright.sync_api import sync_playwright

from docs.benchmarks.measure import apart, show
from spor_tasks import report
from spor_tasks.aspects.arms import ARMS
from spor_tasks.report.views import view_of
from spor_tasks.results import runs, samples
from spor_tasks.results.samples import find
from tests.support.invented_runs import town
from tests.support.result_files import result_content, sample_row

FILES, SAMPLES = 50, 2_000
TASK = "spor_systematicity_mini"
WORDS = [f"{first}{last}" for first in ("cold", "old", "har", "sea") for last in "abcdefghijklm"]


def write_run(folder: Path, number: int) -> None:
    """Write a run whose outputs are like no other's."""
    rng = random.Random(number)
    model, rest = divmod(number, 10)
    arm, seed = ARMS["systematicity"][rest % 2], rest // 2
    values = [rng.uniform(0, 100) for _ in range(SAMPLES)]
    scores = {"parent": sum(values) / SAMPLES}
    content = result_content(arm=arm, seed=seed, model=f"model-{model}", n=SAMPLES, scores=scores)
    (folder / f"results_{number}.json").write_text(json.dumps(content))
    with (folder / f"samples_{TASK}_{number}.jsonl").open("w") as file:
        for index, value in enumerate(values):
            before, after = (" ".join(rng.choices(WORDS, k=11)) for _ in range(2))
            output = f"{before} Cold Sound {after}."
            file.write(
                json.dumps(sample_row(town(index, f"Town {index}"), [output], {"parent": value}))
                + "\n"
            )


def parse(folder: Path) -> None:
    """Parse each line of each file."""
    for path in folder.glob("*.json*"):
        with path.open("rb") as file:
            for line in file:
                json.loads(line)


def tables(folder: Path) -> None:
    """Make the tables alone."""
    report.collect([folder])


def everything(folder: Path) -> None:
    """Write all files, the page among them."""
    report.write([folder], folder / "out")


def marks(folder: Path) -> None:
    """Read each sample and mark its output."""
    for file in filter(None, map(find, runs.collect([folder]).runs)):
        for record in file.records():
            view_of(record)


def count_reads(folder: Path) -> None:
    """Print how often a report opens files, and reads lines and their documents."""
    counted = {"open_file": "files opened", "_record": "lines read", "sample_of": "documents read"}
    with ExitStack() as stack:
        calls = {
            name: stack.enter_context(patch.object(samples, name, wraps=vars(samples)[name]))
            for name in counted
        }
        everything(folder)
    for name, what in counted.items():
        of = FILES if name == "open_file" else FILES * SAMPLES
        show(what, f"{calls[name].call_count:,} for {of:,}")


def leaderboard(folder: Path) -> None:
    """Rank the models."""
    report.rank(report.collect([folder]))


def open_page(page: Path) -> None:
    """Print how long it takes until the first sample is there to be read."""
    with sync_playwright() as playwright:
        path = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        tab = browser.new_page()
        start = perf_counter()
        tab.goto(page.as_uri())
        tab.locator("#sample .output").first.wait_for()
        show("Chromium opens the page", f"{perf_counter() - start:.2f} s")
        browser.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for number in range(FILES):
            write_run(folder, number)
        plain = apart(parse, folder).processor
        for work in (tables, leaderboard, marks, everything):
            cost = apart(work, folder)
            figure = f"{cost.wall:.1f} s, {cost.megabytes:.0f} MB"
            show(work.__name__, figure, ratio=plain / cost.processor, to="JSON alone")
        count_reads(folder)
        page = folder / "out" / report.PAGE
        show("the page", f"{page.stat().st_size / 1e6:.1f} MB")
        if shutil.which("chromium"):
            open_page(page)
