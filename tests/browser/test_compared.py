"""The page of two systems in a real browser: any task, the largest differences first."""

from functools import partial

import pytest
from playwright.sync_api import expect

from spor_tasks import report
from tests.browser.steps import PHONE, choose, count, shown
from tests.support import foreign_tasks
from tests.support.invented_runs import HOSTILE, town
from tests.support.result_files import rows_of, write_rows


@pytest.fixture
def compared(tmp_path, open_page):
    """Compare folders, and return the opener."""

    def made(*folders):
        report.write_compare(folders, tmp_path / "out")
        return partial(open_page, file=tmp_path / "out" / report.PAGE)

    return made


@pytest.fixture
def foreign(tmp_path):
    """Two systems on tasks that are not ours, with documents and outputs that mean harm."""
    docs = foreign_tasks.documents(12)
    for doc, text in zip(docs, HOSTILE, strict=False):
        doc["question"] += f" {text}".replace("\ud800", "")
    tasks = foreign_tasks.write_tasks(tmp_path / "tasks", docs)
    runs = [
        foreign_tasks.evaluate(tasks, tmp_path / name, right=right, seed=right)
        for name, right in (("before", 3), ("after", 8))
    ]
    with foreign_tasks.edited_rows(runs[1], foreign_tasks.TEXTS) as rows:
        rows[0]["resps"] = rows[1]["resps"] = [[HOSTILE[0]]]  # of both filters
    return runs


def test_systems_stand_side_by_side_and_differences_come_first(compared, foreign):
    page = compared(*foreign)()
    assert count(page) == 24
    expect(page.locator("#count")).to_have_text("24 samples")
    cards = page.locator(".outputs h4")
    assert [text.partition(" ")[0] for text in cards.all_inner_texts()] == ["before", "after"]
    changed = [row.locator(".fault").count() > 0 for row in page.locator(".row").all()]
    assert changed == sorted(changed, reverse=True)
    assert sum(changed) > 0
    choose(page, "order", "as in files")
    shown(page)
    page.locator("#kinds label", has_text="other output").click()
    assert count(page) == sum(changed)
    expect(page.locator("#sample .outputs").last.locator(".fault.change").last).to_have_text(
        "other output"
    )
    page.locator("#clear").click()
    choose(page, "test", foreign_tasks.CHOICES)
    assert count(page) == 12
    assert page.locator("#filter-model").count() == 0  # the other system alone is listed
    expect(page.locator("#sample .card").first).to_contain_text("Who keeps light")


def test_what_others_wrote_is_text_and_is_found(compared, foreign):
    page = compared(*foreign)("", PHONE)
    page.locator("#query").fill("window.broken")
    assert count(page) > 0
    expect(page.locator("#sample")).to_contain_text("window.broken")
    assert page.locator("#samples img, #samples script, #sample b b").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_units_are_marked_where_a_task_of_ours_has_them(compared, tmp_path):
    samples = [town(number) for number in range(4)]
    for name, text in (("one", "Greyport."), ("two", "{} has the Cold Sound.")):
        outputs = [[text.format(sample.units[0].subject)] for sample in samples]
        values = [{"parent": 10.0 * number * len(name)} for number in range(4)]
        if name == "two":
            values = [{"parent": 90.0 - 10 * number} for number in range(4)]
        rows = rows_of(samples, outputs, values)
        (tmp_path / name).mkdir()
        task = {"task": "spor_systematicity_mini"}
        write_rows(tmp_path / name / "results_1.json", rows, arm="atom", **task)
    page = compared(tmp_path / "one", tmp_path / "two")()
    assert page.locator("#sample mark.unit").count() > 0
    expect(page.locator("#sample .units thead").first).to_contain_text("two")
    gaps = []
    for number in page.locator(".row input").evaluate_all("all => all.map((each) => each.value)"):
        shown(page, number)
        one, two = page.locator(".outputs .values b").all_inner_texts()
        gaps.append(abs(float(one) - float(two)))
        page.keyboard.press("j")
    assert len(gaps) == 4
    assert gaps == sorted(gaps, reverse=True)
