"""What reports are written with: templates, tables, CSV, JSON and files. Nothing is computed."""

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from spor_tasks.core.files import atomic_write, writing
from spor_tasks.core.visible import visible
from spor_tasks.report.escape import csv_field, latex_text, markdown_text
from spor_tasks.results.grid import Content, Grid
from spor_tasks.results.reading import Problem

SCHEMA = 1
"""The version of what is written as JSON."""


def template(name: str, escape: Callable[[str], str]) -> Template:
    """Return a template of this folder; it escapes every value that is not marked as safe."""

    def shown(value: object) -> Markup:
        return value if isinstance(value, Markup) else Markup(escape(str(value)))  # noqa: S704 - escaped

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["visible"] = visible
    return environment.get_template(name)


def plain_tables(grids: Iterable[Grid], legend: str = "", problems: Sequence[Problem] = ()) -> str:
    """Return grids as aligned columns, then the legend and the problems."""
    blocks = [*map(_plain_grid, grids), legend, *problem_lines(problems)]
    return "\n\n".join(filter(None, blocks))


def _plain_grid(grid: Grid) -> str:
    lines = [list(map(_plain_cell, line)) for line in (grid.header, *grid.runs, *grid.paper)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]
    if grid.paper:
        rows.insert(1 + len(grid.runs), "As published:")
    caption = f" ({grid.caption})" if grid.caption else ""
    notes = [f"[{number}] {visible(note)}" for number, note in enumerate(grid.notes, 1)]
    return "\n".join([visible(grid.title + caption), *rows, *notes])


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
        yield "\n".join(["Problems:", *(f"  {visible(problem)}" for problem in ordered)])


def markdown_tables(
    title: str, legend: str, grids: Iterable[Grid], problems: Sequence[Problem] = ()
) -> str:
    """Return grids as Markdown tables under a title and a legend, which is Markdown already."""
    page = template("tables.md.j2", markdown_text)
    return page.render(title=title, legend=legend, grids=grids, problems=problems)


def latex_tables(legend: str, grids: Iterable[Grid], problems: Sequence[Problem]) -> str:
    """Return grids as LaTeX tables for the package `booktabs`, with legend and problems above."""
    page = template("tables.tex.j2", latex_text)
    return page.render(legend=legend, grids=grids, problems=problems)


def csv_table(names: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Return the rows as CSV under the names of the fields; missing fields are empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(
            {
                name: csv_field(value) if isinstance(value, str) else value
                for name, value in row.items()
            }
        )
    return text.getvalue()


def json_text(content: Mapping[str, object]) -> str:
    """Return the content as JSON under the version of its format; NaN and infinity are null."""
    # ASCII only: harmless on a terminal
    return json.dumps({"schema": SCHEMA, **plain_value(content)}, indent=2) + "\n"


def plain_value(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return dataclasses and named tuples as dicts, paths as texts, NaN and infinity as None."""
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    elif hasattr(value, "_asdict"):
        value = value._asdict()
    match value:
        case dict():
            return {name: plain_value(each) for name, each in value.items()}
        case list() | tuple():
            return list(map(plain_value, value))
        case Path():
            return str(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def save(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files into a folder, by name.

    Raises:
        ConfigError: a file cannot be written.
    """
    for name, content in files.items():
        path = folder / name
        with writing(path), atomic_write(path) as file:
            file.write(
                content.encode(errors="backslashreplace") if isinstance(content, str) else content
            )
