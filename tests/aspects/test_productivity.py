"""Invisible, Visible and their test set, on corpora of a word per sample and a unit per letter."""

import dataclasses
from collections.abc import Sequence

import pytest

from spor_tasks.aspects import check
from spor_tasks.aspects.productivity import build, exchanged
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import Sample, Split
from spor_tasks.corpora.embedded import MINI
from tests.oracles.productivity import published
from tests.support.strategies import pool, sets

METHODS = {
    "exchange": exchanged,
    "scarcest": published("scarcest"),
    "longest": published("longest"),
}


def words_of(split: Split) -> list[str]:
    return ["".join(unit[0] for unit in sample.units) for sample in split.samples]


def built(
    train: Sequence[str],
    test: Sequence[str],
    threshold: int = 1,
    *,
    method: str = "exchange",
    limit: float = 0.02,
) -> tuple[list[str], ...]:
    """The words that came into Invisible, Visible and the test set."""
    pair = build(pool(train), pool(test), threshold, limit, METHODS[method])
    return tuple(map(words_of, pair.splits))


@pytest.mark.parametrize("method", METHODS)
def test_a_long_sample_takes_the_place_of_short_ones_of_as_many_units(method: str) -> None:
    train = ["a", "b", "c", "a", "b", "c", "abc"]
    invisible, visible, test = built(train, ["ab", "c", "abcd"], method=method)
    assert invisible == ["a", "b", "c", "a", "b", "c"]
    assert sorted(visible) == ["a", "abc", "b", "c"]
    assert test == ["ab"]


def test_visible_keeps_the_order_of_the_pool() -> None:
    _, visible, _ = built(["a", "b", "abc", "c", "c", "b", "a"], ["ab"])
    assert visible.index("abc") < visible.index("c")
    assert built(["c", "a", "a", "ab", "b", "b"], ["ac"], limit=1)[1] == ["c", "a", "ab", "b"]


@pytest.mark.parametrize("method", METHODS)
def test_a_replacement_that_parts_the_arms_too_far_is_not_made(method: str) -> None:
    train = [*"aabbccdd", "ac", "bd", "aaa"]
    with pytest.raises(SplitError, match="fits into Visible"):
        built(train, ["ab"], method=method, limit=0)
    assert any(len(word) > 1 for word in built(train, ["ab"], method=method, limit=0.03)[1])


def test_several_long_samples_enter_where_one_has_no_exact_match() -> None:
    # No samples of two units add up to three, but three of them to six.
    train = ["ab", "bc", "ca", "cd", "ab", "bc", "ca", "cd", "abc", "bca"]
    for method in ("scarcest", "longest"):
        with pytest.raises(SplitError, match="fits into Visible"):
            built(train, ["abd"], threshold=2, method=method)
    _, visible, _ = built(train, ["abd"], threshold=2)
    assert sorted(visible) == ["ab", "abc", "bc", "bca", "ca", "cd", "cd"]


def test_a_unit_of_the_test_set_may_leave_visible_only_as_published() -> None:
    train, test = [*"abcd", "bbc"], ["ad", "ab"]
    assert built(train, test, method="longest", limit=1)[1:] == (["bbc", "a"], ["ab"])
    with pytest.raises(SplitError, match="fits into Visible"):
        built(train, test, limit=1)
    _, visible, tested = built([*train, "b", "b"], test, limit=1)
    assert sorted(visible) == ["a", "b", "bbc", "d"]
    assert tested == test


def test_the_last_two_of_a_unit_of_the_test_set_do_not_leave_together() -> None:
    train, test = [*"ccde", "ab"], ["cde", "de"]
    with pytest.raises(SplitError, match="fits into Visible"):
        built(train, test, limit=1)
    assert built([*train, "f"], test, limit=1)[1:] == ([*"cde", "ab"], test)


@pytest.mark.parametrize("method", METHODS)
def test_a_training_sample_of_a_test_samples_units_is_left_out(method: str) -> None:
    train = [*"aabbcc", "ba", "ac"]
    _, visible, test = built(train, ["ab"], method=method, limit=1)
    assert "ac" in visible
    assert "ba" not in visible
    assert test == ["ab"]


def test_only_categories_with_samples_of_the_largest_size_are_used() -> None:
    def categorised(words: Sequence[str], categories: str) -> list[Sample]:
        return [
            dataclasses.replace(sample, context={"category": category})
            for sample, category in zip(pool(words), categories, strict=True)
        ]

    train = categorised(["a", "b", "ab", "a", "b", "c", "a", "b", "c", "abc"], "XXXYYYYYYY")
    test = categorised(["ac", "ca"], "XY")
    pair = build(train, test, 1)
    assert {sample.about("category") for split in pair.splits for sample in split.samples} == {"Y"}
    assert words_of(pair.test) == ["ca"]


@pytest.mark.parametrize(
    ("test", "twos", "threes"), [(["ad"], 12, 0), (["bdf"], 0, 8), (["ad", "bdf"], 6, 4)]
)
def test_visible_shows_the_sizes_that_are_tested(test: list[str], twos: int, threes: int) -> None:
    letters = "abcdef"
    train = [*letters * 4]
    train += [first + second for first in letters for second in letters if first < second]
    train += ["abc", "bcd", "cde", "def", "efa", "fab"] * 2
    _, visible, _ = built(train, test)
    shown = [sum(len(word) == size for word in visible) for size in (2, 3)]
    assert shown == [twos, threes]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("train", "test", "fault"),
    [
        ([], ["ab"], "no test sample"),
        (["a", "b", "ab"], [], "no test sample"),
        (["a", "b", "ab"], ["a"], "no test sample"),
        (["a", "ab"], ["ab"], "no test sample"),
        (["ab", "bc"], ["abc"], "no test sample"),
        (["a", "b"], ["ab"], "no training sample"),
        (["a", "b", "ab"], ["ba"], "no training sample"),
        (["a", "b", "abc"], ["ab"], "no training sample"),
    ],
)
def test_a_corpus_too_small_to_build_from_is_an_error(
    train: list[str], test: list[str], fault: str, method: str
) -> None:
    with pytest.raises(SplitError, match=fault) as caught:
        built(train, test, method=method)
    assert "larger corpus" in str(caught.value)


def embedded() -> tuple[list[Sample], list[Sample]]:
    """Three quarters of the embedded corpus to train on, the rest to test, all of one category."""
    samples = [dataclasses.replace(sample, context={}) for sample in MINI.everything()]
    return [s for i, s in enumerate(samples) if i % 4], samples[::4]


@pytest.mark.parametrize("threshold", [2, 3])
def test_exchanges_show_more_than_the_published_ways(threshold: int) -> None:
    train, test = embedded()
    reports = {
        method: check.productivity(build(train, test, threshold, choose=choose), threshold)
        for method, choose in METHODS.items()
    }
    assert not any(report.violations for report in reports.values())
    assert max(reports, key=lambda method: reports[method].counts["units_in_long"]) == "exchange"


def counted(
    invisible: Sequence[str], visible: Sequence[str], test: Sequence[str], limit: float = 0.02
) -> check.CheckResult:
    """What is counted in sets of one word per sample at a threshold of 2."""
    arms = {"invisible": pool(invisible), "visible": pool(visible)}
    pair = sets("productivity", pool(test), **arms)
    return check.productivity(pair, 2, limit=limit)


def test_sets_that_are_what_they_should_be_have_no_violations() -> None:
    report = counted(["ab", "c", "d", "ab", "c", "d"], ["abc", "ab", "c", "d", "d"], ["bcd", "cda"])
    assert report.counts == {
        "threshold": 2,
        "short_in_test": 0,
        "long_in_invisible": 0,
        "missing_units": (0, 0),
        "test_samples_shown": (0, 0),
        "short_not_in_invisible": 0,
        "units": (8, 8),
        "divergence": 0,
        "limit": 0.02,
        "long_in_visible": 1,
        "units_in_long": 3,
    }
    assert report.holds


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ((["ab", "c"], ["abc"], ["ab", "abcc"]), "1 test samples have at most 2 units"),
        ((["abc"], ["abc"], ["abcc"]), "1 samples of Invisible have more than 2 units"),
        ((["ab", "c"], ["abc"], ["abd", "bcd"]), "1 units of the test set do not occur in Visible"),
        ((["ab", "c"], ["abx"], ["bcd"]), "2 units of the test set do not occur in Visible"),
        ((["ab", "c"], ["abc"], ["abd"]), "1 units of the test set do not occur in Invisible"),
        (
            (["ab", "c"], ["cab"], ["abc"]),
            "1 training samples have exactly the units of a test sample",
        ),
        ((["ab", "c"], ["abc", "ac"], ["aab"]), "1 short samples of Visible are not in Invisible"),
        ((["ab", "c"], ["abc", "ab"], ["aab"]), "Invisible has 3 units but Visible 5"),
        ((["ab", "c"], ["abb"], ["aab"]), "the divergence of the arms is 0.1953, more than 0.02"),
        ((["ab", "c"], ["ab", "c"], ["aab"]), "no sample of Visible has more than 2 units"),
    ],
)
def test_each_violation_is_said(given: tuple[list[str], list[str], list[str]], fault: str) -> None:
    assert fault in [violation.words for violation in counted(*given).violations]


def test_an_arm_that_holds_nothing_cannot_be_compared() -> None:
    with pytest.raises(SplitError, match="without units"):
        counted([], ["abc"], ["abd"])
