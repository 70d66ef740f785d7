"""Generated texts are read in the form of the published evaluation."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.files import read_rows
from spor_tasks.corpora.compmctg.outputs import read_outputs
from spor_tasks.corpora.compmctg.reader import combination_in
from spor_tasks.corpora.compmctg.spaces import PUBLISHED, YELP

VALUES = {"sentiment": "Positive", "pronoun": "plural", "tense": "Past"}


def read(*rows: Mapping[str, Any], split: Path | None = None) -> list[Any]:
    return [*read_outputs(((f"row {i}", row) for i, row in enumerate(rows)), YELP, split)]


@pytest.mark.parametrize("space", PUBLISHED, ids=[space.name for space in PUBLISHED])
def test_every_published_text_is_read(golden_dir: Path, space: Any) -> None:  # noqa: ANN401
    told = json.loads((golden_dir / "compmctg" / "facts.json").read_bytes())["test_cases"]
    name = space.name.capitalize()
    file = golden_dir.parent / "data" / "CompMCTG" / "test_cases" / f"cases_{name}.jsonl"
    found = [*read_outputs(read_rows(file), space)]
    assert len(found) == told[name]["rows"]
    assert len({combination_in(sample) for *_, sample in found if sample}) == len(
        told[name]["combos"]
    )
    assert len({sample.id for *_, sample in found if sample}) == len(found)


def test_a_row_may_hold_several_texts() -> None:
    found = read({"text": {"0": "One.", "1": "Two."}, **VALUES}, {"text": "Three.", **VALUES})
    assert [(where, row["output"]) for where, row, _ in found] == [
        ("row 0, text 0", "One."),
        ("row 0, text 1", "Two."),
        ("row 1", "Three."),
    ]
    assert all(sample.context == {} for *_, sample in found)


def test_a_row_of_the_released_form_is_passed_on() -> None:
    row = {"data": [["tense", "Past"]], "output": "It was."}
    assert read(row) == [("row 0", row, None)]


def test_what_was_left_out_is_said_by_a_split_or_by_each_row(tmp_path: Path) -> None:
    split = tmp_path / "unseen.jsonl"
    split.write_text(json.dumps({"mode": "Hold-Out", "idx": "0", "unseen_combs": [VALUES]}))
    seen = VALUES | {"tense": "Present"}
    rows = [{"text": "It was.", **VALUES}, {"text": "It is.", **seen}]
    assert [s.context["unseen"] for *_, s in read(*rows, split=split)] == [True, False]
    assert [s.context["unseen"] for *_, s in read({**rows[0], "unseen": False})] == [False]


@pytest.mark.parametrize(
    "row",
    [
        {"text": "It was.", **VALUES, "tense": "Future"},
        {"text": "It was.", "tense": "Past"},
        {"text": {"0": "It was.", "2": "It is."}, **VALUES},
        {"text": {}, **VALUES},
        {"text": "It was.", **VALUES, "unseen": "yes"},
    ],
)
def test_a_row_that_says_something_else_is_an_error(row: Mapping[str, Any]) -> None:
    with pytest.raises(CorpusError) as caught:
        read(row)
    assert caught.value.where == "row 0"


def test_a_file_with_several_splits_does_not_say_which(tmp_path: Path) -> None:
    split = tmp_path / "unseen.jsonl"
    row = json.dumps({"mode": "ACD", "idx": "0", "unseen_combs": [VALUES]})
    split.write_text(f"{row}\n{row}\n")
    with pytest.raises(CorpusError) as caught:
        read({"text": "It was.", **VALUES}, split=split)
    assert caught.value.remedy
