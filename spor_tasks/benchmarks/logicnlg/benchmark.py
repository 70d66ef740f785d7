"""LogicNLG as a benchmark: its sets, its table, and the paper's numbers beside it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from spor_tasks.benchmarks.logicnlg import paper, sets, statistics
from spor_tasks.core.contracts import Figures, SetName, SetSpec
from spor_tasks.core.sample import SplitPair
from spor_tasks.results.comparisons import Comparison
from spor_tasks.results.grid import Grid, by_metric, label, section_title


class LogicNLG:
    """What the registry knows as ``logicnlg``; the methods are described at the contract."""

    name = sets.BENCHMARK
    title = sets.TITLE
    groups: Mapping[str, str] = {sets.BENCHMARK: sets.TITLE}
    source = "https://github.com/wenhuchen/LogicNLG"

    @property
    def paper(self) -> str:
        """Where the paper's numbers are from."""
        return str(paper.paper_facts()["source"])

    def sets(self) -> tuple[SetSpec, ...]:
        """Return the shipped sets."""
        return sets.specs()

    def find(self, name: SetName) -> SetSpec:
        """Return what is said of sets."""
        return sets.find(name)

    def load(self, name: SetName) -> SplitPair:
        """Return shipped sets."""
        return sets.load(name)

    def recipe(self, name: SetName) -> Mapping[str, Any] | None:  # noqa: ARG002 - none is searched
        """Return None: no set was searched."""
        return None

    def statistics(self) -> Iterator[Figures]:
        """Yield what the corpus comes to, beside the paper's numbers."""
        return statistics.statistics()

    def grids(self, rows: Sequence[Comparison]) -> Iterator[Grid]:
        """Yield one table: all scores of a model in a row, as the paper's Table 2."""
        ordered = sorted(rows, key=lambda row: _PARTS.index(row.part))
        yield by_metric(section_title(rows[0]), ordered, _header)

    def published(self, rows: Iterable[Comparison]) -> tuple[Comparison, ...]:
        """Return the paper's rows for the tasks of ours that ask the same."""
        return paper.beside(rows)


_PARTS = ("ppl", None, "adversarial", "c2f", "c2f_adversarial")


def _header(column: tuple[str | None, str]) -> str:
    part, metric = column
    return f"C2F {label(metric)}" if (part or "").startswith("c2f") else label(metric)


LOGICNLG = LogicNLG()
