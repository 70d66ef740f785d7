"""The report as one HTML page that needs no network and no other file.

Its sources are `page.html`, `page.css` and `page.js`. Text from outside (names of models, problems,
outputs) is escaped or packed, and a content security policy allows only the page's own script and
style.
"""

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from html import escape as _html
from pathlib import Path
from string import Template
from typing import NamedTuple

from spor_tasks import __version__
from spor_tasks.aspects.named import group_title
from spor_tasks.core.visible import visible
from spor_tasks.report.browser import Browser
from spor_tasks.report.collect import Report
from spor_tasks.report.plots import INK, MISSING, PAPER, SOFT, Plot, available
from spor_tasks.report.render import LEGEND
from spor_tasks.report.render import PAPER as PUBLISHED
from spor_tasks.report.svg import inline
from spor_tasks.results.benchmarks import grids
from spor_tasks.results.comparisons import Comparison, Difference
from spor_tasks.results.grid import Content, Grid, Line, Number, is_signed, label
from spor_tasks.results.reading import Problem

_CARDS = 8  # of differences, before the tables
_COLORS = {INK: "currentColor", SOFT: "var(--soft)", PAPER: "var(--card)"}
_LEAD = (
    "Scores of data-to-text models after training on each arm of an aspect. A negative difference "
    "is what a model loses when it must generalize."
)
_NUMBER = ' class="number"'


def page(report: Report, browser: Browser, drawn: Sequence[Plot]) -> str:
    """Return the page; equal reports give equal text."""
    style, script = _source("page.css"), _source("page.js")
    problems = [*report.problems, *browser.problems]
    before = _sections([("tables", "Tables", _tables(report)), ("plots", "Plots", _plots(drawn))])
    after = _sections([("problems", "Problems", _problems(problems))])
    nav = [*before, _Section("samples", "Samples", ""), *after]
    return Template(_source("page.html")).substitute(
        title="SPOR report",
        version=_html(__version__),
        policy=_html(_policy(style, script)),
        style=style,
        script=script,
        nav="\n    ".join(f'<a href="#{each.name}">{each.title}</a>' for each in nav),
        summary=_summary(report, browser),
        before="\n".join(each.html for each in before),
        after="\n".join(each.html for each in after),
        footer=f"<p>{_html(LEGEND)}</p><p>spor-tasks {_html(__version__)}</p>",
        data="\n".join(
            f'<script type="application/gzip" id="chunk-{number}">{chunk}</script>'
            for number, chunk in enumerate(browser.chunks)
        ),
    )


class _Section(NamedTuple):
    name: str
    title: str
    html: str


def _sections(named: Iterable[tuple[str, str, Iterator[str]]]) -> list[_Section]:
    """Return the sections that there is something in."""
    made = []
    for name, title, content in named:
        if text := "\n".join(content):
            head = f'<section id="{name}" aria-labelledby="{name}-title">\n'
            html = f'{head}<h2 id="{name}-title">{title}</h2>\n{text}\n</section>'
            made.append(_Section(name, title, html))
    return made


def _source(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Return a policy that allows nothing but this style and this script."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {_digest(script)}",
            f"style-src {_digest(style)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        ]
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _text(text: str) -> str:
    return _html(visible(text))


# --- At a glance -------------------------------------------------------------------------------


def _summary(report: Report, browser: Browser) -> str:
    rows = [row for table in report.tables for row in table.rows if not row.published]
    facts = [
        (len({row.model for row in rows}), "model", "models"),
        (len({row.task for row in rows}), "task", "tasks"),
        (len(browser.outcomes), "run with samples", "runs with samples"),
        (sum(len(each.samples) for each in browser.outcomes), "sample", "samples to browse"),
    ]
    cards = [card for row in rows if (card := _card(row))]
    more = len(cards) - _CARDS
    return "\n".join(
        [
            '<section class="hero" aria-label="At a glance">',
            "<h1>Compositional generalization</h1>",
            f'<p class="lead">{_LEAD}</p>',
            '<dl class="facts">',
            *(
                f"<div><dt>{one if count == 1 else many}</dt><dd>{count:,}</dd></div>"
                for count, one, many in facts
            ),
            "</dl>",
            *(['<ul class="cards">', *cards[:_CARDS], "</ul>"] if cards else []),
            *([f"<p>{more} more differences are in the tables.</p>"] if more > 0 else []),
            "</section>",
        ]
    )


def _card(row: Comparison) -> str | None:
    """Return a difference in large type, if it is of the first metric and on a scale from 0."""
    if row.difference is None or row.metric != row.spec.reported[0] or is_signed(row.metric):
        return None
    found = row.difference
    first, second = (f"{cell.mean:.2f}" for cell in row.arms)
    interval = found.interval
    reach = f"95 % interval {interval.low:+.2f} to {interval.high:+.2f}" if interval else "one run"
    value = _minus(f"{found.value:+.2f}")
    place = " · ".join(filter(None, [row.spec.name.corpus, row.part, row.variant]))
    return (
        f'<li><p class="big{_sign(found)}">{value}<span>{found.mark}</span></p>'
        f"<p><b>{group_title(row.spec)}</b>, {_text(place)}<br>{label(row.metric)} {first} against "
        f"{second}<br>{_minus(reach)}</p>"
        f'<p class="model">{_text(row.name)}</p></li>'
    )


def _sign(found: Difference) -> str:
    """Return the class of a significant difference; an empty string for others."""
    if not found.mark:
        return ""
    return " minus" if found.value < 0 else " plus"


def _minus(text: str) -> str:
    return text.replace("-", "−")


# --- Tables ----------------------------------------------------------------------------------


def _tables(report: Report) -> Iterator[str]:
    for table in report.tables:
        for grid in grids(table):
            yield _table(grid)


def _table(grid: Grid) -> str:
    lines = [*grid.runs, *grid.paper]
    numeric = [_is_numeric(line[column] for line in lines) for column in range(len(grid.header))]
    head = "".join(
        f'<th scope="col"{_NUMBER if number else ""}>'
        f'<button type="button">{_text(name)}</button></th>'
        for name, number in zip(grid.header, numeric, strict=True)
    )
    body = f"<tbody>{_rows(grid.runs, numeric)}</tbody>"
    if grid.paper:
        body += (
            f'\n<tbody class="apart"><tr><th colspan="{len(grid.header)}" scope="rowgroup">'
            f"{PUBLISHED}</th></tr>{_rows(grid.paper, numeric)}</tbody>"
        )
    caption = f"<p>{_text(grid.caption)}</p>" if grid.caption else ""
    notes = "".join(f"<li>{_text(note)}</li>" for note in grid.notes)
    reasons = f'<ol class="reasons">{notes}</ol>' if notes else ""
    title = _text(grid.title)
    return (
        f'<figure class="table"><figcaption><h3>{title}</h3>{caption}</figcaption>\n'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{title}"><table>'
        f"<thead><tr>{head}</tr></thead>\n{body}</table></div>{reasons}</figure>"
    )


def _is_numeric(contents: Iterable[Content]) -> bool:
    return all(
        isinstance(content, Number) or content.replace(",", "").strip().isdecimal() or not content
        for content in contents
    )


def _rows(lines: Sequence[Line], numeric: Sequence[bool]) -> str:
    return "\n".join(
        "<tr>"
        + "".join(
            _cell(content, first=not column, number=numeric[column])
            for column, content in enumerate(line)
        )
        + "</tr>"
        for line in lines
    )


def _cell(content: Content, *, first: bool, number: bool) -> str:
    if isinstance(content, str):
        plain = content.replace(",", "")
        kind = f'{_NUMBER} data-value="{_html(plain)}"' if number else ""
        name, scope = ("th", ' scope="row"') if first else ("td", "")
        return f"<{name}{scope}{kind}>{_text(content)}</{name}>"
    interval = f' <span class="spread">[{_minus(content.interval)}]</span>'
    notes = f'<sup class="reason">{", ".join(map(str, content.notes))}</sup>'
    return (
        f'<td{_NUMBER} data-value="{_html(content.value)}">'
        f"{_minus(content.value)}{content.mark}{interval if content.interval else ''}"
        f"{notes if content.notes else ''}</td>"
    )


# --- Plots and problems ------------------------------------------------------------------------


def _plots(drawn: Sequence[Plot]) -> Iterator[str]:
    if not available():
        yield f"<p>{_html(MISSING)}</p>"
    if drawn:
        yield '<div class="plots">'
        yield from map(_plot, drawn)
        yield "</div>"


def _plot(plot: Plot) -> str:
    kind = "plot wide" if plot.wide else "plot"
    return (
        f'<figure class="{kind}"><figcaption><h3>{_text(plot.title)}</h3>'
        f"<p>{_text(plot.caption)}</p></figcaption>\n"
        f"{inline(plot.svg, plot.name, plot.title, _COLORS)}</figure>"
    )


def _problems(problems: Sequence[Problem]) -> Iterator[str]:
    if problems:
        yield '<ul class="notes">'
        for problem in problems:
            yield f"<li><code>{_text(problem.where)}</code><br>{_text(problem.what)}</li>"
        yield "</ul>"
