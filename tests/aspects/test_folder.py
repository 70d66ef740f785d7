"""Sets in a folder come back as they were, or not at all."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from spor_tasks import __version__
from spor_tasks.aspects import folder
from spor_tasks.aspects.arms import ARMS
from spor_tasks.core.errors import CorpusError, ResultError
from spor_tasks.core.sample import Hidden, Orders, SampleMaker, Split, SplitPair
from tests.support.strategies import pool, unit

FACTS = {"settings": {"limit": 0.02}, "seed": 3, "corpus_version": "sha256:0"}


def pair_of(aspect: str) -> SplitPair:
    make = SampleMaker("letters")
    plain = make([unit("a"), unit("b")], ["A text."])
    tested = {
        "order_invariance": replace(plain, challenge=Orders(((0, 1), (1, 0)), ((1, 0),))),
        "rule_learnability": replace(make([unit("a")], ()), challenge=Hidden((("A", "a"),))),
    }
    return SplitPair(
        aspect,
        "letters",
        "strict",
        tuple(Split(name, pool(["ab", "c", "ab"])) for name in ARMS[aspect]),
        Split("test", (tested.get(aspect, plain),)),
        "n3" if aspect == "productivity" else None,
    )


def written(path: Path, aspect: str = "systematicity") -> SplitPair:
    pair = pair_of(aspect)
    with folder.new(path) as staging:
        folder.write_sets(staging, pair, FACTS)
    return pair


@pytest.mark.parametrize("aspect", ARMS)
def test_sets_come_back_as_they_were(tmp_path: Path, aspect: str) -> None:
    pair = written(tmp_path / "sets", aspect)
    assert folder.read_sets(tmp_path / "sets") == pair


def test_the_manifest_says_what_the_sets_are_and_where_they_come_from(tmp_path: Path) -> None:
    written(tmp_path / "sets")
    manifest = json.loads((tmp_path / "sets" / "manifest.json").read_bytes())
    content = (tmp_path / "sets" / "atom.jsonl").read_bytes()
    assert manifest["files"].keys() == {"atom.jsonl", "combination.jsonl", "test.jsonl"}
    assert manifest["files"]["atom.jsonl"] == {
        "sha256": hashlib.sha256(content).hexdigest(),
        "samples": 3,
        "units": 5,
        "references": 3,
    }
    del manifest["files"]
    assert manifest == {
        "schema": 1,
        "kind": "sets",
        "aspect": "systematicity",
        "corpus": "letters",
        "protocol": "strict",
        "part": None,
        **FACTS,
        "spor_tasks": __version__,
    }


@pytest.mark.parametrize("name", ["combination.jsonl", "test.jsonl"])
@pytest.mark.parametrize("damage", [lambda content: content[:-9], lambda content: content + b"\n"])
def test_a_file_that_is_not_as_written_is_named(
    tmp_path: Path, name: str, damage: Callable[[bytes], bytes]
) -> None:
    written(tmp_path / "sets")
    path = tmp_path / "sets" / name
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(CorpusError, match=r"is not the file that manifest\.json") as caught:
        folder.read_sets(tmp_path / "sets")
    assert caught.value.where == str(path)


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "adapter"},
        {"schema": 2},
        {"aspect": "colour"},
        {"aspect": "productivity"},
        {"aspect": ["systematicity"]},
        {"files": {}},
        {"files": None},
    ],
)
def test_another_manifest_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    written(tmp_path / "sets")
    path = tmp_path / "sets" / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | change))
    with pytest.raises(ResultError) as caught:
        folder.read_sets(tmp_path / "sets")
    assert caught.value.where == str(path)
