"""Sets of the real corpora are the released ones, to the byte where nothing was drawn."""

import json
import random
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from spor_tasks.aspects import check, named, productivity
from spor_tasks.aspects.order_invariance import shown_twice, with_an_order
from spor_tasks.aspects.rule_learnability import hide_entities
from spor_tasks.benchmarks.spor import released
from spor_tasks.core.codec import to_row
from spor_tasks.core.digests import digest
from spor_tasks.core.files import encode_row, read_rows
from spor_tasks.core.sample import Sample
from spor_tasks.corpora import sources
from spor_tasks.corpora.e2e import reader as e2e
from spor_tasks.corpora.e2e.enumeration import POSSIBLE_VALUES, hide_values
from spor_tasks.corpora.webnlg import reader as webnlg
from tests.oracles.productivity import Method, published
from tests.oracles.webnlg import read_test as read_webnlg_test
from tests.support.soak import soak

WAYS: dict[str, Method] = {"webnlg": "scarcest", "e2e": "longest"}
Row = dict[str, Any]


@cache
def train_of(corpus: str, folder: Path) -> tuple[Sample, ...]:
    return webnlg.read_train(folder) if corpus == "webnlg" else e2e.read_train(folder)


@cache
def held_out_of(corpus: str, folder: Path) -> tuple[Sample, ...]:
    return read_webnlg_test(folder) if corpus == "webnlg" else e2e.read_test(folder)


def is_released(name: str, samples: Iterable[Sample]) -> bool:
    content = b"".join(encode_row(to_row(sample)) for sample in samples)
    return sources.blob_id(content) == sources.SPOR.files()[released.path(name)].blob


def rows_of(samples: Iterable[Sample]) -> list[Row]:
    return [json.loads(encode_row(to_row(sample))) for sample in samples]


def released_rows(folder: Path, name: str) -> list[Row]:
    return [row for _, row in read_rows(folder / released.path(name))]


@pytest.mark.parametrize(
    ("corpus", "threshold", "visible_sha256"),
    [
        ("webnlg", 3, "2fa24c2db85d7a4f"),
        soak("webnlg", 4, "9df5eaeb450018e3"),
        soak("webnlg", 5, "d703ebb422a10531"),
        soak("e2e", 3, "c25abc969a8130f1"),
        soak("e2e", 4, "a5c79d8ff49fa5e0"),
        ("e2e", 5, "e05c59187d18d783"),
    ],
)
def test_productivity_is_rebuilt_and_its_strict_sets_show_more(
    data_dir: Path, corpus: str, threshold: int, visible_sha256: str
) -> None:
    train, test, way = train_of(corpus, data_dir), held_out_of(corpus, data_dir), WAYS[corpus]
    rebuilt = productivity.build(train, test, threshold, choose=published(way))
    sets = f"{corpus}_productivity_N={threshold}"
    names = (f"train_{sets}_invisible", f"train_{sets}_visible", f"test_{sets}")
    for split, name in zip(rebuilt.splits, names, strict=True):
        assert is_released(name, split.samples)
    strict = named.load("productivity", corpus, "strict", f"n{threshold}")
    assert digest(strict.arms[1].samples).startswith(visible_sha256)
    results = [check.check(pair) for pair in (rebuilt, strict)]
    assert all(result.holds for result in results)
    shown = [int(str(result.counts["units_in_long"])) for result in results]
    assert shown[0] <= shown[1]


@pytest.mark.parametrize(("corpus", "count"), [("webnlg", 1_559), ("e2e", 1_623)])
def test_order_invariance_is_rebuilt_but_for_orders(
    data_dir: Path, corpus: str, count: int
) -> None:
    def without_inputs(rows: Iterable[Row]) -> list[Row]:
        return [{key: row[key] for key in row if not key.startswith("input_")} for row in rows]

    test = held_out_of(corpus, data_dir)
    assert is_released(f"test_{corpus}_order-invariance_cwio", with_an_order(test))
    assert is_released(f"test_{corpus}_order-invariance_performance", test)
    main = released_rows(data_dir, f"test_{corpus}_order-invariance_main")
    assert len(main) == count
    ours = rows_of(shown_twice(test, random.Random(0)))
    assert without_inputs(ours) == without_inputs(main)


def test_rule_learnability_is_rebuilt_but_for_the_drawn(data_dir: Path) -> None:
    """Drawn are the name, the place nearby and the order of the units of E2E."""
    samples = hide_entities(held_out_of("webnlg", data_dir))
    assert len(samples) == 1_614
    assert is_released("test_webnlg_rule-learnability", samples)
    theirs = released_rows(data_dir, "test_e2e_rule-learnability")
    ours = rows_of(hide_values(train_of("e2e", data_dir), random.Random(0)))
    assert len(theirs) == 1_440

    def fixed(row: Row) -> tuple[object, ...]:
        units = [pair for pair in sorted(row["data"]) if pair[0] != "near"]
        return [*row["replaced_kv_pair"].items()], units

    assert list(map(fixed, theirs)) == list(map(fixed, ours))
    for field in (lambda row: row["name"], lambda row: dict(row["data"]).get("near")):
        assert set(map(field, theirs)) == set(map(field, ours))
    assert sum("near" not in dict(row["data"]) for row in theirs) == 82
    path = released.path("test_e2e_rule-learnability")
    ((_, values),) = read_rows(data_dir / path.replace("dataset.jsonl", "possible_value.json"))
    assert {of: {*each} for of, each in POSSIBLE_VALUES.items()} == {
        of: {*each} for of, each in values.items()
    }
