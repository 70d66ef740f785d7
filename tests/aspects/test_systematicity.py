import random
from collections.abc import Sequence

import pytest

from spor_tasks.aspects import check
from spor_tasks.aspects.systematicity import build
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.corpora.embedded import MINI
from tests.support.strategies import pool


def built(words: Sequence[str], *, limit: float = 0.02) -> tuple[list[str], ...]:
    """The words that came into Atom, Combination and the test set."""
    pair = build(pool(words), random.Random(0), limit=limit)
    return tuple(
        ["".join(unit[0] for unit in s.units) for s in split.samples] for split in pair.splits
    )


def test_a_test_samples_units_come_apart_in_atom_and_together_in_combination() -> None:
    # abx cannot be tested, for x occurs nowhere else.
    assert built(["a", "abx", "b", "ab"]) == (["a", "b"], ["abx"], ["ab"])


def test_the_largest_samples_are_offered_to_the_test_set_first() -> None:
    # Offered first, ad would have drawn abc into Atom.
    atom, _, test = built(["a", "b", "c", "d", "abc", "ad"])
    assert (atom, test) == (["a", "b", "c", "ad"], ["abc"])


def test_combination_is_atom_where_nothing_else_shows_a_pair() -> None:
    assert built(["a", "b", "ab"]) == (["a", "b"], ["a", "b"], ["ab"])


def test_no_replacement_takes_an_atom_away_from_combination() -> None:
    # abx could only replace ay, and then nothing would show y.
    atom, combination, test = built(["ay", "b", "ab", "abx", "yz", "z"])
    assert test == ["ab", "yz"]
    assert atom == combination == ["ay", "b", "z"]


def test_a_replacement_that_parts_the_arms_too_far_is_not_made() -> None:
    # Only a, a can make room for abx: with bc or d gone, nothing would show c or d.
    words = ["a", "a", "bc", "d", "ab", "cd", "abx"]
    assert built(words, limit=0.04) == (["a", "a", "bc", "d"], ["bc", "d", "abx"], ["ab", "cd"])
    assert built(words, limit=0.03)[1] == ["a", "a", "bc", "d"]


def test_samples_of_equal_units_enter_the_test_set_together() -> None:
    atom, combination, test = built(["a", "b", "ab", "ba", "ab"])
    assert test == ["ab", "ba", "ab"]
    assert atom == combination == ["a", "b"]


@pytest.mark.parametrize("words", [[], ["a", "b"], ["ab", "cd"]])
def test_a_pool_that_offers_no_test_sample_is_an_error(words: list[str]) -> None:
    with pytest.raises(SplitError, match="no sample can be tested"):
        built(words)


def test_a_build_without_a_run_is_refused() -> None:
    with pytest.raises(ConfigError, match="restarts: must be at least 1"):
        build(pool(["ab"]), random.Random(0), restarts=0)


@pytest.mark.parametrize("seed", range(2))
def test_the_embedded_corpus_yields_sets_of_a_useful_size(seed: int) -> None:
    pair = build(MINI.everything(), random.Random(seed))
    report = check.systematicity(pair)
    assert report.violations == ()
    shown = report.counts["pairs_in_combination"]
    assert isinstance(shown, int)
    assert shown > 200
    assert len(pair.test.samples) > 120
    assert all(len(arm.samples) > 300 for arm in pair.arms)


def test_more_restarts_never_make_the_test_set_smaller() -> None:
    samples = MINI.everything()

    def test_units(restarts: int) -> int:
        pair = build(samples, random.Random(0), restarts)
        return sum(len(sample.units) for sample in pair.test.samples)

    sizes = [test_units(restarts) for restarts in (1, 4, 16)]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]
