"""The titles and tables of a benchmark, and its paper's numbers."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

from spor_tasks.aspects.named import place_of
from spor_tasks.core.contracts import Sets
from spor_tasks.core.foreign import ForeignError
from spor_tasks.core.registry import registry
from spor_tasks.results.grid import Grid, section_title
from spor_tasks.results.rows import Comparison
from spor_tasks.results.tables import by_metric

_log = logging.getLogger(__name__)


class Benchmark(Sets, Protocol):
    """A whole benchmark: its sets (:class:`~spor_tasks.core.contracts.Sets`) and its tables."""

    @property
    def title(self) -> str:
        """The name that readers know."""

    @property
    def source(self) -> str:
        """The address of what was published."""

    @property
    def paper(self) -> str:
        """Where the paper's numbers are from, in words; empty if none are shown."""

    @property
    def introduction(self) -> str:
        """What it tests, and what to look at first."""

    @property
    def legends(self) -> Mapping[str, str]:
        """What the arms and columns of its tables are, by aspect."""

    def grids(self, rows: Sequence[Comparison]) -> Iterator[Grid]:
        """Yield the tables of the rows of one aspect, corpus, kind of sets and way of asking."""

    def overall(self, rows: Sequence[Comparison]) -> Iterator[Grid]:
        """Yield further tables of the rows of all corpora and kinds of sets."""

    def published(self, rows: Iterable[Comparison]) -> tuple[Comparison, ...]:
        """Return the paper's rows for those that ask the same, on the same sets."""


def benchmark(name: str) -> Benchmark:
    """Return a registered benchmark.

    Raises:
        ConfigError: the benchmark is not registered, or it lacks a part of the contract.
    """
    entry: Benchmark = registry().get("benchmark", name)
    return entry


@dataclass(frozen=True, slots=True)
class Table:
    """All comparisons of one aspect of a benchmark, its paper's own last.

    ``rows`` has a row for each split, and ``pooled`` one for all splits together.
    """

    benchmark: str
    aspect: str
    rows: tuple[Comparison, ...]
    pooled: tuple[Comparison, ...]


def tables(rows: Iterable[Comparison], pooled: Iterable[Comparison]) -> tuple[Table, ...]:
    """Return the rows of each aspect with the published ones; ``pooled`` are of all splits."""
    rows = tuple(rows)
    paper = [row for name in registry().names("benchmark") for row in _published(name, rows)]
    shown = [row for row in (*rows, *paper) if row.kind == "published" or not row.spec.is_pooled]
    aspects = {(row.spec.benchmark, row.aspect) for row in rows}
    return tuple(
        Table(*aspect, _of(aspect, [*rows, *paper]), _of(aspect, [*shown, *pooled]))
        for aspect in sorted(aspects, key=lambda aspect: place_of(*aspect))
    )


def _published(name: str, rows: Sequence[Comparison]) -> Sequence[Comparison]:
    """Return the rows of the papers that belong beside these; none if another package fails."""
    try:
        return tuple(benchmark(name).published(rows))
    except ForeignError as error:
        _warn(str(error))
        return ()


@cache  # once
def _warn(what: str) -> None:
    _log.warning("%s", what)


def _of(aspect: tuple[str, str], rows: Iterable[Comparison]) -> tuple[Comparison, ...]:
    return tuple(row for row in rows if (row.spec.benchmark, row.aspect) == aspect)


def grids(table: Table) -> tuple[Grid, ...]:
    """Return a table as it is printed: grids for each corpus, kind of sets and way of asking."""
    sections: dict[tuple[str, str, str], list[Comparison]] = defaultdict(list)
    for row in table.pooled:
        name = row.spec.name
        sections[name.corpus, name.protocol, row.variant].append(row)
    by_section = [rows for _, rows in sorted(sections.items())]
    found: list[Grid] = []
    if table.benchmark in registry().names("benchmark"):
        layouts = benchmark(table.benchmark)
        found = [grid for rows in by_section for grid in layouts.grids(rows)]
        found += layouts.overall(table.pooled)
    else:
        found = [by_metric(section_title(rows[0]), rows) for rows in by_section]
    legend = table.pooled[0].spec.about.legend
    return tuple(replace(grid, legend=grid.legend or legend) for grid in found)
