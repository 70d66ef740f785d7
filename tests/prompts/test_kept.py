"""Chosen demonstrations are kept or shipped; those of other code or of damaged files are new."""

import gzip
import shutil
from contextlib import suppress
from dataclasses import replace
from unittest.mock import Mock

import pytest

from spor_tasks.core import folders, named
from spor_tasks.core.errors import MissingError
from spor_tasks.harness import documents, plan, task_files
from spor_tasks.prompts import demonstrations, kept
from spor_tasks.prompts.exchanged import with_twins


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


# --- Shipped choices ------------------------------------------------------------------------------


def shipped(corpus=None):
    """Return the sets and numbers of tasks in context, by the file of their choice."""
    found = {}
    for file in task_files.files():
        if file.sets.icl_arm and corpus in {None, file.sets.corpus}:
            with suppress(MissingError):
                pair = plan.load(file.sets)
                pair = with_twins(pair) if documents.have_twins(pair) else pair
                path = kept.SHIPPED / f"{kept.name_of(pair, file.shots)}.gz"
                found.setdefault(path, (pair, file.shots))
    return found


def test_shipped_choices_are_small_and_are_those_of_tasks():
    assert sum(path.stat().st_size for path in kept.SHIPPED.iterdir()) < 2_000_000
    for path in shipped("mini"):
        assert path.is_file()


def test_shipped_choices_need_no_search_and_no_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "user_cache", lambda: tmp_path)
    monkeypatch.setattr(demonstrations, "choose", Mock(side_effect=AssertionError))
    for pair, most in shipped("mini").values():
        chosen = kept.choose(pair, most)
        assert {len(each.arms) for each in chosen} == {len(pair.arms)}
    assert not any(tmp_path.iterdir())


def test_shipped_choices_are_what_is_chosen():
    for pair, most in shipped("mini").values():
        assert kept.choose(pair, most) == demonstrations.choose(pair, most)


@pytest.mark.real_data
def test_some_shipped_choices_of_each_set_are_what_is_chosen(data_dir, viggo_dir):  # noqa: ARG001
    for path, (pair, most) in shipped().items():
        if path.is_file():
            some = kept.choose(pair, most)[::1000]
            by_id = {sample.id: sample for sample in pair.test}
            test = tuple(by_id[each.sample.id] for each in some)
            assert demonstrations.choose(replace(pair, test=test), most) == some


def test_a_damaged_or_missing_shipped_choice_is_chosen_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(folders, "user_cache", lambda: tmp_path / "cache")
    path, (pair, most) = next(iter(shipped("mini").items()))
    expected, packed = kept.choose(pair, most), path.read_bytes()
    monkeypatch.setattr(kept, "SHIPPED", tmp_path)
    other = gzip.compress(gzip.decompress(packed).replace(b'"sha256":"', b'"sha256":"0'))
    for damaged in (packed[:-20], b"", other):
        (tmp_path / path.name).write_bytes(damaged)
        assert kept.choose(pair, most) == expected
    (tmp_path / path.name).unlink()
    assert kept.choose(pair, most) == expected
