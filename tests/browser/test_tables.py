"""Samples about tables in a real browser: linked columns, pairs of texts, programs."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from spor_tasks import report
from tests.browser.steps import PHONE, Opener, choose, shown
from tests.support import table_runs
from tests.support.invented_runs import HOSTILE


@pytest.fixture(scope="module")
def table_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    report.write([table_runs.write(folder / "runs")], folder)
    return folder / report.PAGE


def heads(page: Page, side: int) -> list[str]:
    return [
        text.split()[0] for text in page.locator(f".about thead .about-{side}").all_inner_texts()
    ]


def test_a_table_shows_its_linked_columns_and_the_program_of_an_output(
    open_page: Opener, table_page: Path
) -> None:
    page = open_page(file=table_page, address="#sample=0.0")
    assert shown(page, 0)
    assert heads(page, 0) == ["baker", "goats"]
    expect(page.locator(".about td.about-0")).to_have_count(6)
    expect(page.locator("#sample .reading")).to_contain_text(
        "Read as false: eq{1; count{all_rows}}"
    )
    assert page.locator(".trace li").all_inner_texts()[:2] == [
        "all_rows → rows 1, 2, 3",
        "count{all_rows} → 3",
    ]
    page.locator("#next").click()
    expect(page.locator(".trace li").last).to_contain_text(HOSTILE[0])
    page.locator("#next").click()
    expect(page.locator("#sample .reading")).to_have_text("0 programs found, search ended: steps")


@pytest.mark.parametrize("size", [(1280, 900), PHONE])
def test_a_long_table_shows_the_rest_when_asked(
    open_page: Opener, table_page: Path, size: tuple[int, int]
) -> None:
    page = open_page(size, file=table_page, address="#sample=0.3")
    rows = page.locator(".about tbody tr")
    expect(rows).to_have_count(40)
    page.locator(".more").click()
    expect(rows).to_have_count(table_runs.ROWS)
    expect(page.locator(".more")).to_have_count(0)
    expect(rows.first).to_contain_text(HOSTILE[0])
    expect(page.locator("#sample h4").first).to_contain_text("onerror")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_pair_shows_both_texts_and_which_is_likelier(open_page: Opener, table_page: Path) -> None:
    page = open_page(file=table_page)
    choose(page, "part", "adversarial")
    said = page.locator("#sample .likelier")
    wins = page.locator("#sample .wins th")
    expect(wins).to_have_text("▸ text")
    expect(said).to_have_text("Likelier: by token text, by sum text, by byte text")
    assert heads(page, 0) == heads(page, 1) == ["baker", "goats"]
    cells = page.locator("#sample .given tbody tr").first.locator("td.number")
    assert cells.all_inner_texts()[:3] == ["−20.00", "10", "−2.000"]
    page.locator("#next").click()
    expect(wins).to_have_text("▸ contrast")
    page.locator("#next").click()
    expect(said).to_contain_text("by token contrast, by sum text")
    page.locator("#next").click()
    expect(said).to_contain_text("by token neither")
    expect(wins).to_have_count(0)
    expect(page.locator("#sample .fault")).to_have_count(0)


def test_a_cell_is_found_by_its_words(open_page: Opener, table_page: Path) -> None:
    page = open_page(file=table_page)
    page.locator("#query").fill("cell 57")
    expect(page.locator("#count")).to_have_text("3 of 12 samples")
