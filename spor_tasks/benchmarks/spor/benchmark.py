"""SPOR as a benchmark: its sets, its tables, and the paper's numbers beside them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from spor_tasks.benchmarks.spor import paper, sets, statistics, tables
from spor_tasks.core.contracts import Figures, SetName, SetSpec
from spor_tasks.core.sample import SplitPair
from spor_tasks.results.comparisons import Comparison
from spor_tasks.results.grid import Grid


class Spor:
    """What the registry knows as ``spor``; the methods are described at the contract."""

    name = sets.BENCHMARK
    title = "SPOR"
    groups: Mapping[str, str] = sets.TITLES
    source = "https://github.com/xzy-xzy/SPOR"

    @property
    def paper(self) -> str:
        """Where the paper's numbers are from."""
        return str(paper.paper_facts()["source"])

    def sets(self) -> tuple[SetSpec, ...]:
        """Return the shipped sets."""
        return sets.specs()

    def find(self, name: SetName) -> SetSpec:
        """Return what is said of sets, shipped or of a corpus of one's own."""
        return sets.find(name)

    def load(self, name: SetName) -> SplitPair:
        """Return shipped sets."""
        return sets.load(name)

    def recipe(self, name: SetName) -> Mapping[str, Any] | None:
        """Return how shipped sets were searched."""
        return sets.recipe(name)

    def statistics(self) -> Iterator[Figures]:
        """Yield what corpora and released sets come to, beside the paper's numbers."""
        return statistics.statistics()

    def grids(self, rows: Sequence[Comparison]) -> Iterator[Grid]:
        """Yield the tables of one aspect, corpus and kind of sets, as the paper has them."""
        return tables.grids(rows)

    def published(self, rows: Iterable[Comparison]) -> tuple[Comparison, ...]:
        """Return the paper's rows for the tasks of ours that ask the same."""
        return paper.beside(rows)


SPOR = Spor()
