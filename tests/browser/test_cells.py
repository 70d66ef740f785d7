"""Samples about tables of cells in a real browser: which cells are highlighted, and told."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from spor_tasks import report
from spor_tasks.corpora.embedded import TOTTO_MINI
from tests.browser.steps import DESKTOP, PHONE, Opener, choose, count, shown
from tests.support import cell_runs

SAMPLES = TOTTO_MINI.part("test")[:4]
OUTPUTS = [
    SAMPLES[0].references[0],
    f"There is {SAMPLES[1].units[0][1]}.",
    "Nothing at all.",
    "Nothing at all.",
]


@pytest.fixture(scope="module")
def cell_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cells")
    cell_runs.write_run(folder / "one", SAMPLES, OUTPUTS, last=cell_runs.harmful())
    texts = [sample.references[0] for sample in SAMPLES]
    last = cell_runs.harmful()
    cell_runs.write_run(folder / "other", SAMPLES, texts, last=last, arm="train", seed=0)
    report.write([folder], folder)
    return folder / report.PAGE


def signs(page: Page) -> list[str]:
    return [text.strip() for text in page.locator(".cells .sign").all_inner_texts()]


def test_highlighted_cells_say_what_the_output_tells(open_page: Opener, cell_page: Path) -> None:
    page = open_page(file=cell_page, address="#sample=0.0")
    assert shown(page, 0)
    units = SAMPLES[0].units
    expect(page.locator(".cells .highlighted")).to_have_count(len(units))
    for number, unit in enumerate(units):
        cell = page.locator(f'.cells [data-unit="{number}"]')
        expect(cell).to_contain_text(unit[1])
        expect(cell.locator(".sign")).to_contain_text("told")
    expect(page.locator(".cells th")).not_to_have_count(0)
    expect(page.locator("#sample .units").nth(1).locator("tbody tr")).to_have_count(len(units))
    page.locator("#next").click()
    assert shown(page, 1)
    texts = signs(page)
    assert sum("missing" in text for text in texts) == len(SAMPLES[1].units) - 1


def test_a_unit_lights_up_in_the_table_and_in_the_output(
    open_page: Opener, cell_page: Path
) -> None:
    page = open_page(file=cell_page, address="#sample=0.0")
    assert shown(page, 0)
    page.locator(".cells [data-unit='1']").hover()
    expect(page.locator(".cells .lit")).to_have_count(1)
    expect(page.locator(".output mark.lit").first).to_be_visible()


@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "dark"), (PHONE, None)])
def test_a_large_table_of_harmful_cells_is_bounded(
    open_page: Opener, cell_page: Path, size: tuple[int, int], scheme: str | None
) -> None:
    page = open_page(size, scheme=scheme, file=cell_page, address="#sample=0.3")
    assert shown(page, 3)
    rows = page.locator(".cells tr")
    assert rows.count() < 30
    expect(page.locator(".cells")).to_contain_text("rows not shown")
    expect(page.locator(".cells")).to_contain_text("38 cells")
    expect(page.locator('.cells [data-unit="0 1"]')).to_contain_text("cell 57")
    page.locator('#sample [role="region"]').first.focus()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_cells_and_halves_are_found(open_page: Opener, cell_page: Path) -> None:
    page = open_page(file=cell_page)
    page.locator("#query").fill("cell 57")
    expect(page.locator("#count")).to_have_text("2 of 8 samples")
    page.locator("#query").fill("")
    expect(page.locator("#count")).to_have_text("8 samples")
    choose(page, "category", "overlap")
    halves = [sample.context["overlap"] for sample in SAMPLES]
    assert count(page) == 2 * sum(map(bool, halves))
