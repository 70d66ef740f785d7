"""A picture as part of a page."""

import re

import pytest

from spor_tasks.report.svg import inline

PICTURE = """<?xml version="1.0" encoding="utf-8" standalone="no"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="100pt" height="50pt" viewBox="0 0 100 50"
 xmlns="http://www.w3.org/2000/svg" version="1.1">
 <metadata>by hand</metadata>
 <defs><style type="text/css">*{stroke-linejoin: round}</style></defs>
 <g id="figure_1"><defs><path id="m1" d="M 0 0" style="stroke: #111111"/></defs>
  <clipPath id="p1"><rect width="1" height="1"/></clipPath>
  <use xlink:href="#m1" style="fill: #123456; stroke: #111111"/>
  <path clip-path="url(#p1)" style="fill: none"/>
  <text style="font-size: 9px; font-family: 'DejaVu Sans'; text-anchor: end">a &lt;b&gt; c</text>
 </g>
</svg>"""


@pytest.fixture
def element() -> str:
    return inline(PICTURE, "one", 'a "title" & more', {"#111111": "currentColor"})


def test_no_style_is_left_that_a_policy_could_forbid(element: str) -> None:
    assert "style" not in element
    assert "metadata" not in element
    assert 'fill="#123456"' in element
    assert 'font-size="9px"' in element
    assert 'text-anchor="end"' in element
    assert "font-family" not in element


def test_colours_become_the_page_s(element: str) -> None:
    assert "#111111" not in element
    assert element.count('stroke="currentColor"') == 2


def test_ids_that_are_used_are_the_picture_s_own_and_others_go(element: str) -> None:
    assert set(re.findall(r'id="([^"]*)"', element)) == {"one-m1", "one-p1"}
    assert 'href="#one-m1"' in element
    assert 'clip-path="url(#one-p1)"' in element


def test_it_is_an_element_of_html_with_a_name(element: str) -> None:
    assert element.startswith("<svg ")
    assert "xmlns" not in element
    assert "xlink" not in element
    assert 'role="img"' in element
    assert 'aria-label="a &quot;title&quot; &amp; more"' in element
    assert 'viewBox="0 0 100 50"' in element
    assert " height=" not in element.partition(">")[0]


def test_text_stays_text(element: str) -> None:
    assert "a &lt;b&gt; c" in element
