"""Kinds of samples in a real browser: tables, cells, pairs of texts, attributes, twins."""

from functools import partial
from itertools import product

import pytest
from playwright.sync_api import expect

from spor_tasks import report
from spor_tasks.corpora.embedded import TOTTO_MINI
from tests.browser.steps import PHONE, choose, shown
from tests.support import attribute_runs, cell_runs, table_runs, twin_runs
from tests.support.invented_runs import HOSTILE


@pytest.fixture
def reported(tmp_path, open_page):
    """Report runs that a function writes; return the opener."""

    def made(write):
        write(tmp_path / "runs")
        report.write([tmp_path / "runs"], tmp_path)
        return partial(open_page, file=tmp_path / report.PAGE)

    return made


def fits(page):
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def test_attributes_are_compared_with_the_requested_ones(reported):
    page = reported(attribute_runs.write)("#sample=0")
    judged = page.locator("#sample .note", has_text="judged as")
    text = "judged as: sentiment Negative, tense Past (requested: Present), topic Food"
    expect(judged).to_have_text(text)
    verdicts = page.locator("#sample td.verdict")
    expect(verdicts).to_have_text(["✓ expressed", "✗ missing", "✓ expressed"])
    page.keyboard.press("j")
    shown(page, 1)
    assert verdicts.count() == 0  # nobody judged
    page.keyboard.press("j")
    shown(page, 2)
    expect(judged).to_contain_text(HOSTILE[0][:5])
    assert judged.locator("script, img").count() == 0


def test_highlighted_cells_say_what_the_output_expresses(reported):
    samples = TOTTO_MINI.part("test")[:4]
    outputs = [samples[0].references[0], "Nothing.", "Nothing.", "Nothing."]
    harmful = cell_runs.harmful()
    opened = reported(lambda folder: cell_runs.write_run(folder, samples, outputs, last=harmful))
    page = opened("#sample=0")
    expect(page.locator(".cells .highlighted")).to_have_count(len(samples[0].units))
    for number, each in enumerate(samples[0].units):
        expect(page.locator(f'.cells [data-unit="{number}"]')).to_contain_text(each[1])
    page.locator(".cells [data-unit='1']").hover()
    expect(page.locator(".cells .lit")).to_have_count(1)
    expect(page.locator(".output mark.lit").first).to_be_visible()
    page = opened("#sample=3", PHONE, scheme="dark")
    assert page.locator(".cells tr").count() < 30
    expect(page.locator(".cells")).to_contain_text("rows not shown")
    expect(page.locator('.cells [data-unit="0 1"]')).to_contain_text("cell 57")
    assert fits(page)
    page.locator("#query").fill("cell 57")
    expect(page.locator("#count")).to_have_text("1 of 4 samples")


def test_tables_show_linked_columns_and_pairs_their_likelier_text(reported):
    opened = reported(table_runs.write)
    page = opened("#sample=0")
    heads = page.locator(".cells th.about-0").all_inner_texts()
    assert [text.split()[0] for text in heads] == ["baker", "goats"]
    expect(page.locator("#sample .note").first).to_contain_text("read as false: eq{1;")
    page = opened("#sample=3", PHONE)
    expect(page.locator(".cells tbody tr")).to_have_count(1 + table_runs.ROWS)
    expect(page.locator(".cells tbody tr").nth(1)).to_contain_text(HOSTILE[0])
    assert fits(page)
    page = opened()
    choose(page, "test", "logicnlg_mini, published sets, adversarial pairs")
    notes = page.locator("#sample .outputs").first.locator(".note")
    expect(notes.first).to_contain_text("log likelihood -20.00, -2.000 by token")
    expect(notes.last).to_have_text("likelier: by token text, by sum text, by byte text")
    page.locator("#next").click()
    expect(notes.last).to_contain_text("by token contrast")
    expect(page.locator("#sample .fault")).to_have_count(0)


def test_each_output_names_its_side_and_order(reported):
    run = twin_runs.spec_of("order_invariance", "main"), twin_runs.OUTPUTS, "original", 0.0
    page = reported(lambda folder: twin_runs.write_run(folder, *run))("#beside=none")
    sides = product(("the original", "the twin"), ("0 1", "1 0"))
    names = [f"Output for {side}, input order {order}" for side, order in sides]
    expect(page.locator(".outputs .order")).to_have_text(names)
    twin = page.locator(".card", has_text="Twin").last
    expect(twin).to_contain_text("Velmic")
    expect(twin).to_contain_text("The Elm serves Velmic food")
