"""Escape text from outside: each function is for one kind of file."""

import html
import re

from spor_tasks.core.visible import visible

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


def html_text(text: str) -> str:
    """Return the text for HTML, in an element or a quoted attribute."""
    return html.escape(visible(text))


def markdown_text(text: str) -> str:
    """Return the text for a cell of a Markdown table, with HTML escaped."""
    return _MARKDOWN.sub(r"\\\1", visible(text)).replace("\\<", "&lt;").replace("\\>", "&gt;")


def latex_text(text: str) -> str:
    """Return the text with the special characters of LaTeX escaped."""
    return visible(text).translate(_LATEX)


def csv_field(text: str) -> str:
    """Return the text for a CSV field, so that no spreadsheet takes it for a formula."""
    shown = visible(text)
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) else shown
