"""Dist-n counts the n-grams of all texts together, whatever their order."""

import copy
import json
import math
import random
from pathlib import Path

import pytest

from spor_tasks.core.errors import ResultError
from spor_tasks.core.files import read_rows
from spor_tasks.core.sample import AttributeValue, Sample
from spor_tasks.metrics import significance
from spor_tasks.metrics.base import Column, Tally, score_info
from spor_tasks.metrics.distinct import DISTINCT
from spor_tasks.results import logged
from tests.support.scores import scores_of

WORDS = ("a", "b", "c", "d", "A", "a.")


def sample(*, unseen: bool | None = None, prefix: str = "") -> Sample:
    context = {"prefix": prefix} | ({} if unseen is None else {"unseen": unseen})
    return Sample("0", "yelp", (AttributeValue("tense", "Past"),), (), context)


def expected(texts: list[str], order: int) -> float:
    grams = [
        tuple(words[i : i + order])
        for words in map(str.split, texts)
        for i in range(len(words) - order + 1)
    ]
    return len(set(grams)) / len(grams)


def test_it_is_different_ngrams_over_all_of_them() -> None:
    draw = random.Random(0)
    texts = [" ".join(draw.choices(WORDS, k=draw.randrange(9))) for _ in range(40)]
    for order in range(3):
        found = scores_of(DISTINCT, (DISTINCT.judge(sample(), text) for text in texts))
        assert found[order].value == expected(texts, order + 1)
        draw.shuffle(texts)


@pytest.mark.parametrize(
    ("corpus", "dist"), [("Amazon", 0.851), ("Fyelp", 0.819), ("Mixture", 0.884), ("Yelp", 0.874)]
)
def test_dist_3_of_the_published_texts(golden_dir: Path, corpus: str, dist: float) -> None:
    file = golden_dir.parent / "data" / "CompMCTG" / "test_cases" / f"cases_{corpus}.jsonl"
    found = scores_of(
        DISTINCT, (DISTINCT.judge(sample(), row["text"]) for _, row in read_rows(file))
    )
    assert found[2].value == pytest.approx(dist, abs=5e-4)


def test_halves_are_pools_of_their_own_and_the_beginning_counts() -> None:
    evidence = [
        DISTINCT.judge(sample(unseen=unseen, prefix="The"), text)
        for unseen, text in ((False, " a b"), (True, " a b"), (True, " a b"))
    ]
    scores = {score.name: score for score in scores_of(DISTINCT, evidence)}
    assert scores["dist_1"].value == pytest.approx(3 / 9)
    assert scores["dist_1_id"].value == 1
    assert scores["dist_3_comp"].value == 0.5
    assert (scores["dist_1"].n, scores["dist_1_id"].n) == (3, 1)


def test_it_has_neither_intervals_nor_tests() -> None:
    tally = Tally(DISTINCT.scores)
    for text in ("a b c", "a b d"):
        tally.add(DISTINCT.values(DISTINCT.judge(sample(), text)))
    column, clusters = tally.column("dist_2"), significance.clusters_of([0, 1])
    assert significance.interval(column, clusters, seed=0) is None
    assert significance.compare(column, column, clusters, seed=0) is None
    assert math.isnan(column.totals.stderr([]))


def test_a_value_without_words_is_refused() -> None:
    with pytest.raises(ResultError):
        Column.of([3.0], score_info("dist_2").totals)


def test_a_text_alone_has_the_share_of_its_own_ngrams_however_long_it_is() -> None:
    value = DISTINCT.values(DISTINCT.judge(sample(), "a b " * 50))["dist_1"]
    assert logged.alone("dist_1", value) == 0.02
    assert value == (2, 100)


def test_words_are_not_logged_but_kept_by_a_copy() -> None:
    value = DISTINCT.values(DISTINCT.judge(sample(), "a b a b"))["dist_2"]
    assert json.dumps(value) == "[2, 3]"
    totals = score_info("dist_2").totals
    assert totals.value([value, copy.deepcopy(value)]) == 2 / 6
    assert totals.value([(2, 3), (2, 3)]) == 4 / 6
    assert not totals.is_logged
