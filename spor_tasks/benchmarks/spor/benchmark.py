"""SPOR as a benchmark: its sets, its tables, and the paper's numbers beside them."""

from collections.abc import Mapping
from functools import partial

from spor_tasks.benchmarks.published import beside
from spor_tasks.benchmarks.spor import sets as declared
from spor_tasks.benchmarks.spor import tables


class Spor:
    """The registered benchmark ``spor``; the contract describes its methods."""

    name = declared.BENCHMARK
    title = "SPOR"
    groups: Mapping[str, str] = declared.TITLES
    source = "https://github.com/xzy-xzy/SPOR"
    paper = (
        "Xu & Wang 2024, Tables 2, 4, 5, 6; mean of three seeds; † and ‡ as printed there: two "
        "levels of significance of the difference, whose caption the text does not keep (commonly "
        "p < 0.05 and p < 0.01)"
    )

    sets = staticmethod(declared.specs)
    find = staticmethod(declared.find)
    load = staticmethod(declared.load)
    published = staticmethod(partial(beside, declared.BENCHMARK))
    grids = staticmethod(tables.grids)


SPOR = Spor()
