"""Chosen demonstrations are kept: equal ones from the file, new ones for other code or damage."""

import shutil
from dataclasses import replace
from unittest.mock import Mock

import pytest

from spor_tasks.core import folders, named
from spor_tasks.prompts import demonstrations, kept


@pytest.fixture
def pair():
    found = named.load("order_invariance", "mini", part="main")
    return replace(found, test=found.test[:5])


def test_a_choice_is_kept_while_sets_number_and_code_are_the_same(pair, tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "user_cache", lambda: tmp_path)
    choose = Mock(wraps=demonstrations.choose)
    monkeypatch.setattr(demonstrations, "choose", choose)
    first = kept.choose(pair, 4)
    (file,) = tmp_path.rglob("*.json")
    whole = file.read_bytes()
    assert kept.choose(pair, 4) == first == demonstrations.choose(pair, 4)
    choose.reset_mock()
    for damaged in (whole[:-9], b"[]", b'{"numbers": [[[]]]}', whole.replace(b"[[[0]", b"[[[1]")):
        assert damaged != whole
        file.write_bytes(damaged)
        assert kept.choose(pair, 4) == first
        assert file.read_bytes() == whole
    assert choose.call_count == 4
    monkeypatch.setattr(kept, "_code", lambda *_: "other")
    assert kept.choose(pair, 4) == first
    assert file.read_bytes() != whole
    shorter = replace(pair, test=pair.test[1:])
    assert kept.choose(shorter, 4) == first[1:]
    kept.choose(pair, 5)
    assert len([*tmp_path.rglob("*.json")]) == 3
    monkeypatch.setattr(folders, "user_cache", lambda: file)  # no folder
    assert kept.choose(pair, 4) == first


def test_a_choice_depends_on_what_it_imports_and_on_the_prompts_of_its_corpus(
    tmp_path, monkeypatch
):
    package = tmp_path / "spor_tasks"
    shutil.copytree(kept._PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(kept, "_PACKAGE", package)
    monkeypatch.setattr(kept, "_OURS", "spor_tasks.")

    def digest():
        kept._code.cache_clear()
        return kept._code("spor_tasks.prompts.demonstrations", "spor_tasks.corpora.viggo.linearize")

    before = digest()
    for name in ("report/document.py", "results/__init__.py", "corpora/logicnlg/linearize.py"):
        with (package / name).open("a") as file:
            file.write("# more\n")
        assert digest() == before
    for name in ("metrics/parent.py", "text/tokenize.py", "corpora/viggo/linearize.py"):
        with (package / name).open("a") as file:
            file.write("# more\n")
        assert digest() != before
        before = digest()
    kept._code.cache_clear()
