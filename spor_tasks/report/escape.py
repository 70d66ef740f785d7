"""Escape text from outside: each function is for one kind of file."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence

from spor_tasks.core.visible import visible

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # which after the end of a row would be its argument, as would a star
    "*": "{*}",
    '"': r"\textquotedbl{}",
    "−": "$-$",
    "†": r"$^\dagger$",
    "‡": r"$^\ddagger$",
}
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~&$])")
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


def markdown_text(text: str) -> str:
    """Return the text for a cell of a Markdown table, with HTML escaped."""
    return _MARKDOWN.sub(r"\\\1", visible(text)).replace("\\<", "&lt;").replace("\\>", "&gt;")


def latex_text(text: str) -> str:
    """Return the text with the special characters of LaTeX escaped."""
    return "".join(_LATEX.get(char, char) for char in visible(text))


def csv_field(text: str) -> str:
    """Return the text for a CSV field, so that no spreadsheet takes it for a formula."""
    shown = visible(text)
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) else shown


def csv_table(fields: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Return the rows as CSV under the names of the fields; missing fields are empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fields, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow(
            {
                name: csv_field(value) if isinstance(value, str) else value
                for name, value in row.items()
            }
        )
    return text.getvalue()
