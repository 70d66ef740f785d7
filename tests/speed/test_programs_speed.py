"""How many programs run, and how many sentences are searched for them, in a second on one core."""

from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time

import pytest

from spor_tasks.core.table import parse_table
from spor_tasks.corpora.logicnlg import reader
from spor_tasks.corpora.logicnlg.columns import TypedTable, typed
from spor_tasks.metrics.programs.execute import verdict
from spor_tasks.metrics.programs.search import search
from spor_tasks.metrics.programs.states import Stop
from tests.support import golden
from tests.support.linked import mentions

pytestmark = pytest.mark.benchmark


def seconds(work: Callable[[], object], times: int = 20) -> float:
    """Return the processor's time of the fastest run."""
    taken = []
    for _ in range(times):
        start = process_time()
        work()
        taken.append(process_time() - start)
    return min(taken)


@pytest.fixture(scope="module")
def tables(logicnlg_dir: Path) -> Callable[[str], TypedTable]:
    text_of = reader.table_texts(logicnlg_dir)
    return lambda name: typed(parse_table(text_of(name)))


@pytest.fixture(scope="module")
def verdicts_dir(golden_dir: Path) -> Path:
    return golden_dir / "logicnlg"


def test_programs(tables: Callable[[str], TypedTable], verdicts_dir: Path) -> None:
    records = [
        *golden.read(verdicts_dir, "programs_search", rows=5786),
        *golden.read(verdicts_dir, "programs_bootstrap", rows=375),
    ]
    names = {record["table_id"] for record in records}
    typed = {name: tables(name) for name in names}
    programs = [(record["program"], typed[record["table_id"]]) for record in records]

    def run_all() -> None:
        for program, table in programs:
            verdict(program, table)

    print(f"{len(programs) / seconds(run_all):,.0f} programs/s")


def test_searches(tables: Callable[[str], TypedTable], verdicts_dir: Path) -> None:
    records = golden.read(verdicts_dir, "search_trace", rows=373)
    inputs = [(tables(record["table_id"]), mentions(record)) for record in records]
    each, ends, made = [], [], 0
    for table, mentioned in inputs:
        start = process_time()
        found = search(table, mentioned)
        each.append(process_time() - start)
        ends.append(found.stop)
        made += found.states
    print(
        f"{len(each) / sum(each):.1f} sentences/s, {made / sum(each):,.0f} states/s, "
        f"median {1000 * median(each):.0f} ms, longest {max(each):.1f} s, "
        f"{ends.count(Stop.STATES)} of {len(each)} cut"
    )


def test_types_of_columns(logicnlg_dir: Path) -> None:
    text_of = reader.table_texts(logicnlg_dir)
    samples = reader.read_part("test", logicnlg_dir)
    raw = [parse_table(text_of(name)) for name in {str(sample.about("name")) for sample in samples}]
    taken = seconds(lambda: [typed(table) for table in raw], times=3)
    print(f"{1000 * taken / len(raw):.2f} ms a table")
