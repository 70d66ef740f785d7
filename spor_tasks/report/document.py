"""Documents: tables under a title, as plain text, Markdown, LaTeX, CSV and JSON.

Texts in a document may come from outside, such as the name of a model. Each writer makes them
harmless for its format. Nothing is computed.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from msgspec import to_builtins

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import writing
from spor_tasks.core.terminal import columns
from spor_tasks.core.together import replace_files
from spor_tasks.core.visible import visible
from spor_tasks.report.grid import Grid, Line, Number
from spor_tasks.results.runs import Problem

SCHEMA = 2
"""The version of what is written as JSON."""

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        "[": "{[}",  # which after the end of a row would be its argument, as would a star
        "*": "{*}",
        "−": "$-$",
        "†": r"$^\dagger$",
        "‡": r"$^\ddagger$",
        **{char: f"\\{char}" for char in "{}$&#%_"},
    }
)
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~&$])")
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
_NOT_IN_CSV = (Mapping, list, tuple)
_TEXT_COLUMNS = {"model", "prompt", "arm", "metric"}


@dataclass(frozen=True, slots=True)
class Document:
    """Tables under a title, with a legend and problems.

    ``rows`` has every number of the document once, with all that identifies it; CSV files have
    their texts and numbers. ``short_legend`` stands for the legend on a terminal.
    """

    title: str
    grids: tuple[Grid, ...]
    legend: str = ""
    problems: tuple[Problem, ...] = ()
    short_legend: str = ""
    rows: tuple[Mapping[str, object], ...] = ()

    @property
    def whole(self) -> bool:
        """True if every result is used, and is compared with those that it should be."""
        return not any(problem.lost for problem in self.problems)

    def files(self, name: str) -> dict[str, str]:
        """Return the document as files of this name, by ending."""
        problems = [problem._asdict() for problem in self.problems]
        return {
            f"{name}.md": markdown(self),
            f"{name}.tex": latex(self),
            f"{name}.csv": csv_text(self),
            f"{name}.json": json_text(legend=self.legend, rows=self.rows, problems=problems),
        }


# --- Plain text ----------------------------------------------------------------------------------


def plain_text(document: Document) -> str:
    """Return the document for a terminal, as aligned columns."""
    legends = dict.fromkeys(grid.legend for grid in document.grids)
    blocks = []
    for grid in document.grids:
        lines = [grid.header, *(line for _, of_section in grid.sections for line in of_section)]
        cells = (_cells(line, visible, _plain_number) for line in lines)
        rows = iter(columns(cells, gap="  ").split("\n"))
        caption = f" ({grid.caption})" if grid.caption else ""
        text = [visible(grid.title + caption), next(rows)]
        for title, of_section in grid.sections:
            text += [f"{title}:"] if title not in {"", "Runs"} else []
            text += islice(rows, len(of_section))
        text += (f"[{letter}] {visible(note)}" for letter, note in grid.notes.items())
        if grid.missing:
            text.append(visible(grid.missing))
        blocks.append("\n".join(text))
    blocks.append("\n".join([*legends, document.short_legend]))
    if document.problems:
        ordered = sorted(document.problems, key=lambda problem: not problem.lost)
        blocks.append("\n".join(["Problems:", *(f"  {visible(problem)}" for problem in ordered)]))
    return "\n\n".join(block for block in blocks if block)


def _cells(
    line: Line, text: Callable[[str], str], number: Callable[[Number], str]
) -> tuple[str, ...]:
    """Return a line in a format, by how this writes a text and a number."""
    return tuple(text(each) if isinstance(each, str) else number(each) for each in line)


def _plain_number(number: Number) -> str:
    value, interval, mark, letters = number
    notes = "".join(f"[{letter}]" for letter in letters)
    around = f" [{interval}]" if interval else ""
    return f"{value}{mark}{around}{' ' if value and notes else ''}{notes}"


# --- Markdown ------------------------------------------------------------------------------------


def markdown_text(text: str) -> str:
    """Return the text for a cell of a Markdown table, with HTML escaped."""
    return _MARKDOWN.sub(r"\\\1", visible(text)).replace("\\<", "&lt;").replace("\\>", "&gt;")


def markdown(document: Document) -> str:
    """Return the document as Markdown; its legend is Markdown already."""
    lines = [f"# {markdown_text(document.title)}", "", document.legend]
    for grid in document.grids:
        lines += ["", f"## {markdown_text(grid.title)}", ""]
        if grid.caption:
            lines += [markdown_text(grid.caption), ""]
        lines += [_markdown_row(grid.header), "|" + "---|" * len(grid.header)]
        for label, rows in grid.sections:
            if label:
                lines.append(f"| *{label}* |" + "  |" * (len(grid.header) - 1))
            lines += map(_markdown_row, rows)
        notes = (f"[{letter}] {note}" for letter, note in grid.notes.items())
        for text in (*notes, grid.missing, grid.legend):
            lines += ["", markdown_text(text)] if text else []
    if document.problems:
        lines += ["", "## Problems", ""]
    lines += (f"- {markdown_text(str(problem))}" for problem in document.problems)
    return "\n".join(lines) + "\n"


def _markdown_row(line: Line) -> str:
    return f"| {' | '.join(_cells(line, markdown_text, _markdown_number))} |"


def _markdown_number(number: Number) -> str:
    value, interval, mark, letters = number
    around = rf" \[{interval}\]" if interval else ""
    notes = "".join(rf" \[{letter}\]" for letter in letters)
    return f"{value}{mark}{around}{notes}".lstrip()


# --- LaTeX ---------------------------------------------------------------------------------------


def latex_text(text: str) -> str:
    """Return the text with the special characters of LaTeX escaped."""
    return visible(text).translate(_LATEX)


def latex(document: Document) -> str:
    """Return the tables for the package `booktabs`; legend and problems are comments."""
    comments = [r"\usepackage{booktabs}", *document.legend.split(". ")]
    comments += (visible(problem) for problem in document.problems)
    lines = [f"% {comment}" for comment in comments]
    for grid in document.grids:
        captions = (f"{latex_text(text)}." for text in (grid.title, grid.caption) if text)
        notes = (
            rf" \textsuperscript{{{letter}}}~{latex_text(note)}."
            for letter, note in grid.notes.items()
        )
        texts = sum(name in _TEXT_COLUMNS for name in grid.header)
        aligned = "l" * texts + "r" * (len(grid.header) - texts)
        lines += ["", r"\begin{table}", r"\centering"]
        lines += [rf"\caption{{{' '.join(captions)}{''.join(notes)}}}"]
        lines += [rf"\begin{{tabular}}{{{aligned}}}", r"\toprule", _latex_row(grid.header)]
        for label, rows in grid.sections:
            lines.append(r"\midrule")
            if label:
                lines.append(rf"\multicolumn{{{len(grid.header)}}}{{l}}{{\emph{{{label}}}}} \\")
            lines += map(_latex_row, rows)
        lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "\n".join(lines) + "\n"


def _latex_row(line: Line) -> str:
    return " & ".join(_cells(line, latex_text, _latex_number)) + r" \\"


def _latex_number(number: Number) -> str:
    value, interval, mark, letters = number
    value = f"${value}$" if value.startswith(("+", "-")) else value
    around = rf" {{\scriptsize $[{interval}]$}}" if interval else ""
    raised = rf"\textsuperscript{{{','.join(letters)}}}" if letters else ""
    return f"{value}{latex_text(mark)}{around}{raised}"


# --- Data ----------------------------------------------------------------------------------------


def csv_field(text: str) -> str:
    """Return the text for a CSV field, which spreadsheets do not take for a formula."""
    harmless = visible(text)
    return f"'{harmless}" if harmless.lstrip().startswith(_FORMULA) else harmless


def csv_text(document: Document) -> str:
    """Return the rows of a document as CSV; missing fields are empty, lists and records absent."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for number, row in enumerate(document.rows):
        own = {name: value for name, value in row.items() if not isinstance(value, _NOT_IN_CSV)}
        if number == 0:
            writer.writerow(own)
        writer.writerow(
            csv_field(value) if isinstance(value, str) else value for value in own.values()
        )
    return text.getvalue()


def json_text(**content: object) -> str:
    """Return the content as JSON under the version of its format; NaN and infinity are null."""
    text = json.dumps(to_builtins(content, enc_hook=str))
    finite = json.loads(text, parse_constant=lambda _: None)
    # ASCII only: harmless on a terminal
    return json.dumps({"schema": SCHEMA, **finite}, indent=2) + "\n"


def save(folder: Path, files: Mapping[str, str], outdated: Iterable[str] = ()) -> None:
    """Write files into a folder, by name, in place of those and ``outdated`` ones of a former one.

    All change at one moment, as :func:`~spor_tasks.core.together.replace_files` says.

    Raises:
        ConfigError: a file cannot be written.
    """
    if folder.is_file():
        raise ConfigError("is a file", where=folder, remedy="Name a folder.")
    content = {name: text.encode(errors="backslashreplace") for name, text in files.items()}
    with writing(folder):
        replace_files(folder, content, outdated)
