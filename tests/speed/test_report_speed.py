"""How long a report of many files takes, and how much memory."""

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spor_tasks.aspects.arms import ARMS
from spor_tasks.core.sample import Sample, Triple
from tests.support.result_files import result_content, sample_row

FILES, SAMPLES = 50, 2_000
TARGET = 20
TASK = "spor_systematicity_mini"
REFERENCES = tuple(f"Greyport, by the Cold Sound, has a harbour. It is {i}." * 4 for i in range(3))
TOLD = Sample("", "mini", (Triple("Greyport", "sea", "Cold_Sound"),) * 4, REFERENCES)


def write_run(folder: Path, number: int) -> int:
    """Write a result and its samples, and return the bytes of these."""
    rng = random.Random(number)
    row = sample_row(TOLD, ["Greyport has the Old Basin. " * 6], {"parent": 0.5})
    model, rest = divmod(number, 10)
    arm, seed = ARMS["systematicity"][rest % 2], rest // 2
    values = [rng.uniform(0, 100) for _ in range(SAMPLES)]
    scores = {"parent": sum(values) / SAMPLES, "parent_full_table": sum(values) / SAMPLES}
    content = result_content(
        arm=arm, seed=seed, model=f"model-{model}", n=SAMPLES, task=TASK, scores=scores
    )
    (folder / f"results_{number}.json").write_text(json.dumps(content))
    file = folder / f"samples_{TASK}_{number}.jsonl"
    lines = []
    for index, value in enumerate(values):
        own = {"parent": value, "parent_full_table": value, "metrics": list(scores)}
        doc = row["doc"] | {"id": f"{index:016x}"}
        lines.append(json.dumps(row | own | {"doc": doc}) + "\n")
    file.write_text("".join(lines))
    return file.stat().st_size


SCRIPTS = {
    "tables": "found = report.collect([Path(sys.argv[1])])",
    "all files, the page among them": (
        "found = report.write([Path(sys.argv[1])], Path(sys.argv[1]) / 'out')"
    ),
    "leaderboard": "found = report.rank(report.collect([Path(sys.argv[1])]))",
}


@pytest.mark.benchmark
def test_fifty_files_with_a_hundred_thousand_samples(tmp_path: Path) -> None:
    size = sum(write_run(tmp_path, number) for number in range(FILES))
    print(f"\n{FILES} files, {FILES * SAMPLES:,} samples, {size / 1e6:.0f} MB")
    for name, work in SCRIPTS.items():
        script = (
            "import resource, sys; from pathlib import Path; from spor_tasks import report\n"
            f"{work}\nassert not any(problem.lost for problem in found.problems)\n"
            "who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)\n"
            "used = [resource.getrusage(each) for each in who]\n"
            "print(sum(u.ru_utime + u.ru_stime for u in used), max(u.ru_maxrss for u in used))"
        )
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path)],
            check=True,
            capture_output=True,
            text=True,
        )
        wall = time.perf_counter() - start
        processor, kilobytes = map(float, done.stdout.split())
        print(
            f"{name}: {wall:.1f} s of {TARGET} ({processor:.1f} of processor), "
            f"{kilobytes / 1024:.0f} MB of 1,000 in the largest process"
        )
