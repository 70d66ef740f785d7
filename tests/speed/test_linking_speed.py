"""How many sentences are linked, and judged by SP-Acc, in a second on one core."""

from pathlib import Path
from time import process_time

import pytest

from spor_tasks.corpora.logicnlg import reader
from spor_tasks.corpora.logicnlg.linearize import table_of, typed_table
from spor_tasks.corpora.logicnlg.linking import Linker
from spor_tasks.metrics.sp_acc import SP_ACC

pytestmark = pytest.mark.benchmark

JUDGED = 40


def test_sentences(logicnlg_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    samples = reader.read_part("test", logicnlg_dir)
    SP_ACC.judge_one(samples[0], "the dictionary is loaded")

    def link_all() -> None:
        linkers = dict[str, Linker]()
        for sample in samples:
            table, title = str(sample.about("name")), str(sample.about("title"))
            if table not in linkers:
                linkers[table] = Linker(table_of(sample), typed_table(sample), title)
            linkers[table].link(sample.target)

    start = process_time()
    link_all()
    first = process_time() - start
    start = process_time()
    link_all()
    again = process_time() - start
    some = samples[:: len(samples) // JUDGED]
    start = process_time()
    SP_ACC.judge(some, [(sample.target,) for sample in some])
    judged = process_time() - start
    with capsys.disabled():
        print(f"\nlinked: {len(samples) / first:,.0f}/s, again {len(samples) / again:,.0f}/s")
        print(f"judged: {len(some) / judged:.1f}/s")
