"""The rows of a report by aspect, with those of the papers, and the tables of each aspect."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from spor_tasks.core.named import place_of
from spor_tasks.report.grid import Grid
from spor_tasks.report.layout import fill
from spor_tasks.report.published import published_rows
from spor_tasks.results.rows import Comparison


@dataclass(frozen=True, slots=True)
class AspectTable:
    """All comparisons of one aspect of a benchmark, its paper's own last.

    ``rows`` has a row for each split, and ``pooled`` one for all splits together.
    """

    benchmark: str
    aspect: str
    rows: tuple[Comparison, ...]
    pooled: tuple[Comparison, ...]


def tables(rows: Iterable[Comparison], pooled: Iterable[Comparison]) -> tuple[AspectTable, ...]:
    """Return the rows of each aspect with the published ones; ``pooled`` are of all splits."""
    rows = tuple(rows)
    paper = published_rows(rows)
    apart = (row for row in rows if not row.spec.sets.is_pooled)
    found: dict[tuple[str, str], tuple[list[Comparison], list[Comparison]]] = {}
    for number, of_both in enumerate(((*rows, *paper), (*apart, *paper, *pooled))):
        for row in of_both:
            aspect = row.spec.benchmark, row.spec.sets.aspect
            found.setdefault(aspect, ([], []))[number].append(row)
    ordered = sorted(found.items(), key=lambda item: place_of(*item[0]))
    return tuple(AspectTable(*aspect, *map(tuple, of_both)) for aspect, of_both in ordered)


def grids(table: AspectTable) -> tuple[Grid, ...]:
    """Return a table as it is printed: grids for each corpus, kind of sets and way of asking."""
    sections: dict[tuple[str, str, str], list[Comparison]] = defaultdict(list)
    for row in table.pooled:
        sets = row.spec.sets
        sections[sets.corpus, sets.protocol, row.variant].append(row)
    found = [
        grid
        for _, rows in sorted(sections.items())
        for grid in fill(rows[0].spec.about.tables, rows)
    ]
    if table.benchmark == "compmctg":
        from spor_tasks.report.averages import averaged

        found += averaged(table.pooled)
    legend = table.pooled[0].spec.about.legend
    return tuple(replace(grid, legend=grid.legend or legend) for grid in found)
