"""The paper's four tables (Tables 2, 4, 5 and 6): arms or metrics beside each other."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from spor_tasks.results.comparisons import Comparison
from spor_tasks.results.grid import Grid, by_arm, by_metric, label, section_title

_PARTS = ("main", "cwio", "performance")  # of order invariance, in the paper's order
_PERFORMANCE = {
    "parent": "Performance",
    "parent_full_table": "Performance, full table",
    "chrf": "Performance, chrF",
    "coverage": "Performance, coverage",
    "facts": "Performance, facts",
}
_NOT_IN_THE_PAPER = frozenset(
    {
        "parent_full_table",
        "chrf",
        "coverage",
        "facts",
        "faithful_ordering_pbh",
        "faithful_ordering_poh",
        "cwio_located",
        "cwio_located_share",
    }
)


def grids(rows: Sequence[Comparison]) -> Iterator[Grid]:
    """Yield the tables of the rows of one aspect, corpus, kind of sets and way of asking."""
    yield from _ARRANGEMENTS[rows[0].aspect](rows)


def _by_arm(rows: Sequence[Comparison]) -> Iterator[Grid]:
    yield by_arm(rows, "N")


def _order_invariance(rows: Sequence[Comparison]) -> Iterator[Grid]:
    title = section_title(rows[0])
    order = {part: number for number, part in enumerate(_PARTS)}
    ordered = sorted(rows, key=lambda row: (order.get(row.part or "", len(order)), row.part or ""))
    published = [row for row in ordered if row.metric not in _NOT_IN_THE_PAPER]
    others = [row for row in ordered if row.metric in _NOT_IN_THE_PAPER]
    for name, found in ((title, published), (f"{title}, other metrics", others)):
        if found:
            yield by_metric(name, found, _header)


def _header(column: tuple[str | None, str]) -> str:
    part, metric = column
    return _PERFORMANCE[metric] if part == "performance" else label(metric)


def _rule_learnability(rows: Sequence[Comparison]) -> Iterator[Grid]:
    yield by_metric(section_title(rows[0]), rows)


_ARRANGEMENTS: Mapping[str, Callable[[Sequence[Comparison]], Iterator[Grid]]] = {
    "systematicity": _by_arm,
    "productivity": _by_arm,
    "order_invariance": _order_invariance,
    "rule_learnability": _rule_learnability,
}
