"""The paper's tables with a column for each metric, and tables of samples beside their twins."""

from collections.abc import Iterator, Sequence

from spor_tasks.results.facts import GAP
from spor_tasks.results.grid import Grid, full_title, section_title
from spor_tasks.results.rows import Comparison
from spor_tasks.results.tables import by_metric

_PARTS = ("main", "cwio", "performance")  # of order invariance, in the paper's order
_PERFORMANCE = {
    "parent": "Performance",
    "parent_full_table": "Performance, full table",
    "chrf": "Performance, chrF",
    "coverage": "Performance, coverage",
    "slot_errors": "Performance, slot errors",
    "facts": "Performance, facts",
}
_NOT_IN_THE_PAPER = frozenset(
    (
        *_PERFORMANCE.keys() - {"parent"},
        *("faithful_ordering_pbh", "faithful_ordering_poh", "cwio_located", "cwio_located_share"),
    )
)


def order_invariance(rows: Sequence[Comparison]) -> Iterator[Grid]:
    """Yield the paper's table, and one of other metrics."""
    title = section_title(rows[0])
    order = {part: number for number, part in enumerate(_PARTS)}
    ordered = sorted(rows, key=lambda row: (order.get(row.part or "", len(order)), row.part or ""))
    published = [row for row in ordered if row.metric not in _NOT_IN_THE_PAPER]
    further = [row for row in ordered if row.metric in _NOT_IN_THE_PAPER]
    for name, table in ((title, published), (f"{title}, other metrics", further)):
        if table:
            yield by_metric(name, table, _header)


def _header(row: Comparison) -> str:
    return _PERFORMANCE[row.metric] if row.part == "performance" else row.score.label


def with_twins(rows: Sequence[Comparison]) -> Iterator[Grid]:
    """Yield for each part a table with every score of the samples, of their twins, and the gap."""
    about = "original − twin: the same samples about known and about invented entities"
    for part in dict.fromkeys(row.part for row in rows):
        of_part = sorted((row for row in rows if row.part == part), key=_place)
        yield by_metric(full_title(of_part[0]), of_part, _header_of_twins, [about])


def _header_of_twins(row: Comparison) -> str:
    return "original − twin" if row.spec.score(row.metric).group == GAP else row.score.label


def _place(row: Comparison) -> tuple[int, int]:
    """Return where a score stands: with its twin's after it, and then the gap."""
    shown = row.spec.displayed
    return shown.index(row.spec.score(row.metric).name), shown.index(row.metric)
