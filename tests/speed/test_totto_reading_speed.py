"""How fast a file of ToTTo's size is read, in order and at random, and in how much memory."""

import json
import os
import subprocess
import sys
from itertools import cycle, islice
from pathlib import Path

import pytest

PUBLISHED = 120_761 + 7_700 + 7_700
# A tenth of the published examples, or all of them (1.5 GB).
EXAMPLES = PUBLISHED if os.environ.get("SPOR_SOAK") else PUBLISHED // 10

# In a process of its own, so that nothing else counts.
SCRIPT = """
import json, resource, sys, time
from pathlib import Path
from spor_tasks.corpora.totto import reader

path, all_of = Path(sys.argv[1]), int(sys.argv[2])

def measured(name, read):
    wall, processor = time.perf_counter(), time.process_time()
    count = read()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    wall, processor = (seconds * all_of / count for seconds in (wall, processor))
    print(f"{name:24}{wall:6.1f} s wall {processor:6.1f} s processor for {all_of:,}")

def plain():
    with path.open("rb") as file:
        return sum(1 for line in file if json.loads(line))

measured("json alone", plain)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
measured("samples, of 20 s", lambda: sum(1 for _ in reader.read(path)))
samples = reader.read(path)
measured("index", lambda: len(samples))
measured("digest", lambda: samples.sha256 and len(samples))
measured("samples, at random", lambda: sum(1 for i in range(0, len(samples), 7) if samples[i]))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"peak memory: {peak:.0f} MB of 1,500 MB; {before:.0f} MB with json alone")
"""


@pytest.mark.benchmark
def test_reading_a_file_of_the_published_size(totto_dir: Path, tmp_path: Path) -> None:
    examples = [json.loads(line) for line in (totto_dir / "dev_25.jsonl").read_bytes().splitlines()]
    path = tmp_path / "totto.jsonl"
    with path.open("w") as file:
        for number, example in enumerate(islice(cycle(examples), EXAMPLES)):
            file.write(json.dumps(example | {"example_id": number - 60_000}) + "\n")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, path, str(PUBLISHED)],
        check=True,
        capture_output=True,
        text=True,
    )
    path.unlink()
    print(f"\n{path.name}: {EXAMPLES:,} examples\n{done.stdout}")
