"""The elements of a page, and the samples that are packed in it."""

import base64
import gzip
import json
import re
from html.parser import HTMLParser

from spor_tasks import report
from spor_tasks.report import browser, leaderboard, page, tables


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def tags_of(html):
    """Return the name and the attributes of each element."""
    parser = _Tags()
    parser.feed(html)
    parser.close()
    return parser.found


def page_of(folder):
    """Return the page of the results in a folder, without plots."""
    found = report.collect([folder])
    ranking = leaderboard.document(report.rank(found))
    browsed = browser.browse(found.samples)
    return page.page(
        tables.document(found),
        ranking=ranking,
        rows=found.measured,
        browser=browsed,
        drawn=(),
        answers=(),
    )


def chunk(html, number):
    """Return the content of a chunk of samples."""
    (packed,) = re.findall(rf'id="chunk-{number}">([^<]*)</script>', html)
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def packed_rows(html, packing):
    """Return the rows of a test set or a run of the index."""
    return [row for number in packing["chunks"] for row in chunk(html, number)]
