"""A corpus of one's own, and what may be wrong with it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import AttributeValue, CorpusSamples, SampleMaker
from spor_tasks.corpora import own

FISH = {"data": [["food", "fish"]], "texts": ["There is fish."]}
RYE = {"data": [["food", "rye"]], "texts": ["There is rye.", "Rye is served."]}
TRAIN, TEST = {"split": "train"}, {"split": "test"}


def write(path: Path, *rows: Mapping[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_rows_are_training_samples_where_none_says_otherwise(tmp_path: Path) -> None:
    corpus = own.read_corpus(write(tmp_path / "cafes.jsonl", FISH, RYE))
    assert corpus.name == "cafes"
    assert [sample.units for sample in corpus.train] == [
        (AttributeValue("food", "fish"),),
        (AttributeValue("food", "rye"),),
    ]
    assert corpus.test == ()
    assert corpus.samples == corpus.train


def test_rows_go_to_the_part_they_name(tmp_path: Path) -> None:
    path = write(tmp_path / "cafes.jsonl", FISH | TEST, RYE | TRAIN, FISH | TRAIN, FISH | TEST)
    corpus = own.read_corpus(path)
    assert [sample.units[0][1] for sample in corpus.train] == ["rye", "fish"]
    assert [sample.units[0][1] for sample in corpus.test] == ["fish", "fish"]
    assert len({sample.id for sample in corpus.samples}) == 4


@pytest.mark.parametrize(
    ("before", "row", "fault"),
    [
        (FISH, RYE | {"data": [["Gull", "food", "rye"]]}, r"data\[0\]"),
        (FISH | TRAIN, RYE | {"split": "dev"}, '`split` must be "train" or "test", not \'dev\''),
        (FISH | TRAIN, RYE | {"split": ["test"]}, "`split` must be"),
        (FISH | TRAIN, RYE, "some rows have a `split`"),
        (FISH, RYE | TEST, "some rows have a `split`"),
        (FISH | {"id": "1"}, RYE | {"id": 1}, r"has the same `id` 1 as .*cafes\.jsonl:1"),
        (
            FISH,
            {"data": [["price range", "Value A"]], "replaced_kv_pair": {"price range": "Value A"}},
            "has no `texts`",
        ),
    ],
)
def test_a_bad_row_is_named_with_its_line(
    tmp_path: Path, before: Mapping[str, Any], row: Mapping[str, Any], fault: str
) -> None:
    path = write(tmp_path / "cafes.jsonl", before, row)
    with pytest.raises(CorpusError, match=fault) as caught:
        own.read_corpus(path)
    assert caught.value.where == f"{path}:2"


def test_whatever_a_build_can_see_changes_the_digest() -> None:
    def corpus(*texts: str, name: str = "cafes", category: str | None = None) -> CorpusSamples:
        make = SampleMaker("cafes")
        samples = tuple(make([AttributeValue("a", t)], [t], category=category) for t in texts)
        return CorpusSamples(name, samples[:1], samples[1:])

    plain = corpus("a", "b")
    assert plain.sha256 == corpus("a", "b").sha256
    others = (
        corpus("b", "a"),
        corpus("a", "b", "b"),
        corpus("a", "b", name="bars"),
        corpus("a", "b", category="Bar"),
        CorpusSamples("cafes", plain.samples, ()),
    )
    assert len({plain.sha256, *(other.sha256 for other in others)}) == 6
