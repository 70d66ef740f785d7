"""LogicNLG: programs that run, sentences that are searched and linked, and SP-Acc."""

from pathlib import Path
from statistics import median

from docs.benchmarks.measure import folder, seconds, show, show_pace
from spor_tasks.core.files import read_rows
from spor_tasks.core.table import parse_table
from spor_tasks.corpora.logicnlg import reader
from spor_tasks.corpora.logicnlg.columns import typed
from spor_tasks.corpora.logicnlg.linearize import table_of, typed_table
from spor_tasks.metrics.programs.execute import verdict
from spor_tasks.metrics.programs.linking import Linker
from spor_tasks.metrics.programs.search import search
from spor_tasks.metrics.programs.states import Stop
from spor_tasks.metrics.sp_acc import SP_ACC
from tests.support.linked import mentions

JUDGED = 40


def sentences(data: Path) -> None:
    """Link the references of the test set, and judge some of them."""
    samples = reader.read_part("test", data)
    some = samples[:: len(samples) // JUDGED]
    SP_ACC.judge_one(samples[0], "the dictionary is loaded")

    def link() -> None:
        linkers = dict[str, Linker]()
        for sample in samples:
            table, title = str(sample.about("name")), str(sample.about("title"))
            if table not in linkers:
                linkers[table] = Linker(table_of(sample), typed_table(sample), title)
            linkers[table].link(sample.target)

    show("sentences linked, first", f"{len(samples) / seconds(link):,.0f} /s")
    show("sentences linked, again", f"{len(samples) / seconds(link):,.0f} /s")
    took = seconds(lambda: SP_ACC.judge(some, [(sample.target,) for sample in some]))
    show("sentences judged by SP-Acc", f"{len(some) / took:.1f} /s")


def programs(data: Path, golden: Path) -> None:
    """Run the programs of the published search, and search again."""
    text_of = reader.table_texts(data)
    names = [str(sample.about("name")) for sample in reader.read_part("test", data)]
    raw = [parse_table(text_of(name)) for name in names]
    took = seconds(lambda: [typed(table) for table in raw])
    show("types of a table's columns", f"{1000 * took / len(raw):.2f} ms")
    found = [row for _, row in read_rows(golden / "programs_search.jsonl.gz")]
    ids = {row["table_id"] for row in found}
    tables = {name: typed(parse_table(text_of(name))) for name in ids}
    runs = [(row["program"], tables[row["table_id"]]) for row in found]
    show_pace("programs", len(runs), "programs", lambda: [verdict(*run) for run in runs])
    each, stops = [], []
    for _, row in read_rows(golden / "search_trace.jsonl.gz"):
        table, mentioned = typed(parse_table(text_of(row["table_id"]))), mentions(row)
        each.append(seconds(lambda: stops.append(search(table, mentioned).stop)))  # noqa: B023
    show("sentences searched", f"{len(each) / sum(each):.1f} /s")
    show("a search, median and longest", f"{1000 * median(each):.0f} ms, {max(each):.1f} s")
    show("searches that were cut", f"{stops.count(Stop.STATES)} of {len(each)}")


if __name__ == "__main__":
    if data := folder("LOGICNLG_DATA_DIR"):
        sentences(data)
        if (golden := data.parent.parent / "golden" / "logicnlg").is_dir():
            programs(data, golden)
