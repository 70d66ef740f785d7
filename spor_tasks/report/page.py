"""The report as one HTML page that needs no network and no other file.

Its sources are `page.html.j2`, `page.css`, `page.js` and `sample.js`. Text from outside (names of
models, problems, outputs) is escaped or packed, and a content security policy allows only the
page's own script and style.
"""

import base64
import hashlib
from collections.abc import Callable, Sequence, Sized
from datetime import UTC, datetime
from pathlib import Path

from spor_tasks import __version__
from spor_tasks.report.answers import Answers
from spor_tasks.report.browser import Browser
from spor_tasks.report.collect import TRIAL
from spor_tasks.report.document import Document
from spor_tasks.report.grid import Grid
from spor_tasks.report.plots import Plot
from spor_tasks.report.tables import legend_of
from spor_tasks.report.templates import template
from spor_tasks.results.rows import Comparison


def page(
    document: Document,
    *,
    ranking: Document,
    rows: Sequence[Comparison],
    browser: Browser,
    drawn: Sequence[Plot],
    answers: Sequence[Answers],
) -> str:
    """Return the page of the rows, with their tables and boards; equal reports give equal text.

    Boards of a single model are left out.
    """
    boards = [grid for grid in ranking.grids if len({model for _, model, *_ in grid.runs}) > 1]
    facts = [count({row.task for row in rows}, "task"), count({row.model for row in rows}, "model")]
    cells = [cell for row in rows for cell in (*row.arms, row.as_is)]
    times = sorted(run.log.date for cell in cells for run in cell.runs if run.log.date)
    days = [datetime.fromtimestamp(time, UTC).strftime("%-d %B %Y") for time in times]
    if days:
        facts.append(f"evaluated {' to '.join(dict.fromkeys((days[0], days[-1])))}")
    layouts = {row.spec.benchmark: row.spec.about for row in rows}
    return render(
        document,
        name=", ".join(each.title for each in layouts.values()),
        facts=facts,
        introductions=[each.introduction.splitlines() for each in layouts.values()],
        tables=[
            ("tables", "", document.grids),
            ("leaderboard", ranking.legend, boards),
        ],
        drawn=drawn,
        browser=browser,
        answers=answers,
    )


def render(
    document: Document,
    *,
    name: str,
    facts: Sequence[str],
    tables: Sequence[tuple[str, str, Sequence[Grid]]],
    browser: Browser,
    answers: Sequence[Answers],
    introductions: Sequence[Sequence[str]] = (),
    drawn: Sequence[Plot] = (),
    legend: Callable[[Grid], str] = legend_of,
) -> str:
    """Return the page of a document.

    ``tables`` are its sections of tables: the name, a text above, and the tables.
    ``legend`` returns the text below one.
    """
    style, script = _source("page.css"), _source("sample.js") + _source("page.js")
    problems = [*document.problems, *browser.problems]
    plots = {
        "plots": [plot for plot in drawn if not plot.is_of_samples],
        "where it fails": [plot for plot in drawn if plot.is_of_samples],
    }
    (first, _, grids), *others = tables
    content = {
        "answers": answers,
        "plots": plots["plots"],
        first: grids,
        "where it fails": plots["where it fails"],
        **{section: grids for section, _, grids in others},
        "samples": True,
        "problems": problems,
    }
    return template("page.html.j2").render(
        version=__version__,
        title=document.title,
        name=name,
        facts=", ".join(facts),
        introductions=introductions,
        style=style,
        script=script,
        digests=(_digest(style), _digest(script)),
        sections=[section for section, each in content.items() if each],
        tables=tables,
        legend_of=legend,
        plots=plots,
        answers=answers,
        problems=problems,
        trials=[problem for problem in document.problems if problem.kind == TRIAL],
        footer=document.legend,
        chunks=browser.chunks,
    )


def count(things: Sized, name: str) -> str:
    """Return how many things there are, in words."""
    return f"{len(things):,} {name}{'' if len(things) == 1 else 's'}"


def _source(name: str) -> str:
    return Path(__file__).parent.joinpath(name).read_text("utf-8")


def _digest(text: str) -> str:
    """Return what a content security policy allows a style or a script by."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
