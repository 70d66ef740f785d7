"""The test sets of rule learnability against the released ones."""

import json
import random
from pathlib import Path

import pytest

from spor_tasks.aspects.rule_learnability import hide_entities
from spor_tasks.benchmarks.spor import released as published
from spor_tasks.core.codec import to_row
from spor_tasks.core.files import encode_row, read_rows
from spor_tasks.corpora import sources
from spor_tasks.corpora.e2e import reader as e2e
from spor_tasks.corpora.e2e.enumeration import _ENUMERATED, POSSIBLE_VALUES, hide_values
from spor_tasks.corpora.slots import values_by_attribute
from tests.oracles.webnlg import read_test as read_webnlg_test

pytestmark = pytest.mark.real_data


def test_the_webnlg_test_set_is_rebuilt_to_the_byte(data_dir: Path) -> None:
    samples = hide_entities(read_webnlg_test(data_dir))
    assert len(samples) == 1_614
    content = b"".join(encode_row(to_row(sample)) for sample in samples)
    path = published.path("test_webnlg_rule-learnability")
    assert sources.blob_id(content) == sources.SPOR.files()[path].blob


def test_the_e2e_test_set_is_rebuilt_but_for_what_was_drawn(data_dir: Path) -> None:
    """Drawn are the name, the place nearby and the order of the units."""
    path = data_dir / published.path("test_e2e_rule-learnability")
    released = [row for _, row in read_rows(path)]
    samples = hide_values(e2e.read_train(data_dir), random.Random(0))
    ours = [json.loads(encode_row(to_row(sample))) for sample in samples]
    assert len(released) == len(ours) == 1_440
    for theirs, row in zip(released, ours, strict=True):
        assert list(theirs["replaced_kv_pair"].items()) == list(row["replaced_kv_pair"].items())
        assert [pair for pair in sorted(theirs["data"]) if pair[0] != "near"] == [
            pair for pair in sorted(row["data"]) if pair[0] != "near"
        ]
    for field in (lambda row: row["name"], lambda row: dict(row["data"]).get("near")):
        assert set(map(field, released)) == set(map(field, ours))
    assert sum("near" not in dict(row["data"]) for row in released) == 82


def test_the_possible_values_are_those_of_the_corpus_and_of_the_release(data_dir: Path) -> None:
    path = published.path("test_e2e_rule-learnability").replace(
        "dataset.jsonl", "possible_value.json"
    )
    ((_, released),) = read_rows(data_dir / path)
    corpus = values_by_attribute(e2e.read_train(data_dir))
    assert released.keys() == POSSIBLE_VALUES.keys()
    for attribute, values in POSSIBLE_VALUES.items():
        assert sorted(values) == sorted(released[attribute]) == corpus[attribute]
    assert set(corpus) == {*_ENUMERATED, "near"}
