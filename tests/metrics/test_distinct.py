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
from spor_tasks.metrics.base import Column, Tally, score_info
from spor_tasks.metrics.distinct import DISTINCT
from spor_tasks.results import statistics
from spor_tasks.results.samples import alone
from tests.support.intervals import interval
from tests.support.scores import scores_of

WORDS = ("a", "b", "c", "d", "A", "a.")


def sample(*, prefix: str = "") -> Sample:
    return Sample("0", "yelp", (AttributeValue("tense", "Past"),), (), {"prefix": prefix})


def expected(texts: list[str]) -> float:
    grams = [
        tuple(words[i : i + 3]) for words in map(str.split, texts) for i in range(len(words) - 2)
    ]
    return len(set(grams)) / len(grams)


def test_it_is_different_ngrams_over_all_of_them() -> None:
    draw = random.Random(0)
    texts = [" ".join(draw.choices(WORDS, k=draw.randrange(9))) for _ in range(40)]
    for _ in range(3):
        (found,) = scores_of(DISTINCT, (DISTINCT.judge_one(sample(), text) for text in texts))
        assert found.value == expected(texts)
        draw.shuffle(texts)


@pytest.mark.parametrize(
    ("corpus", "dist"), [("Amazon", 0.851), ("Fyelp", 0.819), ("Mixture", 0.884), ("Yelp", 0.874)]
)
def test_dist_3_of_the_published_texts(golden_dir: Path, corpus: str, dist: float) -> None:
    file = golden_dir.parent / "data" / "CompMCTG" / "test_cases" / f"cases_{corpus}.jsonl"
    found = scores_of(
        DISTINCT, (DISTINCT.judge_one(sample(), row["text"]) for _, row in read_rows(file))
    )
    assert found[0].value == pytest.approx(dist, abs=5e-4)


def test_the_beginning_counts() -> None:
    judgements = [
        DISTINCT.judge_one(sample(prefix="The"), text) for text in (" a b", " a c", " a b")
    ]
    (score,) = scores_of(DISTINCT, judgements)
    assert score.value == pytest.approx(2 / 3)
    assert score.n == 3


def test_it_has_neither_intervals_nor_tests() -> None:
    tally = Tally(DISTINCT.scores)
    for text in ("a b c", "a b d"):
        tally.add(DISTINCT.judge_one(sample(), text).values)
    column, clusters = tally.column("dist_3"), statistics.clusters_of([0, 1])
    assert interval(column, clusters) is None
    assert statistics.difference(column, column, clusters) is None
    assert math.isnan(column.totals.stderr([]))


def test_a_value_without_words_is_refused() -> None:
    with pytest.raises(ResultError):
        Column.of([3.0], score_info("dist_3").totals)


def test_a_text_alone_has_the_share_of_its_own_ngrams_however_long_it_is() -> None:
    value = DISTINCT.judge_one(sample(), "a b " * 50).values["dist_3"]
    assert alone("dist_3", value) == 2 / 98
    assert value == (2, 98)


def test_words_are_not_logged_but_kept_by_a_copy() -> None:
    value = DISTINCT.judge_one(sample(), "a b a b a").values["dist_3"]
    assert json.dumps(value) == "[2, 3]"
    totals = score_info("dist_3").totals
    assert totals.value([value, copy.deepcopy(value)]) == 2 / 6
    assert totals.value([(2, 3), (2, 3)]) == 4 / 6
    assert not totals.is_logged
