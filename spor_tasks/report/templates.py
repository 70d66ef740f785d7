"""The templates of this folder, for HTML and SVG."""

import html
import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from spor_tasks.core.visible import visible


def html_text(text: str) -> str:
    """Return the text for HTML, in an element or a quoted attribute."""
    return html.escape(visible(text))


def _lines(text: str) -> Markup:
    """Return a text whose lines end after a slash of a long name, and not in ``p < 0.05``."""
    whole = re.sub(
        r"\b([pn]) ([<=]) (?=[\d.])", "\\1\N{NO-BREAK SPACE}\\2\N{NO-BREAK SPACE}", visible(text)
    )
    return Markup(html.escape(whole).replace("/", "/<wbr>"))  # noqa: S704 - escaped


def template(name: str) -> Template:
    """Return a template of this folder; it escapes every value that is not marked as safe."""

    def escaped(value: object) -> Markup:
        return value if isinstance(value, Markup) else Markup(html_text(str(value)))  # noqa: S704 - escaped

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        finalize=escaped,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["lines"] = _lines
    return environment.get_template(name)
