"""The pages are a site without broken links, and in the wheel, where errors and help name them."""

import ast
import re
import subprocess
import sys
import tomllib

import pytest

from spor_tasks.core import manual
from tests.conftest import REPOSITORY

DOCS = REPOSITORY / "docs"
PAGES = {path.stem for path in DOCS.glob("*.md")} - {"index"}
# Read before a server's thread prints a traceback, which Python 3.11 cannot do while it parses.
TREES = {
    path: ast.parse(path.read_text("utf-8"))
    for room in ("spor_tasks", "training")
    for path in (REPOSITORY / room).rglob("*.py")
}


def test_the_site_and_the_wheel_have_every_page():
    trees = re.findall(r"(?s)```\{toctree\}\n(.*?)```", (DOCS / "index.md").read_text("utf-8"))
    listed = {line for tree in trees for line in tree.split() if line in PAGES}
    assert listed == PAGES
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    shipped = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    pages = PAGES - {"changes"}  # which includes a file of the root
    assert {f"docs/{page}.md" for page in pages} <= shipped.keys()
    assert all(shipped[each] == f"spor_tasks/{each}" for each in shipped if "docs" in each)
    files = [REPOSITORY / each for each in shipped]
    for page in [each for file in files for each in (file, *file.rglob("*.md"))]:
        text = page.read_text("utf-8") if page.suffix == ".md" else ""
        for link in re.findall(r"\]\((?!https?:)([^)#\s]+)", re.sub(r"(?ms)^```.*?^```", "", text)):
            file = (page.parent / link).resolve()
            assert file.exists(), f"{page}: {link}"
            assert {file, *file.parents} & {*files}, f"{page}: {link}"


def test_every_text_that_names_a_page_has_its_address():
    named = []
    for path, tree in TREES.items():
        statements = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and id(node) not in statements:
                assert not re.search(r"\bdocs/[\w-]+\.md", str(node.value)), (
                    f"{path}: {node.lineno}"
                )
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "page":
                named += [each.value for each in node.args if isinstance(each, ast.Constant)]
    assert {"own-corpus", "train"} <= {*named} <= PAGES


def test_a_page_is_found_beside_the_package_of_a_wheel_and_of_a_checkout(tmp_path, monkeypatch):
    package = tmp_path / "site-packages" / "spor_tasks"
    (package / "docs").mkdir(parents=True)
    assert manual.page("data") == str(DOCS / "data.md")
    monkeypatch.setattr(manual, "_PACKAGE", package)
    assert manual.page("data") == str(package / "docs" / "data.md")


@pytest.mark.soak
def test_the_site_is_built_without_a_warning_and_each_page_links_the_glossary(tmp_path):
    strict = ["-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", "-b", "html"]
    subprocess.run([sys.executable, *strict, str(DOCS), str(tmp_path)], check=True)
    glossary = (tmp_path / "glossary.html").read_text("utf-8")
    anchors = {*re.findall(r'id="([\w-]+)"', glossary)}
    terms = {*re.findall("(?m)^## (.+)$", (DOCS / "glossary.md").read_text("utf-8"))}
    pages = [page for page in tmp_path.rglob("*.html") if page.name != "glossary.html"]
    assert len(pages) > len(PAGES)
    linked = set()
    for page in pages:
        links = re.findall(
            r'href="(?:\.\./)?glossary\.html(?:#([\w-]+))?"', page.read_text("utf-8")
        )
        assert links, page
        linked |= {*links} - {""}
    assert linked <= anchors
    assert len(linked) > len(terms) / 2
