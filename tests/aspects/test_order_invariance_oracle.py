"""The arms and test sets of order invariance against the released ones."""

import json
import random
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from spor_tasks.aspects.order_invariance import shown_twice, with_an_order
from spor_tasks.benchmarks.spor import released as published
from spor_tasks.core.codec import to_row
from spor_tasks.core.files import encode_row, read_rows
from spor_tasks.core.sample import Sample
from spor_tasks.corpora import sources
from spor_tasks.corpora.e2e import reader as e2e
from spor_tasks.corpora.webnlg import reader as webnlg
from tests.oracles.webnlg import read_test as read_webnlg_test

pytestmark = pytest.mark.real_data

CORPORA = ("webnlg", "e2e")


@cache
def corpora(folder: Path) -> dict[str, tuple[tuple[Sample, ...], tuple[Sample, ...]]]:
    """The training and the test samples of each corpus."""
    return {
        "webnlg": (webnlg.read_train(folder), read_webnlg_test(folder)),
        "e2e": (e2e.read_train(folder), e2e.read_test(folder)),
    }


def assert_released(name: str, samples: Iterable[Sample]) -> None:
    content = b"".join(encode_row(to_row(sample)) for sample in samples)
    assert sources.blob_id(content) == sources.SPOR.files()[published.path(name)].blob


@pytest.mark.parametrize("corpus", CORPORA)
def test_the_test_sets_without_randomness_are_rebuilt_to_the_byte(
    data_dir: Path, corpus: str
) -> None:
    _, test = corpora(data_dir)[corpus]
    assert_released(f"test_{corpus}_order-invariance_cwio", with_an_order(test))
    assert_released(f"test_{corpus}_order-invariance_performance", test)


def without_inputs(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if not key.startswith("input_order")}


@pytest.mark.parametrize(("corpus", "count"), [("webnlg", 1_559), ("e2e", 1_623)])
def test_the_main_test_set_is_rebuilt_but_for_the_drawn_orders(
    data_dir: Path, corpus: str, count: int
) -> None:
    _, test = corpora(data_dir)[corpus]
    samples = shown_twice(test, random.Random(0))
    ours = [without_inputs(json.loads(encode_row(to_row(sample)))) for sample in samples]
    path = data_dir / published.path(f"test_{corpus}_order-invariance_main")
    released = [without_inputs(row) for _, row in read_rows(path)]
    assert len(released) == count
    assert ours == released
