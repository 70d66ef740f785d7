"""Whatever others wrote, it is text on the page, and the page has it as it was."""

import base64
import gzip
import json
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.visible import visible
from spor_tasks.report import browser
from spor_tasks.report.marking import mark
from spor_tasks.report.page import template
from spor_tasks.report.views import OutputView
from spor_tasks.results.runs import Problem
from spor_tasks.results.tables import Grid
from tests.support.html import tags_of
from tests.support.invented_runs import HOSTILE, town

anything = st.text(st.characters(exclude_categories=[]), max_size=40)
# What was logged as JSON has no two halves of a pair side by side.
texts = (
    anything.filter(lambda text: json.loads(json.dumps(text)) == text)
    | st.sampled_from(HOSTILE)
    | st.lists(st.sampled_from("<>&\"'`=/ -!")).map("".join)
)


PAGE = template()
EMPTY = dict.fromkeys(("tables", "plots", "problems", "sections", "chunks"), ())
TEXTS = ("version", "name", "tasks", "models", "style", "script", "missing", "footer")


def page(**content: Any) -> str:  # noqa: ANN401 - what the template takes
    return PAGE.render({**EMPTY, **dict.fromkeys(TEXTS, ""), "digests": ("", ""), **content})


def in_a_table(text: str) -> str:
    name = f"a{text}"  # which is never a number
    grid = Grid(text, text, (name, "n"), ((name, "1"),), ((name, "2"),), (text,))
    return page(tables=[("tables", "", [grid])])


def in_a_problem(text: str) -> str:
    return page(problems=[Problem("kind", text, text)])


def tags(html: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(tag, tuple(attributes)) for tag, attributes in tags_of(html)]


@pytest.mark.parametrize("shown_in", [in_a_table, in_a_problem])
@given(text=texts)
def test_a_text_adds_no_element_and_no_attribute(shown_in: Callable[[str], str], text: str) -> None:
    html = shown_in(text)
    assert tags(html) == tags(shown_in("plain" if text else ""))
    assert unescape(re.sub(r"<[^>]*>", "", html)).count(visible(text)) >= 2 or not text.strip()
    html.encode()


@given(st.lists(texts, max_size=5))
def test_outputs_are_packed_as_they_are(outputs: list[str]) -> None:
    sample = town(2)
    rows = [
        browser._output(OutputView(mark(sample, output, output), "", (), ())) for output in outputs
    ]
    packed = browser._packed(browser._json(rows))
    assert re.fullmatch(r"[A-Za-z0-9+/=]*", packed)
    found = json.loads(gzip.decompress(base64.b64decode(packed)))
    assert [row["text"] for row in found] == outputs
