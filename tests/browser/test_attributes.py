"""Samples of CompMCTG in a real browser: what each classifier says of a text."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from spor_tasks import report
from tests.browser.steps import Opener, shown
from tests.support import attribute_runs
from tests.support.invented_runs import HOSTILE


@pytest.fixture(scope="module")
def attribute_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("attributes")
    report.write([attribute_runs.write(folder / "runs")], folder)
    return folder / report.PAGE


def said(page: Page) -> list[str]:
    return page.locator("#sample .attributes").all_inner_texts()


def test_the_values_that_classifiers_find_stand_below_the_text(
    open_page: Opener, attribute_page: Path
) -> None:
    page = open_page(file=attribute_page, address="#sample=0.0")
    assert shown(page, 0)
    assert said(page) == ["Judged as: sentiment Negative, tense Past (asked: Present), topic Food"]
    expect(page.locator("#sample .attributes b")).to_have_text("Past")
    expect(page.locator("#sample .head .where")).to_contain_text("begins “")
    assert page.locator("#sample td.told .word").all_inner_texts() == ["told", "missing", "told"]
    page = open_page(file=attribute_page, address="#sample=0.1")
    assert shown(page, 1)
    assert said(page) == []
    assert page.locator("#sample td.told").count() == 0


def test_what_classifiers_say_is_text_and_nothing_else(
    open_page: Opener, attribute_page: Path
) -> None:
    page = open_page(file=attribute_page, address="#sample=0.2")
    assert shown(page, 2)
    assert page.locator("#sample .attributes").locator("script, img").count() == 0
    assert not page.evaluate("window.broken")
    assert HOSTILE[0][:5] in said(page)[0]
