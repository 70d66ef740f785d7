"""Which number stands where in the paper's four tables, before any format. No computing here."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

from spor_tasks.core.sample import ARMS
from spor_tasks.results.comparisons import Cell, Comparison, Table, metrics_of, sorted_seeds
from spor_tasks.results.evidence import CORRELATIONS, Interval


class Number(NamedTuple):
    """A cell of a grid: a number with its interval and mark, or none, and the notes on it."""

    value: str
    interval: str = ""
    mark: str = ""
    notes: tuple[int, ...] = ()


Content = str | Number
"""What a cell of a grid shows; a text may be of anybody's writing."""

Line = tuple[Content, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """One table as it is printed: our ``runs``, then the ``paper``'s rows, and numbered notes.

    ``caption`` says what holds of the whole table.
    """

    title: str
    caption: str
    header: tuple[str, ...]
    runs: tuple[Line, ...]
    paper: tuple[Line, ...]
    notes: tuple[str, ...]


TITLES: Mapping[str, str] = {
    "systematicity": "Systematicity",
    "productivity": "Productivity",
    "order_invariance": "Order invariance",
    "rule_learnability": "Rule learnability",
}
"""The aspects' names in titles, in the paper's order."""

LABELS: Mapping[str, str] = {
    "parent": "PARENT",
    "parent_full_table": "PARENT, full table",
    "chrf": "chrF",
    "coverage": "Coverage",
    "facts": "Facts",
    "fidelity_pbh": "Fidelity PBH",
    "fidelity_poh": "Fidelity POH",
    "ordering_pbh": "Ordering PBH",
    "ordering_poh": "Ordering POH",
    "faithful_ordering_pbh": "Faithful ordering PBH",
    "faithful_ordering_poh": "Faithful ordering POH",
    "cwio": "CWIO",
    "cwio_located": "CWIO, located",
    "cwio_located_share": "located",
    "copy_rule_00": "(0, 0)",
    "copy_rule_01": "(0, 1)",
    "copy_rule": "(1, 0)",
    "copy_rule_11": "(1, 1)",
    "copy_rule_whole_word": "(1, 0), whole words",
}
"""The metrics' names in headers."""

_BESIDE = (
    "parent_full_table",
    "chrf",
    "coverage",
    "facts",
    "faithful_ordering_pbh",
    "faithful_ordering_poh",
    "cwio_located",
    "cwio_located_share",
)
_PERFORMANCE = {
    "parent": "Performance",
    "parent_full_table": "Performance, full table",
    "chrf": "Performance, chrF",
    "coverage": "Performance, coverage",
    "facts": "Performance, facts",
}
_CORPORA = {"webnlg": "WebNLG", "e2e": "E2E"}
_SOURCES = {
    "seeds": "interval over training seeds alone, by Student's t",
    "stderr": "interval from lm-eval's standard error",
}
_PARTS = ("main", "cwio", "performance")  # of order invariance, in the paper's order


def grids(table: Table) -> tuple[Grid, ...]:
    """Return a table as it is printed: a grid for each corpus, kind of sets and way of asking."""
    sections: dict[tuple[str, str, str], list[Comparison]] = defaultdict(list)
    for row in table.rows:
        sections[row.corpus, row.protocol, row.variant].append(row)
    arrange = _ARRANGEMENTS.get(table.aspect, _by_arm)
    return tuple(
        grid
        for _, rows in sorted(sections.items())
        for grid in arrange(section_title(rows[0]), rows)
    )


class _Section(Protocol):
    @property
    def aspect(self) -> str: ...
    @property
    def corpus(self) -> str: ...
    @property
    def protocol(self) -> str: ...
    @property
    def variant(self) -> str: ...
    @property
    def part(self) -> str | None: ...


def section_title(row: _Section) -> str:
    """Return the words for a row's aspect, corpus, kind of sets and way of asking."""
    corpus = _CORPORA.get(row.corpus, row.corpus)
    told = [f"{TITLES[row.aspect]}: {corpus}", f"{row.protocol} sets", row.variant]
    return ", ".join(filter(None, told))


def full_title(row: _Section) -> str:
    """Return the words for a row's task, its part included."""
    part = f"N = {row.part[1:]}" if row.aspect == "productivity" and row.part else row.part
    return ", ".join(filter(None, [section_title(row), part]))


class _Notes:
    """Numbers the reasons for what is missing, each once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def numbers(self, *reasons: str | None) -> tuple[int, ...]:
        told = (reason for reason in reasons if reason)
        return tuple(sorted(self._numbers.setdefault(r, len(self._numbers) + 1) for r in told))

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(self._numbers)


# --- Systematicity and productivity: an arm a column ----------------------------------------------


def _by_arm(title: str, rows: Sequence[Comparison]) -> Iterator[Grid]:
    arms = ARMS[rows[0].aspect]
    parts = any(row.part for row in rows)
    notes = _Notes()

    def line(row: Comparison) -> Line:
        as_is = () if row.published else (_cell(row.as_is, row.metric, notes),)
        return (
            row.name,
            *([row.part.removeprefix("n") if row.part else ""] if parts else ()),
            LABELS[row.metric],
            *(as_is or ("",)),
            *(_cell(cell, row.metric, notes) for cell in row.arms),
            _difference(row, notes),
            _samples(row),
            _seeds([row]),
        )

    metrics = metrics_of(rows[0].aspect, rows[0].part)
    ordered = sorted(rows, key=lambda row: (row.part or "", metrics.index(row.metric)))
    runs, paper = _split(ordered, line)
    yield Grid(
        title,
        "",
        (
            "model",
            *(("N",) if parts else ()),
            "metric",
            "as is",
            *(arm.capitalize() for arm in arms),
            " − ".join(arm.capitalize() for arm in arms),
            "n",
            "seeds",
        ),
        runs,
        paper,
        notes.texts,
    )


# --- Order invariance and rule learnability: a metric a column ------------------------------------


def _order_invariance(title: str, rows: Sequence[Comparison]) -> Iterator[Grid]:
    order = {part: number for number, part in enumerate(_PARTS)}
    ordered = sorted(rows, key=lambda row: (order.get(row.part or "", len(order)), row.part or ""))
    published = [row for row in ordered if row.metric not in _BESIDE]
    others = [row for row in ordered if row.metric in _BESIDE]
    yield from _by_metric(title, published)
    yield from _by_metric(f"{title}, other metrics", others)


_Key = tuple[str | None, str]
"""A column: the part of the aspect, and the metric."""


def _by_metric(title: str, rows: Sequence[Comparison]) -> Iterator[Grid]:
    if not rows:
        return
    columns = tuple(dict.fromkeys((row.part, row.metric) for row in rows))
    models: dict[tuple[bool, str], dict[_Key, Comparison]] = defaultdict(dict)
    for row in rows:
        models[row.published, row.name][row.part, row.metric] = row
    notes = _Notes()
    runs: list[Line] = []
    paper: list[Line] = []
    for (published, *_), found in models.items():
        (paper if published else runs).extend(_model_lines(found, columns, notes))
    headers = (_header(part, metric) for part, metric in columns)
    header = ("model", "arm", *headers, "seeds")
    yield Grid(title, _counts(rows), header, tuple(runs), tuple(paper), notes.texts)


def _model_lines(
    found: Mapping[_Key, Comparison], columns: Iterable[_Key], notes: _Notes
) -> Iterator[Line]:
    """Yield the lines of one model: as it is, each of its arms, and their difference."""

    def line(label: str, number: Callable[[Comparison], Number], seeds: str = "") -> Line:
        cells = (number(found[key]) if key in found else _missing(reason, notes) for key in columns)
        return rows[0].name, label, *cells, seeds

    rows = tuple(found.values())
    reason = "not in the paper" if rows[0].published else "no result of this task"
    if any(row.as_is.values for row in rows):
        yield line("as is", lambda row: _cell(row.as_is, row.metric, notes))
        if not any(cell.values for row in rows for cell in row.arms):
            return
    arms = ARMS[rows[0].aspect]
    for index, arm in enumerate(arms):
        cell = partial(_cell_of_arm, index, notes)
        yield line(arm, cell, _seeds_of(row.arms[index] for row in rows))
    if any(row.difference for row in rows):
        yield line(" − ".join(arms), lambda row: _difference(row, notes))


def _counts(rows: Iterable[Comparison]) -> str:
    """Return the numbers of samples behind our rows, part by part where they differ."""
    sizes = tuple(dict.fromkeys((row.part, _samples(row)) for row in rows if not row.published))
    if len({n for _, n in sizes}) == 1:
        return f"n = {sizes[0][1]}"
    return f"n = {', '.join(f'{n} ({part})' if part else n for part, n in sizes)}"


def _header(part: str | None, metric: str) -> str:
    if part == "performance":
        return _PERFORMANCE[metric]
    return LABELS[metric]


_ARRANGEMENTS: Mapping[str, Callable[[str, Sequence[Comparison]], Iterator[Grid]]] = {
    "order_invariance": _order_invariance,
    "rule_learnability": _by_metric,
}


# --- Cells ----------------------------------------------------------------------------------------


def _split(
    rows: Iterable[Comparison], line: Callable[[Comparison], Line]
) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    rows = tuple(rows)
    runs = tuple(line(row) for row in rows if not row.published)
    return runs, tuple(line(row) for row in rows if row.published)


def _samples(row: Comparison) -> str:
    """Return the number of samples, and of different sets of units where those are fewer."""
    if row.clusters is None or row.clusters == row.n:
        return f"{row.n:,}"
    return f"{row.n:,} in {row.clusters:,} clusters"


def _missing(reason: str | None, notes: _Notes) -> Number:
    return Number("", notes=notes.numbers(reason))


def _cell_of_arm(index: int, notes: _Notes, row: Comparison) -> Number:
    return _cell(row.arms[index], row.metric, notes)


def _cell(cell: Cell, metric: str, notes: _Notes) -> Number:
    if cell.mean is None:
        return _missing(cell.reason, notes)
    return Number(
        f"{cell.mean:+.2f}" if metric in CORRELATIONS else f"{cell.mean:.2f}",
        interval_text(cell.interval, metric),
        notes=notes.numbers(cell.reason, source_text(cell.interval), *cell.notes),
    )


def _difference(row: Comparison, notes: _Notes) -> Number:
    difference = row.difference
    if difference is None:
        return _missing("no difference without both arms", notes)
    told = (difference.reason, source_text(difference.interval), *difference.notes)
    reasons = () if row.published else told
    return Number(
        f"{difference.value:+.2f}",
        interval_text(difference.interval, row.metric),
        difference.mark,
        notes.numbers(*reasons),
    )


def interval_text(interval: Interval | None, metric: str) -> str:
    """Return the ends as digits that are worth reading; τ has more of them."""
    if interval is None:
        return ""
    if metric in CORRELATIONS:
        return f"{interval.low:+.2f}, {interval.high:+.2f}"
    return f"{interval.low:.1f}, {interval.high:.1f}"


def source_text(interval: Interval | None) -> str | None:
    """Return the note on an interval that is not over samples; None needs no note."""
    return None if interval is None else _SOURCES.get(interval.source)


def _seeds(rows: Iterable[Comparison]) -> str:
    """Return the training seeds of the arms, arm by arm where they are not the same."""
    rows = tuple(rows)
    arms = ARMS[rows[0].aspect]
    told = [_seeds_of(row.arms[number] for row in rows) for number in range(len(arms))]
    known = set(filter(None, told))
    if len(known) <= 1:  # an arm without a result has an empty cell, and needs no seeds
        return next(iter(known), "")
    return "; ".join(f"{arm} {seeds}" for arm, seeds in zip(arms, told, strict=True))


def _seeds_of(cells: Iterable[Cell]) -> str:
    seeds = {seed for cell in cells for seed in sorted_seeds(cell)}
    return ", ".join(map(str, sorted(seeds)))
