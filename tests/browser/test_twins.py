"""A sample and its twin in the page."""

from pathlib import Path

from spor_tasks import report
from tests.browser.steps import Opener
from tests.support.twin_runs import OUTPUTS, spec_of, write_run


def test_each_output_says_which_side_and_order_it_is_for(open_page: Opener, tmp_path: Path) -> None:
    write_run(tmp_path / "runs", spec_of("order_invariance", "main"), OUTPUTS, "original", 0.0)
    report.write([tmp_path / "runs"], tmp_path)
    page = open_page(address="#beside=none", file=tmp_path / report.PAGE)
    assert page.locator(".outputs .order").all_inner_texts() == [
        f"Output for {side}, input order {order}"
        for side in ("the original", "the twin")
        for order in ("0 1", "1 0")
    ]
    twin = page.locator(".card", has_text="Twin").last
    assert "Velmic" in twin.inner_text()
    assert "The Elm serves Velmic food" in twin.inner_text()
