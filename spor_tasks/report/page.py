"""The report as one HTML page that needs no network and no other file.

Its sources are `page.html.j2`, `page.css` and `page.js`. Text from outside (names of models,
problems, outputs) is escaped or packed, and a content security policy allows only the page's own
script and style.
"""

import base64
import hashlib
from collections.abc import Sequence, Sized
from pathlib import Path

from spor_tasks import __version__
from spor_tasks.aspects.named import group_title
from spor_tasks.report.browser import Browser
from spor_tasks.report.collect import Report
from spor_tasks.report.escape import html_text
from spor_tasks.report.figures import Plot
from spor_tasks.report.formats import template
from spor_tasks.report.leaderboard import Board
from spor_tasks.report.leaderboard_text import LEGEND as RANKING
from spor_tasks.report.leaderboard_text import grid as board_grid
from spor_tasks.report.plots import MISSING, available
from spor_tasks.report.render import LEGEND
from spor_tasks.results.benchmarks import benchmark, grids
from spor_tasks.results.comparisons import Comparison
from spor_tasks.results.grid import Content, Grid, Number, is_signed, label

_CARDS = 8  # of differences, before the tables


def page(
    report: Report, browser: Browser, drawn: Sequence[Plot], boards: Sequence[Board] = ()
) -> str:
    """Return the page; equal reports give equal text. Boards of a single system are left out."""
    style, script = _source("page.css"), _source("page.js")
    rows = [row for table in report.tables for row in table.rows if not row.published]
    shown = [(grid, numeric(grid)) for grid in map(board_grid, boards) if len(grid.runs) > 1]
    problems = [*report.problems, *browser.problems]
    missing = "" if available() else MISSING
    return template("page.html.j2", html_text).render(
        version=__version__,
        name=", ".join(dict.fromkeys(benchmark(row.spec.benchmark).title for row in rows)),
        tasks=_count({row.task for row in rows}, "task"),
        models=_count({row.model for row in rows}, "model"),
        style=style,
        script=script,
        digests=(_digest(style), _digest(script)),
        sections=(
            ("tables", "Tables", report.tables),
            ("leaderboard", "Leaderboard", shown),
            ("plots", "Plots", drawn or missing),
            ("samples", "Samples", True),
            ("problems", "Problems", problems),
        ),
        cards=list(filter(_is_card, rows))[:_CARDS],
        label=label,
        title=group_title,
        tables=[(grid, numeric(grid)) for table in report.tables for grid in grids(table)],
        boards=shown,
        ranking=RANKING,
        missing=missing,
        plots=[(plot, base64.b64encode(plot.svg.encode()).decode()) for plot in drawn],
        problems=problems,
        legend=LEGEND,
        chunks=browser.chunks,
    )


def _count(things: Sized, name: str) -> str:
    return f"{len(things):,} {name}{'' if len(things) == 1 else 's'}"


def _source(name: str) -> str:
    return Path(__file__).parent.joinpath(name).read_text("utf-8")


def _digest(text: str) -> str:
    """Return what a content security policy allows a style or a script by."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _is_card(row: Comparison) -> bool:
    """Return whether there is a difference of the first metric, on a scale from 0."""
    first = row.metric == row.spec.reported[0]
    return first and row.difference is not None and not is_signed(row.metric)


def numeric(grid: Grid) -> list[bool]:
    """Return which columns hold nothing but numbers and empty cells."""
    lines = [*grid.runs, *grid.paper]
    return [all(_is_number(line[at]) for line in lines) for at in range(len(grid.header))]


def _is_number(content: Content) -> bool:
    if isinstance(content, Number):
        return True
    return not content or content.replace(",", "").strip().isdecimal()
