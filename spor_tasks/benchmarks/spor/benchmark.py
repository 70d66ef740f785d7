"""SPOR as a benchmark: its sets, its tables, and the paper's numbers beside them."""

from collections.abc import Mapping

from spor_tasks.benchmarks.spor import paper, tables
from spor_tasks.benchmarks.spor import sets as declared


class Spor:
    """What the registry knows as ``spor``; the methods are described at the contract."""

    name = declared.BENCHMARK
    title = "SPOR"
    groups: Mapping[str, str] = declared.TITLES
    source = "https://github.com/xzy-xzy/SPOR"

    sets = staticmethod(declared.specs)
    find = staticmethod(declared.find)
    load = staticmethod(declared.load)
    published = staticmethod(paper.beside)
    grids = staticmethod(tables.grids)

    @property
    def paper(self) -> str:
        """Where the paper's numbers are from."""
        return str(paper.paper_facts()["source"])


SPOR = Spor()
