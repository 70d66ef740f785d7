"""What a benchmark adds for its readers: titles, tables, and its paper's numbers."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from spor_tasks.core.contracts import Sets, SetSpec
from spor_tasks.core.registry import registry

if TYPE_CHECKING:  # these know the benchmarks' order
    from spor_tasks.results.comparisons import Comparison
    from spor_tasks.results.grid import Grid


class Benchmark(Sets, Protocol):
    """A benchmark, whole: its sets (:class:`~spor_tasks.core.contracts.Sets`) and its tables."""

    @property
    def title(self) -> str:
        """The name that readers know."""

    @property
    def source(self) -> str:
        """The address of what was published."""

    @property
    def paper(self) -> str:
        """Where the paper's numbers are from, in words; empty where none are shown."""

    def grids(self, rows: Sequence["Comparison"]) -> Iterator["Grid"]:
        """Yield the tables of the rows of one aspect, corpus, kind of sets and way of asking."""

    def published(self, rows: Iterable["Comparison"]) -> tuple["Comparison", ...]:
        """Return the paper's rows for those that ask the same, on the same sets."""


def benchmark(name: str) -> Benchmark:
    """Return a registered benchmark.

    Raises:
        ConfigError: there is no such benchmark, or it lacks a part of the contract.
    """
    found: Benchmark = registry().get("benchmark", name)
    return found


def place_of(name: str, aspect: str) -> tuple[int, int]:
    """Return where an aspect stands among those of all benchmarks."""
    return registry().names("benchmark").index(name), list(benchmark(name).groups).index(aspect)


def group_title(spec: SetSpec) -> str:
    """Return the title of the aspect that sets are about."""
    return benchmark(spec.benchmark).groups[spec.name.aspect]
