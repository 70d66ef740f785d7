"""A real Chromium, without a window and without a network."""

import os
import shutil

import pytest
from playwright.sync_api import sync_playwright

from spor_tasks import report
from tests.browser.steps import DESKTOP, settle
from tests.support import invented_runs

# Set where a browser must be at hand: a test that would skip for want of one then fails.
REQUIRE = "SPOR_REQUIRE_BROWSER"

_SWITCHES = "no-sandbox disable-gpu disable-quic no-first-run disable-background-networking"


@pytest.fixture(scope="module")
def chromium():
    """The browser; it is closed before other tests, for Playwright keeps an event loop running."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        reason = "no Chromium here: the page is not tested in a browser"
        if os.environ.get(REQUIRE):
            pytest.fail(f"{REQUIRE} is set, and there is {reason}")
        pytest.skip(reason)
    with sync_playwright() as playwright:
        arguments = [f"--{switch}" for switch in _SWITCHES.split()]
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def report_page(tmp_path_factory):
    """The page of invented runs of all aspects."""
    folder = tmp_path_factory.mktemp("report")
    report.write([invented_runs.write(folder / "runs")], folder)
    return folder / report.PAGE


@pytest.fixture
def open_page(chromium, report_page):
    """Open a page; in the end nothing may have gone wrong in it, or left it."""
    contexts, faults, requested = [], [], []

    def opened(address="", size=DESKTOP, scheme="light", file=report_page):
        screen = {"width": size[0], "height": size[1]}
        context = chromium.new_context(viewport=screen, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: faults.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        page.on("request", lambda request: requested.append((request.url, file.as_uri())))
        page.goto(f"{file.as_uri()}{address}")
        page.evaluate("started")
        settle(page)
        return page

    yield opened
    for context in contexts:
        for page in context.pages:
            assert page.evaluate("window.broken") is None
        context.close()
    assert faults == []
    assert [url for url, own in requested if not url.startswith((own, "data:"))] == []
