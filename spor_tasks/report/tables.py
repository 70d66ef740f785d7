"""The tables of a report, and every number of them in a row of its own."""

from collections.abc import Iterable, Iterator

from spor_tasks.report.collect import Report
from spor_tasks.report.document import Document
from spor_tasks.report.sections import grids
from spor_tasks.results.rows import Comparison
from spor_tasks.results.stats import Interval

LEGEND = (
    "Scores are means over training seeds. [low, high] is a 95 % interval: for one run a bootstrap "
    "over samples, for several runs an interval over training seeds and samples, unless a note "
    "says otherwise. Samples with the same units form a cluster, and whole clusters are resampled. "
    "† p < 0.05 and ‡ p < 0.01 mark differences between the arms, two-sided, each test on its own: "
    "for several runs a t test that accounts for the variation between seeds, for one run "
    "approximate randomization, which holds for these checkpoints only. The paper's marks are its "
    "own. Rows as published are the papers'; those of SPOR's are means of three seeds, five beams, "
    "and the best of ten epochs."
)

SHORT_LEGEND = (
    "As is: neither tuned nor shown examples. [low, high]: 95 % interval. "
    "Difference between the arms: † p < 0.05, ‡ p < 0.01."
)

_FIELDS = (
    "aspect",
    "corpus",
    "protocol",
    "part",
    "variant",
    "task",
    "source",
    "model",
    "apart",
    "metric",
    "arm",
    "value",
    "low",
    "high",
    "interval_over",
    "deviation",
    "n",
    "clusters",
    "documents",
    "seeds",
    "p",
    "mark",
    "detectable",
    "reason",
    "notes",
)

_MANY = 3  # models, which a title does not name
_OF_DIFFERENCE = ("value", "p", "mark", "detectable", "reason")


def document(report: Report) -> Document:
    """Return the tables of a report; JSON also has the runs and the signature of each number."""
    comparisons = [row for table in report.tables for row in table.rows]
    comparisons += report.floors
    models = [*dict.fromkeys(row.model for row in report.rows)]
    subject = " and ".join(models) if len(models) < _MANY else f"{len(models)} models"
    return Document(
        title=f"{subject} on {benchmarks(report.rows)}",
        grids=tuple(grid for table in report.tables for grid in grids(table)),
        legend=LEGEND,
        problems=report.problems,
        short_legend=SHORT_LEGEND,
        fields=_FIELDS,
        rows=tuple(number for row in comparisons for number in _numbers(row)),
    )


def benchmarks(rows: Iterable[Comparison]) -> str:
    """Return the titles of the benchmarks of the rows."""
    return ", ".join(dict.fromkeys(row.spec.about.title for row in rows))


def _numbers(row: Comparison) -> Iterator[dict[str, object]]:
    common = {
        **row.spec.name._asdict(),
        **{name: getattr(row, name) for name in ("variant", "task", "model", "apart", "metric")},
        "source": "paper" if row.kind == "published" else row.kind,
        "n": row.size.n,
        "documents": row.size.documents,
        "clusters": row.size.clusters,
        "signature": row.signature,
    }
    for arm, cell in (("as is", row.as_is), *(() if row.kind == "floor" else row.by_arm)):
        yield {
            **common,
            **ends(cell.interval),
            **({} if row.is_tested else {"n": min(cell.counts, default=None), "clusters": None}),
            "arm": arm,
            "value": cell.mean,
            "deviation": cell.deviation,
            "seeds": " ".join(map(str, cell.seeds)),
            "reason": cell.reason,
            "notes": "; ".join(cell.notes),
            "values": cell.values,
            "runs": [run.file for run in cell.runs],
        }
    if (difference := row.difference) is not None:
        counts = (
            {} if difference.n is None else {"n": difference.n, "clusters": difference.clusters}
        )
        yield {
            **common,
            **counts,
            **ends(difference.interval),
            **{name: getattr(difference, name) for name in _OF_DIFFERENCE},
            "arm": "difference",
            "notes": "; ".join(difference.notes),
        }


def ends(interval: Interval | None) -> dict[str, object]:
    """Return both ends of an interval, and what it is over, as fields of a row."""
    if interval is None:
        return {}
    return {"low": interval.low, "high": interval.high, "interval_over": interval.source}
