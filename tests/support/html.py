"""The elements of a page, and the samples that are packed in it."""

import base64
import gzip
import json
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from spor_tasks import report
from spor_tasks.report import browser, leaderboard, page, tables


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def tags_of(html: str) -> list[tuple[str, dict[str, str | None]]]:
    """Return the name and the attributes of each element."""
    parser = _Tags()
    parser.feed(html)
    parser.close()
    return parser.found


def page_of(folder: Path) -> str:
    """Return the page of the results in a folder, without plots."""
    found = report.collect([folder])
    ranking = leaderboard.document(report.rank(found))
    browsed = browser.browse(found.samples)
    return page.page(tables.document(found), ranking, found.measured, browsed, ())


def chunk(html: str, number: int) -> Any:  # noqa: ANN401 - any JSON value
    """Return the content of a chunk of samples."""
    (packed,) = re.findall(rf'id="chunk-{number}">([^<]*)</script>', html)
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def packed_rows(html: str, packing: Mapping[str, Any]) -> list[Any]:
    """Return the rows of a test set or a run of the index."""
    return [row for number in packing["chunks"] for row in chunk(html, number)]
