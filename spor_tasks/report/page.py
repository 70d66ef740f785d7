"""The report as one HTML page that needs no network and no other file.

Its sources are `page.html.j2`, `parts.html.j2`, `page.css` and the files of `script/`, which become
one script. Text from outside (names of models, problems, outputs) is escaped or packed, and a
content security policy allows only the page's own script and style.
"""

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path

from spor_tasks import __version__
from spor_tasks.aspects.named import group_title
from spor_tasks.report.browser import Browser
from spor_tasks.report.collect import Report
from spor_tasks.report.escape import html_text
from spor_tasks.report.figures import INK, PAPER, SOFT, Plot
from spor_tasks.report.formats import template
from spor_tasks.report.leaderboard import Board
from spor_tasks.report.leaderboard_text import LEGEND as RANKING
from spor_tasks.report.leaderboard_text import grid as board_grid
from spor_tasks.report.plots import MISSING, available
from spor_tasks.report.render import LEGEND
from spor_tasks.report.svg import inline
from spor_tasks.results.benchmarks import grids
from spor_tasks.results.comparisons import Comparison
from spor_tasks.results.grid import Content, Grid, Number, is_signed, label

SCRIPTS = (
    *("dom", "tables", "samples", "state", "find", "search", "list", "marks", "table"),
    *("sample", "slices", "charts", "settings", "download", "filters", "start"),
)
"""The files of `script/`, in their order; each uses what those before it define."""

_CARDS = 8  # of differences, before the tables
_COLORS = {INK: "currentColor", SOFT: "var(--soft)", PAPER: "var(--card)"}


def page(
    report: Report, browser: Browser, drawn: Sequence[Plot], boards: Sequence[Board] = ()
) -> str:
    """Return the page; equal reports give equal text. Boards of a single system are left out."""
    style = _source("page.css")
    script = "\n".join(_source(f"script/{name}.js") for name in SCRIPTS)
    rows = [row for table in report.tables for row in table.rows if not row.published]
    cards = list(filter(_is_card, rows))
    return template("page.html.j2", html_text).render(
        version=__version__,
        style=style,
        script=script,
        digests=(_digest(style), _digest(script)),
        facts=(
            (len({row.model for row in rows}), "model", "models"),
            (len({row.task for row in rows}), "task", "tasks"),
            (len(browser.outcomes), "run with samples", "runs with samples"),
            (sum(len(each.samples) for each in browser.outcomes), "sample", "samples to browse"),
        ),
        cards=cards[:_CARDS],
        more=len(cards) - _CARDS,
        label=label,
        title=group_title,
        tables=[(grid, numeric(grid)) for table in report.tables for grid in grids(table)],
        boards=[(grid, numeric(grid)) for grid in map(board_grid, boards) if len(grid.runs) > 1],
        ranking=RANKING,
        missing="" if available() else MISSING,
        plots=[(plot, inline(plot.svg, plot.name, plot.title, _COLORS)) for plot in drawn],
        problems=[*report.problems, *browser.problems],
        legend=LEGEND,
        chunks=browser.chunks,
    )


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
