"""A report as text: for the terminal, as Markdown, LaTeX, CSV and JSON. Nothing is computed."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from spor_tasks.core.registry import registry
from spor_tasks.report.collect import Report
from spor_tasks.report.formats import (
    csv_table,
    json_text,
    latex_tables,
    markdown_tables,
    plain_tables,
)
from spor_tasks.results.benchmarks import benchmark, grids
from spor_tasks.results.comparisons import Cell, Comparison
from spor_tasks.results.evidence import Interval
from spor_tasks.results.grid import Grid

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

_SHORT_LEGEND = "[low, high]: 95 % interval. Difference between the arms: † p < 0.05, ‡ p < 0.01."


def terminal(report: Report) -> str:
    """Return the report as aligned columns."""
    return plain_tables(_grids(report), _SHORT_LEGEND, report.problems)


def markdown(report: Report) -> str:
    """Return the report as Markdown."""
    return markdown_tables("SPOR", LEGEND, _grids(report), report.problems)


def latex(report: Report) -> str:
    """Return the report as LaTeX tables."""
    return latex_tables(LEGEND, _grids(report), report.problems)


def _grids(report: Report) -> Iterator[Grid]:
    for table in report.tables:
        yield from grids(table)


# --- Tidy: one number per row ---------------------------------------------------------------------

_FIELDS = (
    *("aspect", "corpus", "protocol", "part", "variant", "task", "source", "model", "apart"),
    *("metric", "arm", "value", "low", "high", "interval_over", "deviation", "n", "clusters"),
    *("seeds", "p", "mark", "reason", "notes"),
)


def tidy_csv(report: Report) -> str:
    """Return every number of the report in its own row, with everything that identifies it."""
    rows = (tidy for table in report.tables for row in table.rows for tidy in _tidy(row))
    return csv_table(_FIELDS, rows)


def _tidy(row: Comparison) -> Iterator[dict[str, object]]:
    common = {
        **row.spec.name._asdict(),
        **{name: getattr(row, name) for name in ("variant", "task", "model", "apart", "metric")},
        "source": "paper" if row.published else "run",
        "n": row.n,
        "clusters": row.clusters,
    }
    for arm, cell in (("as is", row.as_is), *row.by_arm):
        yield {
            **common,
            **_ends(cell.interval),
            **({} if row.is_tested else {"n": min(cell.counts, default=None), "clusters": None}),
            "arm": arm,
            "value": cell.mean,
            "deviation": cell.deviation,
            "seeds": " ".join(str(seed) for seed in cell.seeds if seed is not None),
            "reason": cell.reason,
            "notes": "; ".join(cell.notes),
        }
    if (found := row.difference) is not None:
        counts = {} if found.n is None else {"n": found.n, "clusters": found.clusters}
        yield {
            **common,
            **counts,
            **_ends(found.interval),
            **{name: getattr(found, name) for name in ("value", "p", "mark", "reason")},
            "arm": "difference",
            "notes": "; ".join(found.notes),
        }


def _ends(interval: Interval | None) -> dict[str, object]:
    if interval is None:
        return {}
    return {"low": interval.low, "high": interval.high, "interval_over": interval.source}


def as_json(report: Report) -> str:
    """Return the report as JSON; a cell without a value is null, and its `reason` says why."""
    papers = (benchmark(name).paper for name in registry().names("benchmark"))
    return json_text(
        {
            "legend": LEGEND,
            "source": "; ".join(filter(None, papers)),
            "tables": [
                {"aspect": table.aspect, "rows": [_json_row(row) for row in table.rows]}
                for table in report.tables
            ],
            "problems": report.problems,
        }
    )


def _json_row(row: Comparison) -> dict[str, Any]:
    content = asdict(row)
    del content["spec"]
    return {
        **row.spec.name._asdict(),
        **content,
        "arms": {arm: _json_cell(cell) for arm, cell in row.by_arm},
        "as_is": _json_cell(row.as_is),
    }


def _json_cell(cell: Cell) -> dict[str, Any]:
    content = asdict(cell) | {"runs": [file for file, _ in cell.runs]}
    if not cell.counts:
        del content["counts"]
    return {"mean": cell.mean, "deviation": cell.deviation, **content}
