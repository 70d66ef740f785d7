"""Splits by their names."""

from pathlib import Path

import pytest

from spor_tasks.aspects import named
from spor_tasks.core.errors import CorpusError, SplitError


def test_every_split_has_a_name_of_its_own() -> None:
    names = [spec.name for spec in named.available()]
    assert len(set(map(str, names))) == len(names)
    assert {str(name) for name in names} > {
        "systematicity webnlg published",
        "systematicity mini strict",
        "productivity e2e strict n4",
        "order_invariance webnlg published cwio",
        "rule_learnability e2e published",
    }


def test_published_comes_before_strict_and_the_first_part_first() -> None:
    names = [str(s.name) for s in named.available() if s.name[:2] == ("productivity", "e2e")]
    assert names == [
        f"productivity e2e {protocol} {part}"
        for protocol in ("published", "strict", "twin")
        for part in ("n3", "n4", "n5")
    ]


def test_a_split_is_what_its_name_says_and_is_loaded_once() -> None:
    pair = named.load("systematicity", "mini")
    assert (pair.aspect, pair.corpus, pair.protocol) == ("systematicity", "mini", "strict")
    assert [split.name for split in pair.splits] == ["atom", "combination", "test"]
    assert named.load("systematicity", "mini", "strict") is pair


@pytest.mark.parametrize(
    "name",
    [
        ("systematicity", "mini", "published"),
        ("systematicity", "webnlgg"),
        ("colour", "mini"),
        ("order_invariance", "e2e", "strict"),
        ("productivity", "e2e", "published", "n6"),
    ],
)
def test_an_unknown_name_is_an_error_that_lists_the_known_ones(name: tuple[str, ...]) -> None:
    with pytest.raises(SplitError, match=f"no split '{' '.join(name)}'") as caught:
        named.load(*name)
    known = "mini strict" if name[1] == "mini" else "e2e published"
    assert f"systematicity {known}" in str(caught.value)


def test_files_are_sought_in_the_folder_of_the_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (tmp_path / "a", tmp_path / "b"):
        monkeypatch.setenv("SPOR_DATA_DIR", str(folder))
        with pytest.raises(CorpusError, match="is missing") as caught:
            named.load("systematicity", "webnlg")
        assert str(caught.value.where).startswith(str(folder))
