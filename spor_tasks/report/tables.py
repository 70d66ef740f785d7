"""The tables of a report, and every number of them in a row of its own."""

from collections.abc import Iterable, Iterator

from spor_tasks.report.collect import Report
from spor_tasks.report.document import Document
from spor_tasks.report.grid import Grid, Number
from spor_tasks.report.sections import grids
from spor_tasks.results.rows import Cell, Comparison
from spor_tasks.results.stats import Estimate, Interval

LEGEND = (
    "Scores are means over training seeds. [low, high] is a 95 % interval: for one run a bootstrap "
    "over samples, for several runs an interval over training seeds and samples, unless a note "
    "says otherwise. Samples with the same units form a cluster, and whole clusters are resampled. "
    "† p < 0.05 and ‡ p < 0.01 mark differences between the arms, two-sided, each test on its own: "
    "for several runs a t test that accounts for the variation between seeds, for one run "
    "approximate randomization, which holds for these checkpoints only."
)
_PUBLISHED = (
    " The paper's marks are its own. Rows as published are the papers'; those of SPOR's are means "
    "of three seeds, five beams, and the best of ten epochs."
)

_SIGNS = {
    "as is": "As is: neither tuned nor shown examples.",
    "interval": "[low, high]: 95 % interval.",
    "mark": "Difference between the arms: † p < 0.05, ‡ p < 0.01.",
}
SHORT_LEGEND = " ".join(_SIGNS.values())


def legend_of(grid: Grid) -> str:
    """Return the part of the short legend that explains what is in a table."""
    cells = [cell for _, lines in grid.sections for line in lines for cell in (*line, *grid.header)]
    numbers = [cell for cell in cells if isinstance(cell, Number)]
    shown = {
        "as is": "as is" in cells,
        "interval": any(number.interval for number in numbers),
        "mark": any(number.mark for number in numbers),
    }
    return " ".join(text for sign, text in _SIGNS.items() if shown[sign])


_MANY = 3  # models, which a title does not name


def document(report: Report) -> Document:
    """Return the tables of a report; JSON also has the runs and the signature of each number."""
    comparisons = [row for table in report.tables for row in table.rows]
    comparisons += report.floors
    models = [*dict.fromkeys(row.model for row in report.rows)]
    subject = " and ".join(models) if len(models) < _MANY else f"{len(models)} models"
    found = tuple(grid for table in report.tables for grid in grids(table))
    has_published = any(grid.lines.get("published") for grid in found)
    return Document(
        title=f"{subject} on {benchmarks(report.rows)}",
        grids=found,
        legend=LEGEND + _PUBLISHED * has_published,
        problems=report.problems,
        short_legend=SHORT_LEGEND,
        rows=tuple(number for row in comparisons for number in _numbers(row)),
    )


def benchmarks(rows: Iterable[Comparison]) -> str:
    """Return the titles of the benchmarks of the rows."""
    return ", ".join(dict.fromkeys(row.spec.about.title for row in rows))


def _numbers(row: Comparison) -> Iterator[dict[str, object]]:
    """Yield the numbers of a row: of the model as it is, of each arm, and of their difference."""
    arms = () if row.kind == "floor" else row.by_arm
    found: list[tuple[str, Cell | Estimate]] = [("as is", row.as_is), *arms]
    if row.difference:
        found.append(("difference", row.difference))
    for arm, each in found:
        deviation, seeds = None, None
        n: int | None = row.size.n
        clusters = row.size.clusters
        more: dict[str, object] = {"signature": row.signature}
        if isinstance(each, Cell):
            value, deviation, seeds = each.mean, each.deviation, " ".join(map(str, each.seeds))
            more |= {"values": each.values, "runs": [run.file for run in each.runs]}
            if not row.is_tested:
                n, clusters = min(each.counts, default=None), None
        else:
            value = each.value
            if each.n is not None:
                n, clusters = each.n, each.clusters
        yield {
            **row.spec.sets.named,
            **{name: getattr(row, name) for name in ("variant", "task")},
            "source": "paper" if row.kind == "published" else row.kind,
            **{name: getattr(row, name) for name in ("model", "apart", "metric")},
            "arm": arm,
            "value": value,
            **ends(each.interval),
            "deviation": deviation,
            "n": n,
            "clusters": clusters,
            "documents": row.size.documents,
            "seeds": seeds,
            **{name: getattr(each, name, None) for name in ("p", "mark", "detectable", "reason")},
            "notes": "; ".join(each.notes),
            **more,
        }


def ends(interval: Interval | None) -> dict[str, object]:
    """Return both ends of an interval, and what it is over, as fields of a row."""
    names = {"low": "low", "high": "high", "interval_over": "source"}
    return {name: getattr(interval, field, None) for name, field in names.items()}
