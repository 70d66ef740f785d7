"""A report as text: for the terminal, as Markdown, LaTeX, CSV and JSON. Nothing is computed."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any

from spor_tasks.core.registry import registry
from spor_tasks.core.visible import visible
from spor_tasks.report.collect import Report
from spor_tasks.report.escape import csv_table, latex_text, markdown_text
from spor_tasks.results.benchmarks import benchmark, grids
from spor_tasks.results.comparisons import Cell, Comparison
from spor_tasks.results.evidence import Interval
from spor_tasks.results.grid import Content, Grid, Line
from spor_tasks.results.reading import Problem

SCHEMA = 1
"""The version of what is written as JSON."""

RUNS, PAPER = "Runs", "As published"

LEGEND = (
    "Scores are means over training seeds. [low, high] is a 95 % interval: for one run a bootstrap "
    "over samples, for several runs an interval over training seeds and samples, unless a note "
    "says otherwise. Samples with the same units form a cluster, and whole clusters are resampled. "
    "† p < 0.05 and ‡ p < 0.01 mark differences between the arms, two-sided, each test on its own: "
    "for several runs a t test that accounts for the variation between seeds, for one run "
    "approximate randomization, which holds for these checkpoints only. The paper's marks are its "
    "own. Rows as published are the paper's: means of three seeds, five beams, and the best of ten "
    "epochs."
)

_SHORT_LEGEND = "[low, high]: 95 % interval. Difference between the arms: † p < 0.05, ‡ p < 0.01."


def terminal(report: Report) -> str:
    """Return the report as aligned columns."""
    blocks = [plain_grid(grid) for table in report.tables for grid in grids(table)]
    return "\n\n".join([*blocks, _SHORT_LEGEND, *problem_lines(report.problems)])


def plain_grid(grid: Grid) -> str:
    """Return a grid as aligned columns."""
    lines = [grid.header, *(tuple(map(_plain_cell, line)) for line in (*grid.runs, *grid.paper))]
    widths = [max(len(line[column]) for line in lines) for column in range(len(grid.header))]
    rows = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    own = 1 + len(grid.runs)
    paper = [f"{PAPER}:", *rows[own:]] if grid.paper else []
    title = f"{grid.title}{f' ({grid.caption})' if grid.caption else ''}"
    notes = [f"[{number}] {visible(note)}" for number, note in enumerate(grid.notes, 1)]
    return "\n".join([visible(title), *rows[:own], *paper, *notes])


def _plain_cell(content: Content) -> str:
    if isinstance(content, str):
        return visible(content)
    interval = f" [{content.interval}]" if content.interval else ""
    notes = "".join(f"[{number}]" for number in content.notes)
    return f"{content.value}{content.mark}{interval}{' ' if content.value and notes else ''}{notes}"


def problem_lines(problems: Sequence[Problem]) -> Iterator[str]:
    """Yield a block with the problems, if there are any; those that lose results come first."""
    if problems:
        ordered = sorted(problems, key=lambda problem: not problem.lost)
        lines = [f"  {visible(str(problem))}" for problem in ordered]
        yield "\n".join(["Problems:", *lines])


def markdown(report: Report) -> str:
    """Return the report as Markdown."""
    blocks = [markdown_grid(grid) for table in report.tables for grid in grids(table)]
    problems = [f"- {markdown_text(str(problem))}" for problem in report.problems]
    named = ["\n".join(["## Problems", "", *problems])] if problems else []
    return "\n\n".join(["# SPOR", LEGEND, *blocks, *named]) + "\n"


def markdown_grid(grid: Grid) -> str:
    """Return a grid as a Markdown table under its title."""

    def row(line: Iterable[str]) -> str:
        return f"| {' | '.join(line)} |"

    def label(text: str) -> str:
        return row([f"*{text}*", *[""] * (len(grid.header) - 1)])

    def rows(lines: Iterable[Line]) -> list[str]:
        return [row(map(_markdown_cell, line)) for line in lines]

    notes = [f"{number}. {markdown_text(note)}" for number, note in enumerate(grid.notes, 1)]
    paper = [label(PAPER), *rows(grid.paper)] if grid.paper else []
    return "\n".join(
        [
            f"## {markdown_text(grid.title)}",
            "",
            *([markdown_text(grid.caption), ""] if grid.caption else []),
            row(map(markdown_text, grid.header)),
            "|" + "---|" * len(grid.header),
            *([label(RUNS)] if paper else []),
            *rows(grid.runs),
            *paper,
            *(["", *notes] if notes else []),
        ]
    )


def _markdown_cell(content: Content) -> str:
    if isinstance(content, str):
        return markdown_text(content)
    interval = f" \\[{content.interval}\\]" if content.interval else ""
    notes = ",".join(map(str, content.notes))
    return f"{content.value}{content.mark}{interval}{f'<sup>{notes}</sup>' if notes else ''}"


def latex(report: Report) -> str:
    r"""Return the report as LaTeX tables for the package `booktabs`."""
    head = [
        "% \\usepackage{booktabs}",
        *(f"% {line}" for line in visible(LEGEND).split(". ")),
        *(f"% {visible(str(problem))}" for problem in report.problems),
    ]
    blocks = [_latex_grid(grid) for table in report.tables for grid in grids(table)]
    return "\n\n".join(["\n".join(head), *blocks]) + "\n"


def _latex_grid(grid: Grid) -> str:
    columns = len(grid.header)

    def row(line: Iterable[str]) -> str:
        return f"{' & '.join(line)} \\\\"

    def rows(lines: Iterable[Line]) -> list[str]:
        return [row(map(_latex_cell, line)) for line in lines]

    def label(text: str) -> str:
        return f"\\multicolumn{{{columns}}}{{l}}{{\\emph{{{text}}}}} \\\\"

    paper = ["\\midrule", label(PAPER), *rows(grid.paper)] if grid.paper else []
    remarks = [grid.title, grid.caption]
    notes = [
        f"\\textsuperscript{{{number}}}~{latex_text(note)}."
        for number, note in enumerate(grid.notes, 1)
    ]
    caption = " ".join([*(f"{latex_text(text)}." for text in remarks if text), *notes])
    aligned = "l" * sum(name in {"model", "arm", "metric"} for name in grid.header)
    return "\n".join(
        [
            "\\begin{table}",
            "\\centering",
            f"\\caption{{{caption}}}",
            f"\\begin{{tabular}}{{{aligned}{'r' * (columns - len(aligned))}}}",
            "\\toprule",
            row(map(latex_text, grid.header)),
            "\\midrule",
            *([label(RUNS)] if paper else []),
            *rows(grid.runs),
            *paper,
            "\\bottomrule",
            "\\end{tabular}",
            "\\end{table}",
        ]
    )


def _latex_cell(content: Content) -> str:
    if isinstance(content, str):
        return latex_text(content)
    value = f"${content.value}$" if content.value[:1] in {"+", "-"} else content.value
    interval = f" {{\\scriptsize $[{content.interval}]$}}" if content.interval else ""
    notes = ",".join(map(str, content.notes))
    note = f"\\textsuperscript{{{notes}}}" if notes else ""
    return f"{value}{latex_text(content.mark)}{interval}{note}"


# --- Tidy: one number per row ---------------------------------------------------------------------

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
    "seeds",
    "p",
    "mark",
    "reason",
    "notes",
)


def tidy_csv(report: Report) -> str:
    """Return every number of the report in its own row, with everything that identifies it."""
    comparisons = chain.from_iterable(table.rows for table in report.tables)
    return csv_table(_FIELDS, chain.from_iterable(map(_tidy, comparisons)))


def _tidy(row: Comparison) -> Iterator[dict[str, object]]:
    common = {
        **row.spec.name._asdict(),
        "variant": row.variant,
        "task": row.task,
        "source": "paper" if row.published else "run",
        "model": row.model,
        "apart": row.apart,
        "metric": row.metric,
        "n": row.n,
        "clusters": row.clusters,
    }
    for arm, cell in (("as is", row.as_is), *row.by_arm):
        yield {
            **common,
            "arm": arm,
            "value": cell.mean,
            **_ends(cell.interval),
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
            "arm": "difference",
            "value": found.value,
            **_ends(found.interval),
            "p": found.p,
            "mark": found.mark,
            "reason": found.reason,
            "notes": "; ".join(found.notes),
        }


def _ends(interval: Interval | None) -> dict[str, object]:
    if interval is None:
        return {}
    return {"low": interval.low, "high": interval.high, "interval_over": interval.source}


def as_json(report: Report) -> str:
    """Return the report as JSON; a cell without a value is null, and its `reason` says why."""
    content = {
        "schema": SCHEMA,
        "legend": LEGEND,
        "source": "; ".join(
            filter(None, (benchmark(n).paper for n in registry().names("benchmark")))
        ),
        "tables": [
            {"aspect": table.aspect, "rows": [_json_row(row) for row in table.rows]}
            for table in report.tables
        ],
        "problems": [problem._asdict() for problem in report.problems],
    }
    return json.dumps(content, indent=2) + "\n"  # ASCII only: harmless on a terminal


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
    files = [str(file) for file, _ in cell.runs]
    return {"mean": cell.mean, "deviation": cell.deviation, **asdict(cell), "runs": files}
