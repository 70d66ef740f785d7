"""How fast both corpora and the published sets are read, and in how much memory."""

import subprocess
import sys
from pathlib import Path

import pytest

# In a process of its own, so that nothing else counts. The second time is the processor's own,
# which a busy machine does not stretch.
SCRIPT = """
import resource, sys, time
from functools import partial
from pathlib import Path
from spor_tasks.benchmarks.spor import released
from spor_tasks.corpora.e2e import reader as e2e
from spor_tasks.corpora.webnlg import WEBNLG
from spor_tasks.corpora.webnlg import reader as webnlg

folder, held = Path(sys.argv[1]), []

def measured(name, read):
    wall, processor = time.perf_counter(), time.process_time()
    samples = read()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"{name:22}{len(samples):7,} samples {wall:6.2f} s wall {processor:6.2f} s processor")
    held.append(samples)
    return wall

def systematicity(corpus):
    pair = released.load("systematicity", corpus, folder)
    return [sample for split in pair.splits for sample in split.samples]

wall = sum([
    measured("WebNLG, train", partial(webnlg.read_train, folder)),
    measured("WebNLG, test", partial(WEBNLG.part, "test", folder)),
    measured("E2E, train", partial(e2e.read_train, folder)),
    measured("E2E, test", partial(e2e.read_test, folder)),
])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"both corpora: {wall:.2f} s of 3 s ({wall / 3:.0%})")
print(f"peak memory: {peak:.0f} MB of 500 MB ({peak / 500:.0%})")
for corpus in released.CORPORA:
    measured(f"{corpus}, released", partial(systematicity, corpus))
"""


@pytest.mark.benchmark
@pytest.mark.real_data
def test_reading_both_corpora(data_dir: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, data_dir], check=True, capture_output=True, text=True
    )
    print(f"\n{done.stdout}")
