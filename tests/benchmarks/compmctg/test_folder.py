"""Splits in a folder: what is written, and what a check of them finds."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spor_tasks.benchmarks.compmctg import folder, sets, splits
from spor_tasks.benchmarks.compmctg.protocols import partition
from spor_tasks.core.digests import sha256_of
from spor_tasks.core.errors import ConfigError, CorpusError, ResultError, SplitError
from spor_tasks.corpora.compmctg.reader import read_unseen, unseen_rows
from spor_tasks.corpora.compmctg.spaces import YELP
from tests.support import compmctg

LARGE = "aspects: {a: [x, y], b: [x, y], c: [x, y], d: [x, y], e: [x, y]}"


def own(tmp_path: Path, text: str) -> str:
    path = tmp_path / "own.yaml"
    path.write_text(text, "utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("corpus", "protocol"),
    [
        ("yelp", "original"),
        ("yelp", "holdout"),
        ("yelp", "acd"),
        ("yelp", "fewshot"),
        ("mixture", "acd"),
        ("amazon", "fewshot"),
        ("compmctg_mini", "acd"),
    ],
)
def test_what_is_built_holds(tmp_path: Path, corpus: str, protocol: str) -> None:
    manifest = folder.build(corpus, protocol, tmp_path / "out")
    found = folder.check(tmp_path / "out")
    assert (found.corpus, found.protocol, found.violations) == (corpus, protocol, ())
    assert list(found.splits) == manifest["splits"]
    assert (manifest["alpha"], manifest["divergence"]) == (0.1, pytest.approx(found.highest))
    assert manifest["is_proved_highest"] is (None if found.highest is None else True)


def test_what_is_written_are_the_shipped_splits(tmp_path: Path) -> None:
    manifest = folder.build("yelp", "acd", tmp_path / "out")
    assert manifest == json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    assert (manifest["seed"], manifest["ties"], len(manifest["splits"])) == (splits.SEED, 32, 10)
    rows = read_unseen(tmp_path / "out" / "unseen.jsonl", YELP)
    unseen = [tuple(YELP.combination(each, "") for each in row.combinations) for row in rows]
    assert unseen == [split.unseen for split in splits.shipped(YELP, "acd")]
    other = folder.build("yelp", "acd", tmp_path / "other", seed=1)
    assert other["files"] != manifest["files"]


def test_a_space_of_ones_own_is_split(tmp_path: Path) -> None:
    space = own(tmp_path, "aspects: {mood: [glad, sad], size: [S, M, L]}")
    manifest = folder.build(space, "acd", tmp_path / "out")
    assert (manifest["corpus"], manifest["divergence"], manifest["ties"]) == ("own", 1, 6)
    assert folder.check(tmp_path / "out").holds


def test_a_space_too_large_for_a_proof_says_so(tmp_path: Path) -> None:
    manifest = folder.build(own(tmp_path, LARGE), "acd", tmp_path / "out")
    assert (manifest["is_proved_highest"], manifest["ties"]) == (False, None)
    assert manifest["divergence"] > 0.2
    found = folder.check(tmp_path / "out")
    assert (found.highest, found.holds) == (None, True)


@pytest.mark.parametrize(
    ("text", "protocol"),
    [
        ("aspects: {a: [x, y, z], b: [x, y, z]}", "acd"),
        ("aspects: {a: [x, y]}", "holdout"),
        ("aspects: {a: [x, y]}", "acd"),
        ("aspects: {a: [x, y]}", "fewshot"),
    ],
)
def test_a_protocol_that_no_split_satisfies_is_refused(
    tmp_path: Path, text: str, protocol: str
) -> None:
    with pytest.raises(SplitError) as caught:
        folder.build(own(tmp_path, text), protocol, tmp_path / "out")
    assert caught.value.where == "own"
    assert caught.value.remedy
    assert not (tmp_path / "out").exists()


def test_what_has_no_effect_or_is_not_there_is_refused(tmp_path: Path) -> None:
    for corpus, protocol, seed in (
        ("webnlg", "acd", None),
        ("nowhere.yaml", "acd", None),
        ("yelp", "holdout", 1),
        ("compmctg_mini", "acd_published", None),
    ):
        with pytest.raises(ConfigError):
            folder.build(corpus, protocol, tmp_path / "out", seed=seed)
    folder.build("yelp", "fewshot", tmp_path / "out")
    with pytest.raises(ConfigError):
        folder.build("yelp", "fewshot", tmp_path / "out")
    folder.build("yelp", "holdout", tmp_path / "out", overwrite=True)
    assert folder.check(tmp_path / "out").protocol == "holdout"


def test_published_splits_are_certified_with_their_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPMCTG_DATA_DIR", str(tmp_path))
    few = [split.unseen for split in splits.shipped(YELP, "fewshot")]
    halves = [split.unseen for split in splits.shipped(YELP, "acd")] + [YELP.combinations[:4]]
    rows = [
        *unseen_rows(YELP, "fewshot", [*few, *few]),  # as the published code finds them
        *unseen_rows(YELP, "acd", halves),
    ]
    compmctg.write(tmp_path, "yelp", "unseen", rows)
    manifest = folder.build("yelp", f"fewshot{sets.PUBLISHED}", tmp_path / "few")
    assert (len(manifest["splits"]), manifest["is_proved_highest"]) == (8, None)
    assert len(folder.check(tmp_path / "few").violations) == 8
    folder.build("yelp", f"acd{sets.PUBLISHED}", tmp_path / "acd")
    (words,) = folder.check(tmp_path / "acd").violations
    assert "split 10" in words  # all of one sentiment
    with pytest.raises(SplitError):
        folder.build("yelp", f"holdout{sets.PUBLISHED}", tmp_path / "other")


Change = Callable[[dict[str, Any]], object]


def spoilt(tmp_path: Path, unseen: list[Any], change: Change = lambda _: None) -> Path:
    """Return a folder of halves of Yelp with other splits, and a manifest that fits the file."""
    out = tmp_path / "out"
    folder.build("yelp", "acd", out)
    (out / "unseen.jsonl").write_text(
        "".join(f"{json.dumps(row)}\n" for row in unseen_rows(YELP, "acd", unseen)), "utf-8"
    )
    manifest = json.loads((out / "manifest.json").read_bytes())
    manifest["files"]["unseen.jsonl"]["sha256"] = sha256_of(out / "unseen.jsonl")
    found = (
        partition(YELP, [each for each in YELP.combinations if each not in of]) for of in unseen
    )
    manifest["splits"] = list(map(folder._told, found))
    change(manifest)
    (out / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    return out


GOOD = splits.shipped(YELP, "acd")[0].unseen


@pytest.mark.parametrize(
    ("unseen", "words"),
    [
        ([], "no split"),
        ([GOOD, GOOD], "2 times"),
        ([GOOD[:3]], "not 4"),
        ([YELP.combinations[:4]], "never shows"),
        ([[YELP.combinations[i] for i in (0, 3, 5, 6)]], "divergence"),
    ],
)
def test_what_is_wrong_with_splits_is_said(tmp_path: Path, unseen: list[Any], words: str) -> None:
    found = folder.check(spoilt(tmp_path, unseen))
    assert not found.holds
    assert any(words in each for each in found.violations), found.violations


def test_what_the_manifest_says_is_compared(tmp_path: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        manifest["splits"][0]["divergence"] = 0.9

    assert len(folder.check(spoilt(tmp_path, [GOOD], change)).violations) == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda manifest: manifest.pop("aspects"),
        lambda manifest: manifest.update(aspects={"a": ["x"]}),
        lambda manifest: manifest.update(aspects=[]),
        lambda manifest: manifest.update(protocol="other"),
        lambda manifest: manifest.update(files={}),
        lambda manifest: manifest.update(splits=3),
    ],
)
def test_a_damaged_manifest_is_refused(tmp_path: Path, change: Change) -> None:
    with pytest.raises(ResultError):
        folder.check(spoilt(tmp_path, [GOOD], change))


def test_an_edited_file_is_refused(tmp_path: Path) -> None:
    folder.build("yelp", "acd", tmp_path / "out")
    file = tmp_path / "out" / "unseen.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"0"', b'"9"', 1))
    with pytest.raises(CorpusError):
        folder.check(tmp_path / "out")
