"""The site of these pages, which `make docs` builds in build/site: for Sphinx.

Sphinx with MyST reads the pages as they are, refuses links to nothing, and is kept. MkDocs had its
last release in 2024, and its theme Material is only mended. Zensical, which follows them, has no
version 1 yet.
"""

import re
from importlib import metadata
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

project = "spor-tasks"
author = "the authors of spor-tasks"
release = version = metadata.version("spor-tasks")
extensions = ["myst_parser"]
myst_heading_anchors = 4
nitpicky = True
html_theme = "furo"
html_title = f"{project} {release}"

GLOSSARY = "glossary"
COMMON = {"as is", "base", "mark", "part"}
"""Terms that are words of other sentences too, and get no link by themselves."""
TERMS = {
    term.casefold(): re.sub(r"\W+", "-", term.casefold())
    for term in re.findall(
        "(?m)^## (.+)$", Path(__file__).with_name(f"{GLOSSARY}.md").read_text("utf-8")
    )
    if term.casefold() not in COMMON
}
"""The anchors of all other terms."""

_LEFT_OUT = (nodes.title, nodes.reference, nodes.literal, nodes.literal_block)


def with_terms(app: Sphinx, page: nodes.document, name: str) -> None:
    """Link the first use of each term on a page to the glossary."""
    if name == GLOSSARY:
        return
    left, address = dict(TERMS), app.builder.get_relative_uri(name, GLOSSARY)
    for text in [*page.findall(nodes.Text)]:
        above, parents = text.parent, list[nodes.Node]()
        while above is not None:
            parents.append(above)
            above = above.parent
        if any(isinstance(each, _LEFT_OUT) for each in parents):
            continue
        terms = "|".join(map(re.escape, left)) or "(?!)"
        parts, end = list[nodes.Node](), 0
        for found in re.finditer(rf"(?i)\b({terms})(?:s|es)?\b", text):
            if anchor := left.pop(found[1].casefold(), None):
                parts.append(nodes.Text(text[end : found.start()]))
                link = nodes.reference("", found[0], refuri=f"{address}#{anchor}")
                parts.append(link)
                end = found.end()
        if parts:
            text.parent.replace(text, [*parts, nodes.Text(text[end:])])


def setup(app: Sphinx) -> None:
    """Add the links to the glossary."""
    app.connect("doctree-resolved", with_terms)
