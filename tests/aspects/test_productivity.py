"""Invisible, Visible and their test set, on corpora of a word per sample and a unit per letter."""

import dataclasses

import pytest

from spor_tasks.aspects.productivity import build
from spor_tasks.core.errors import SplitError
from tests.support.strategies import pool, words_of


def built(train, test, threshold=1, limit=0.02):
    """The words that came into Invisible, Visible and the test set."""
    return words_of(build(pool(train.split()), pool(test.split()), threshold, limit))


def test_a_replacement_within_the_limit_is_made_and_no_other():
    train = "a a b b c c d d ac bd aaa"
    with pytest.raises(SplitError, match="fits into Visible"):
        built(train, "ab", limit=0)
    assert any(len(word) > 1 for word in built(train, "ab", limit=0.03)[1])


def test_only_categories_with_samples_of_the_largest_size_are_used():
    def categorised(words, categories):
        return [
            dataclasses.replace(sample, context={"category": category})
            for sample, category in zip(pool(words.split()), categories, strict=True)
        ]

    train = categorised("a b ab a b c a b c abc", "XXXYYYYYYY")
    pair = build(train, categorised("ac ca", "XY"), 1)
    assert {sample.about("category") for samples in pair.all.values() for sample in samples} == {
        "Y"
    }
    assert words_of(pair)[-1] == ["ca"]


@pytest.mark.parametrize(
    ("test", "twos", "threes"), [("ad", 12, 0), ("bdf", 0, 8), ("ad bdf", 6, 4)]
)
def test_visible_shows_the_sizes_that_are_tested(test, twos, threes):
    letters = "abcdef"
    train = [*letters * 4]
    train += [first + second for first in letters for second in letters if first < second]
    train += ["abc", "bcd", "cde", "def", "efa", "fab"] * 2
    _, visible, _ = built(" ".join(train), test)
    assert [sum(len(word) == size for word in visible) for size in (2, 3)] == [twos, threes]


@pytest.mark.parametrize(
    ("train", "test", "fault"),
    [
        ("", "ab", "no test sample"),
        ("a b ab", "", "no test sample"),
        ("a ab", "ab", "no test sample"),
        ("a b", "ab", "no training sample"),
        ("a b abc", "ab", "no training sample"),
        ("a b c d bbc", "ad ab", "no training sample"),
    ],
)
def test_a_corpus_too_small_to_build_from_is_an_error(train, test, fault):
    with pytest.raises(SplitError, match=fault) as caught:
        built(train, test, limit=1 if len(train) > 9 else 0.02)
    assert "larger corpus" in str(caught.value.remedy)
