"""Kinds of samples in a real browser: tables, cells, pairs of texts, attributes, twins."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from spor_tasks import report
from spor_tasks.corpora.embedded import TOTTO_MINI
from tests.browser.steps import PHONE, Opener, choose, shown
from tests.support import attribute_runs, cell_runs, table_runs
from tests.support.invented_runs import HOSTILE
from tests.support.twin_runs import OUTPUTS, spec_of, write_run

Reported = Callable[[Callable[[Path], object]], Path]


@pytest.fixture
def reported(tmp_path: Path) -> Reported:
    """Report runs that a function writes, and return the page."""

    def made(write: Callable[[Path], object]) -> Path:
        write(tmp_path / "runs")
        report.write([tmp_path / "runs"], tmp_path)
        return tmp_path / report.PAGE

    return made


def heads(page: Page, side: int) -> list[str]:
    return [text.split()[0] for text in page.locator(f".cells th.about-{side}").all_inner_texts()]


def test_attributes_are_compared_with_the_requested_ones(
    open_page: Opener, reported: Reported
) -> None:
    file = reported(attribute_runs.write)
    page = open_page("#sample=0", file=file)
    shown(page, 0)
    expect(page.locator("#sample .note", has_text="judged as")).to_have_text(
        "judged as: sentiment Negative, tense Past (requested: Present), topic Food"
    )
    verdicts = page.locator("#sample td.verdict").all_inner_texts()
    assert verdicts == ["✓ expressed", "✗ missing", "✓ expressed"]
    page.keyboard.press("j")
    shown(page, 1)
    assert page.locator("#sample td.verdict").count() == 0  # nobody judged
    page.keyboard.press("j")
    shown(page, 2)
    expect(page.locator("#sample .note", has_text="judged as")).to_contain_text(HOSTILE[0][:5])
    assert page.locator("#sample .note", has_text="judged as").locator("script, img").count() == 0


def test_highlighted_cells_say_what_the_output_tells(open_page: Opener, reported: Reported) -> None:
    samples = TOTTO_MINI.part("test")[:4]
    unit = samples[1].units[0]
    outputs = [samples[0].references[0], f"There is {unit[1]}.", "Nothing.", "Nothing."]
    last = cell_runs.harmful()
    file = reported(lambda folder: cell_runs.write_run(folder, samples, outputs, last=last))
    page = open_page("#sample=0", file=file)
    shown(page, 0)
    expect(page.locator(".cells .highlighted")).to_have_count(len(samples[0].units))
    for number, each in enumerate(samples[0].units):
        expect(page.locator(f'.cells [data-unit="{number}"]')).to_contain_text(each[1])
    page.locator(".cells [data-unit='1']").hover()
    expect(page.locator(".cells .lit")).to_have_count(1)
    expect(page.locator(".output mark.lit").first).to_be_visible()
    page.keyboard.press("End")
    page = open_page("#sample=3", PHONE, scheme="dark", file=file)
    shown(page, 3)
    assert page.locator(".cells tr").count() < 30
    expect(page.locator(".cells")).to_contain_text("rows not shown")
    expect(page.locator('.cells [data-unit="0 1"]')).to_contain_text("cell 57")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("#query").fill("cell 57")
    expect(page.locator("#count")).to_have_text("1 of 4 samples")


def test_a_table_shows_its_linked_columns_and_a_pair_which_text_is_likelier(
    open_page: Opener, reported: Reported
) -> None:
    file = reported(table_runs.write)
    page = open_page("#sample=0", file=file)
    shown(page, 0)
    assert heads(page, 0) == ["baker", "goats"]
    expect(page.locator("#sample .note").first).to_contain_text("read as false: eq{1;")
    page = open_page("#sample=3", PHONE, file=file)
    expect(page.locator(".cells tbody tr")).to_have_count(1 + table_runs.ROWS)
    expect(page.locator(".cells tbody tr").nth(1)).to_contain_text(HOSTILE[0])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page = open_page(file=file)
    choose(page, "part", "adversarial")
    notes = page.locator("#sample .outputs").first.locator(".note")
    expect(notes.first).to_contain_text("log likelihood -20.00, -2.000 by token")
    expect(notes.last).to_have_text("likelier: by token text, by sum text, by byte text")
    page.locator("#next").click()
    expect(notes.last).to_contain_text("by token contrast")
    expect(page.locator("#sample .fault")).to_have_count(0)


def test_each_output_names_its_side_and_order(open_page: Opener, reported: Reported) -> None:
    spec = spec_of("order_invariance", "main")
    file = reported(lambda folder: write_run(folder, spec, OUTPUTS, "original", 0.0))
    page = open_page("#beside=none", file=file)
    expect(page.locator(".outputs .order")).to_have_text(
        [
            f"Output for {side}, input order {order}"
            for side in ("the original", "the twin")
            for order in ("0 1", "1 0")
        ]
    )
    twin = page.locator(".card", has_text="Twin").last
    expect(twin).to_contain_text("Velmic")
    expect(twin).to_contain_text("The Elm serves Velmic food")
