"""The gallery names every kind of error, every mark and every key there is."""

import re

from spor_tasks.report.marking import Fault
from tests.conftest import REPOSITORY

GALLERY = (REPOSITORY / "docs" / "gallery.md").read_text()
REPORT = REPOSITORY / "spor_tasks" / "report"
SCRIPT = (REPORT / "page.js").read_text()


def rows(header: str) -> str:
    """The table below a header, without it."""
    table = GALLERY.partition(f"| {header} |")[2].partition("\n\n")[0]
    return " ".join(line.split("|")[1] for line in table.splitlines()[2:])


def test_every_kind_of_error_is_explained() -> None:
    named = re.split(r", | {2,}", rows("kind").strip())
    assert sorted(named) == sorted(Fault)


def test_every_key_is_named_here_and_on_the_page() -> None:
    (block,) = re.findall(r"^const KEYS = (\{.*?\});", SCRIPT, re.MULTILINE | re.DOTALL)
    keys = set(re.findall(r"^  '?([^\s']+?)'?: ", block, re.MULTILINE))
    assert keys == set("jk/m")
    assert keys <= set(re.findall(r"`(\S)`", rows("key")))
    assert keys <= set(re.findall(r"<kbd>(\S)</kbd>", (REPORT / "page.html.j2").read_text()))


def test_pictures_are_there_and_small() -> None:
    pictures = re.findall(r"\]\((gallery/[\w-]+\.png)\)", GALLERY)
    assert len(pictures) == 4
    assert all((REPOSITORY / "docs" / name).stat().st_size < 200_000 for name in pictures)
