"""The search of larger sets of systematicity."""

import random

import pytest

from spor_tasks.aspects import check, systematicity
from spor_tasks.aspects.search import ROUNDS
from spor_tasks.aspects.search import systematicity as search
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import Sample
from spor_tasks.corpora.embedded import MINI
from tests.support.strategies import pool


@pytest.fixture(scope="module")
def samples() -> tuple[Sample, ...]:
    return tuple(MINI.everything())


def test_a_test_samples_units_come_apart_in_atom_and_together_in_combination() -> None:
    pair = search(pool(["a", "abx", "b", "ab", "q"]), 0).pair
    words = [["".join(unit[0] for unit in s.units) for s in split.samples] for split in pair.splits]
    assert words == [["a", "b"], ["abx"], ["ab"]]


def test_a_search_finds_these_very_sets(samples: tuple[Sample, ...]) -> None:
    # Other sets on another machine or Python would mean that a search cannot be repeated.
    pair = search(samples, 4, rounds=2).pair
    assert (pair.aspect, pair.corpus, pair.protocol) == ("systematicity", "mini", "strict")
    assert [digest(split.samples)[:8] for split in pair.splits] == [
        "c55387ce",
        "1c799fc8",
        "433187f2",
    ]


def test_more_rounds_find_more_than_the_papers_construction(samples: tuple[Sample, ...]) -> None:
    built = systematicity.build(samples, random.Random(0))
    found = search(samples, 0, rounds=3)
    assert found.rounds == 3
    assert check.check(found.pair).holds
    assert len(found.pair.test.samples) > len(built.test.samples)
    assert len(found.pair.arms[0].samples) >= 0.4 * len(samples)


def test_time_ends_a_search_with_what_its_complete_rounds_found(
    samples: tuple[Sample, ...],
) -> None:
    found = search(samples, 4, seconds=0.1)
    assert found.rounds < ROUNDS
    assert found == search(samples, 4, rounds=found.rounds)


def test_an_interrupt_ends_it_so_too_once_something_is_found(samples: tuple[Sample, ...]) -> None:
    def interrupt(_: int, __: int, best: str) -> None:
        if best:
            raise KeyboardInterrupt

    found = search(samples, 4, progress=interrupt)
    assert found.interrupted
    assert found.pair == search(samples, 4, rounds=found.rounds).pair


def test_an_interrupt_before_anything_is_found_is_passed_on(samples: tuple[Sample, ...]) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(samples, 4, progress=interrupt)


@pytest.mark.parametrize("given", [["a", "b"], ["ab", "cd"], ["a", "b", "ab"]])
def test_a_pool_without_sets_is_an_error(given: list[str]) -> None:
    with pytest.raises(SplitError, match="found no test sample"):
        search(pool(given), 0)
