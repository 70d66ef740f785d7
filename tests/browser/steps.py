"""What people do with the page, and see of it."""

import re

from playwright.sync_api import expect

DESKTOP, PHONE = (1280, 900), (390, 800)


# Texts of rows and of the chosen sample are unpacked after the list stands.
_SETTLED = """() => {
  const row = document.querySelector('#list :checked');
  const texts = [...document.querySelectorAll('.row .text')];
  const shown = document.querySelector('#sample')?.dataset.shown;
  return (!row || shown === row.value) && texts.every((each) => each.textContent !== '…');
}"""


def settle(page):
    """Wait until the list and the chosen sample are shown whole."""
    page.wait_for_function(_SETTLED)


def count(page):
    settle(page)
    expect(page.locator("#count")).to_have_text(re.compile(r"^\d"))
    (number,) = re.findall(r"^[\d,]+", page.locator("#count").inner_text())
    return int(number.replace(",", ""))


def choose(page, name, label):
    page.locator(f"#filter-{name}").select_option(label=label)
    settle(page)


def shown(page, row=None):
    """Wait for the chosen sample, and return its id."""
    if row is not None:
        expect(page.locator("#sample")).to_have_attribute("data-shown", str(row))
    settle(page)
    return page.locator("#sample .where code").inner_text()
