"""How soon the page of a hundred thousand samples is there, how large it is, and how soon open."""

import json
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from spor_tasks.aspects.arms import ARMS
from spor_tasks.report import PAGE
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
            file.write(json.dumps(sample_row(town(index), [output], {"parent": value})) + "\n")


@pytest.mark.benchmark
def test_a_page_of_a_hundred_thousand_samples(tmp_path: Path) -> None:
    for number in range(FILES):
        write_run(tmp_path, number)
    script = "import sys; from spor_tasks.cli import main; sys.exit(main())"
    command = [
        sys.executable,
        "-c",
        script,
        "report",
        str(tmp_path),
        "--out",
        str(tmp_path / "out"),
    ]
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - start
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    page = tmp_path / "out" / PAGE
    print(f"\n`spor report` of {FILES} files with {FILES * SAMPLES:,} samples:")
    print(f"{wall:.1f} s of 20 ({used.ru_utime + used.ru_stime:.1f} of processors)")
    print(
        f"{used.ru_maxrss / 1024:.0f} MB of 1,000, the page {page.stat().st_size / 1e6:.1f} of 30"
    )
    for opened in open_page(page):
        print(f"Chromium opens it in {opened:.2f} s of 2 ({2 / opened:.1f}x)")


def open_page(page: Path) -> Iterator[float]:
    """Yield how long it takes, three times, until the first sample is there to be read."""
    chromium = shutil.which("chromium")
    if chromium is None:
        print("no Chromium here to open the page in")
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for _ in range(3):
            tab = browser.new_page()
            start = time.perf_counter()
            tab.goto(page.as_uri())
            tab.locator("#sample .output").first.wait_for()
            yield time.perf_counter() - start
            tab.close()
        browser.close()
