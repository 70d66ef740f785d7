"""Chosen demonstrations are kept: equal ones from the file, new ones for other code or damage."""

from dataclasses import replace
from unittest.mock import Mock

import pytest

from spor_tasks.aspects import named
from spor_tasks.core import folders
from spor_tasks.prompts import demonstrations, kept


@pytest.fixture
def pair():
    found = named.load("order_invariance", "mini", part="main")
    return replace(found, test=replace(found.test, samples=found.test.samples[:5]))


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
    monkeypatch.setattr(kept, "_code", lambda: "other")
    assert kept.choose(pair, 4) == first
    assert file.read_bytes() != whole
    shorter = replace(pair, test=replace(pair.test, samples=pair.test.samples[1:]))
    assert kept.choose(shorter, 4) == first[1:]
    kept.choose(pair, 5)
    assert len([*tmp_path.rglob("*.json")]) == 3
    monkeypatch.setattr(folders, "user_cache", lambda: file)  # no folder
    assert kept.choose(pair, 4) == first
