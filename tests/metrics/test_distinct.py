"""Dist-3 counts the 3-grams of all texts together, whatever their order."""

import copy
import json
import math
import random
from pathlib import Path

import pytest

from spor_tasks.core.errors import ResultError
from spor_tasks.core.files import read_rows
from spor_tasks.core.sample import AttributeValue, Sample
from spor_tasks.metrics.base import Column, score_info
from spor_tasks.metrics.distinct import DISTINCT
from spor_tasks.metrics.totals import Value
from spor_tasks.results.samples import alone

TOTALS = score_info("dist_3").totals


def value(text: str, *, prefix: str = "") -> Value:
    sample = Sample("0", "yelp", (AttributeValue("tense", "Past"),), (), {"prefix": prefix})
    return DISTINCT.judge_one(sample, text).values["dist_3"]


def test_it_is_different_ngrams_over_all_of_them() -> None:
    draw = random.Random(0)
    texts = [" ".join(draw.choices(["a", "b", "c", "A", "a."], k=n % 9)) for n in range(40)]
    grams = [words[i : i + 3] for words in map(str.split, texts) for i in range(len(words) - 2)]
    expected = len(set(map(tuple, grams))) / len(grams)
    for _ in range(3):
        assert TOTALS.value([*map(value, texts)]) == expected
        draw.shuffle(texts)
    assert math.isnan(TOTALS.stderr([]))
    assert TOTALS.value([value(text, prefix="The") for text in (" a b", " a c", " a b")]) == 2 / 3


@pytest.mark.parametrize(
    ("corpus", "dist"), [("Amazon", 0.851), ("Fyelp", 0.819), ("Mixture", 0.884), ("Yelp", 0.874)]
)
def test_dist_3_of_the_published_texts(golden_dir: Path, corpus: str, dist: float) -> None:
    file = golden_dir.parent / "data" / "CompMCTG" / "test_cases" / f"cases_{corpus}.jsonl"
    values = [value(row["text"]) for _, row in read_rows(file)]
    assert TOTALS.value(values) == pytest.approx(dist, abs=5e-4)


def test_words_are_not_logged_but_kept_by_a_copy() -> None:
    own = value("a b a b a")
    assert json.dumps(own) == "[2, 3]"
    assert TOTALS.value([own, copy.deepcopy(own)]) == 2 / 6
    assert TOTALS.value([(2, 3), (2, 3)]) == 4 / 6
    assert (TOTALS.is_logged, TOTALS.resampled) == (False, False)
    with pytest.raises(ResultError):
        Column.of([3.0], TOTALS)
    assert alone("dist_3", value("a b " * 50)) == 2 / 98
