"""The alignment against everything that the paper's authors released of theirs."""

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from spor_tasks.benchmarks.spor import released as published
from spor_tasks.core.codec import to_row
from spor_tasks.core.files import encode_row
from spor_tasks.core.sample import AttributeValue, DataUnit, Sample, Triple
from spor_tasks.corpora import jsonl, sources
from spor_tasks.corpora.webnlg import reader as webnlg
from spor_tasks.text.align import locate, locate_ends, order

pytestmark = pytest.mark.real_data

UNIT: dict[str, type[DataUnit]] = {"webnlg": Triple, "e2e": AttributeValue}
CORPORA = tuple(UNIT)


def golden_rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def units_of(row: dict[str, Any], corpus: str) -> list[DataUnit]:
    return [UNIT[corpus](*parts) for parts in row["data"]]


def match(samples: Iterable[Sample], *, strict: bool) -> bytes:
    """The file of the Match arm: a row per reference, its units as the reference orders them."""
    return b"".join(
        encode_row(
            {
                **to_row(sample),
                "data": [sample.units[i] for i in order(locate(sample.units, text, strict=strict))],
                "texts": [text],
            }
        )
        for sample in samples
        for text in sample.references
    )


def test_webnlg_match_is_rebuilt_to_the_byte(data_dir: Path) -> None:
    rebuilt = match(webnlg.read_train(data_dir), strict=False)
    assert sources.blob_id(rebuilt) == "1acdb6850c431a92bacf5cc77610685b487e7e91"


@pytest.mark.parametrize("strict", [False, True])
def test_e2e_match_is_rebuilt_to_the_byte(data_dir: Path, *, strict: bool) -> None:
    """Its references were kept because every unit is located strictly; then both forms agree."""
    path = published.path("train_e2e_order-invariance_original")
    rebuilt = match(jsonl.read_samples(data_dir / path, "e2e"), strict=strict)
    assert sources.blob_id(rebuilt) == "ab1663a0ad1c75dddd83a216a776ca5aeb386bec"


@pytest.mark.parametrize(("corpus", "count"), [("webnlg", 4368), ("e2e", 3892)])
def test_every_reference_order_of_the_main_test_set_is_the_released_one(
    data_dir: Path, corpus: str, count: int
) -> None:
    rows = (data_dir / published.path(f"test_{corpus}_order-invariance_main")).open("rb")
    with rows:
        cases = [
            (locate(units_of(row, corpus), text, strict=False), released)
            for row in map(json.loads, rows)
            for text, released in zip(row["texts"], row["output_order"], strict=True)
        ]
    assert len(cases) == count
    for positions, released in cases:
        assert None not in positions
        assert list(order(positions)) == released


@pytest.mark.parametrize(("corpus", "count"), [("webnlg", 390), ("e2e", 203)])
def test_outputs_are_located_and_ordered_as_the_published_evaluation_says(
    golden_dir: Path, corpus: str, count: int
) -> None:
    rows = list(golden_rows(golden_dir / f"order_{corpus}.jsonl.gz"))
    assert len(rows) == count
    for row in rows:
        for side in ("1", "2"):
            output = row[f"output_{side}"]
            positions = locate(units_of(row, corpus), output, strict=corpus == "e2e")
            indices = list(order(positions))
            agreements = [tau(indices, reference) for reference in row["output_order"]]
            assert list(positions) == row[f"pos_{side}"]
            assert indices == row[f"plan_{side}"]
            assert (None not in positions) == row[f"fidelity_{side}"]
            assert (indices in row["output_order"]) == row[f"em_{side}"]
            assert (max(agreements) > 0) == row[f"proper_{side}"]


@pytest.mark.parametrize(("corpus", "count"), [("webnlg", 439), ("e2e", 203)])
def test_outputs_agree_with_the_input_order_as_the_published_evaluation_says(
    golden_dir: Path, corpus: str, count: int
) -> None:
    rows = list(golden_rows(golden_dir / f"cwio_{corpus}.jsonl.gz"))
    assert len(rows) == count
    for row in rows:
        # In this metric the restaurant's name is the subject of an E2E unit.
        pairs = [(row.get("name", parts[0]), parts[-1]) for parts in row["data"]]
        positions = locate_ends(pairs, row["output"], strict=False)
        assert len(positions) - positions.count(None) == row["occ"]
        assert tau(order(positions), range(len(pairs))) == row["tau"]


def tau(first: Sequence[int], second: Sequence[int]) -> float:
    """Kendall's τ of two orders of the same units."""
    signs = [
        1 if (first.index(a) < first.index(b)) == (second.index(a) < second.index(b)) else -1
        for a, b in combinations(range(len(first)), 2)
    ]
    return sum(signs) / len(signs)
