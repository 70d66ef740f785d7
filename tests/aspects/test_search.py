import os
import random
from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest

from spor_tasks.aspects import check, systematicity
from spor_tasks.aspects.search import MOST_ROUNDS, Method, Settings, chains, effort, in_rounds
from spor_tasks.aspects.search import systematicity as search
from spor_tasks.aspects.search.construction import best_test_set
from spor_tasks.aspects.search.sets import Pool
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.sample import Sample, SplitPair
from spor_tasks.corpora.embedded import MINI
from tests.support.strategies import pool

QUICK = Settings(chains=3, moves=3_000, combination_moves=2_000)


def words(pair: SplitPair) -> tuple[list[str], ...]:
    return tuple(
        ["".join(unit[0] for unit in s.units) for s in split.samples] for split in pair.splits
    )


def digests_of(pair: SplitPair) -> list[str]:
    return [digest(split.samples) for split in pair.splits]


@pytest.fixture(scope="module")
def samples() -> tuple[Sample, ...]:
    return MINI.everything()


def test_a_test_samples_units_come_apart_in_atom_and_together_in_combination() -> None:
    pair = search(pool(["a", "abx", "b", "ab", "q"]), QUICK, seed=0, jobs=1)
    assert words(pair) == (["a", "b"], ["abx"], ["ab"])
    assert (pair.aspect, pair.corpus, pair.protocol) == ("systematicity", "letters", "strict")
    assert [split.name for split in pair.splits] == ["atom", "combination", "test"]


def test_combination_is_atom_where_it_could_not_be_anything_else() -> None:
    pair = search(pool(["a", "b", "ab", "c", "cd"]), QUICK, seed=0, jobs=1)
    assert words(pair) == (["a", "b"], ["a", "b"], ["ab"])


def test_samples_of_equal_units_enter_the_test_set_together() -> None:
    assert words(search(pool(["a", "b", "ab", "ba"]), QUICK, seed=0, jobs=1))[2] == ["ab", "ba"]


@pytest.mark.parametrize("given", [[], ["a", "b"], ["ab", "cd"]])
@pytest.mark.parametrize("method", ["anneal", "algorithm_1"])
def test_a_pool_that_offers_no_test_sample_is_an_error(given: list[str], method: Method) -> None:
    with pytest.raises(SplitError, match="no sample can be tested"):
        search(pool(given), Settings(method=method, moves=50, combination_moves=50), seed=0, jobs=1)


def test_any_number_of_jobs_finds_the_same(samples: tuple[Sample, ...]) -> None:
    found = [search(samples, QUICK, seed=4, jobs=jobs) for jobs in (1, 2)]
    assert found[0] == found[1]


def test_a_search_finds_these_very_sets(samples: tuple[Sample, ...]) -> None:
    # Other numbers on another machine or Python would mean that nobody could check shipped sets.
    pair = search(samples, QUICK, seed=4, jobs=1)
    assert [each[:8] for each in digests_of(pair)] == ["de73a126", "e3a546d0", "03d43385"]


def test_floors_are_reached_where_there_is_room(samples: tuple[Sample, ...]) -> None:
    settings = Settings(
        chains=1,
        moves=60_000,
        combination_moves=20_000,
        atom_floor=0.4,
        pair_floor=0.3,
        shown_floor=0.8,
    )
    pair = search(samples, settings, seed=0)
    report = check.systematicity(pair)
    (atom, combination), test = (arm.samples for arm in pair.arms), pair.test.samples
    assert len(atom) >= 0.4 * len(samples)
    assert report.pairs_in_combination >= 0.3 * len(samples)
    shown = set[frozenset[Any]]().union(*(pairs(sample) for sample in combination))
    assert sum(not shown.isdisjoint(pairs(sample)) for sample in test) >= 0.8 * len(test)
    built = systematicity.build(samples, systematicity.Settings(), random.Random(0))
    assert len(test) > len(built.test.samples)


def pairs(sample: Sample) -> set[frozenset[Any]]:
    return {frozenset((u, v)) for u in sample.units for v in sample.units if u != v}


def test_a_stricter_limit_is_kept(samples: tuple[Sample, ...]) -> None:
    settings = Settings(chains=1, moves=3_000, combination_moves=30_000, limit=0.005)
    pair = search(samples, settings, seed=0)
    report = check.systematicity(pair, limit=0.005)
    assert report.violations == ()
    assert report.pairs_in_combination > 0


def test_progress_comes_to_its_end(samples: tuple[Sample, ...]) -> None:
    seen = list[tuple[int, int, str]]()
    search(samples, QUICK, seed=0, jobs=2, progress=lambda *now: seen.append(now))
    steps, totals, best = zip(*seen, strict=True)
    assert list(steps) == sorted(steps)
    assert set(totals) == {3 * (3_000 + 2_000)}
    assert steps[-1] == totals[-1]
    assert len(seen) > 100
    assert best[0] == ""
    assert "test samples" in best[-1]


ENDLESS = Settings(chains=2, moves=400_000, combination_moves=40_000)
"""A search whose first round is short and whose last takes longer than any test."""


def test_the_last_round_makes_the_moves_of_the_settings(samples: tuple[Sample, ...]) -> None:
    found = in_rounds(samples, QUICK, 4, jobs=1)
    assert found.pair == search(samples, QUICK, seed=4, jobs=1)
    assert (found.rounds, found.interrupted) == (4, False)


def test_time_ends_a_search_with_what_its_complete_rounds_found(
    samples: tuple[Sample, ...],
) -> None:
    found = in_rounds(samples, ENDLESS, 4, rounds=MOST_ROUNDS, seconds=0.1, jobs=1)
    assert found.rounds < MOST_ROUNDS
    assert found == in_rounds(samples, ENDLESS, 4, rounds=found.rounds, jobs=1)
    assert check.systematicity(found.pair).violations == ()


def test_an_interrupt_ends_it_so_too_once_something_is_found(samples: tuple[Sample, ...]) -> None:
    def interrupt(_: int, __: int, best: str) -> None:
        if best:
            raise KeyboardInterrupt

    found = in_rounds(samples, ENDLESS, 4, jobs=1, progress=interrupt)
    assert (found.rounds, found.interrupted) == (1, True)
    assert found.pair == in_rounds(samples, ENDLESS, 4, rounds=1, jobs=1).pair


def test_an_interrupt_before_anything_is_found_is_passed_on(samples: tuple[Sample, ...]) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_rounds(samples, ENDLESS, 4, jobs=1, progress=interrupt)


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ({"rounds": 0}, "rounds"),
        ({"rounds": MOST_ROUNDS + 1}, "rounds"),
        ({"seconds": 0.0}, "seconds"),
        ({"seconds": float("nan")}, "seconds"),
    ],
)
def test_rounds_and_seconds_out_of_their_range_are_refused(
    wrong: dict[str, Any], where: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        in_rounds(pool(["a", "b", "ab"]), QUICK, 0, **wrong)
    assert caught.value.where == where


def test_a_search_without_sound_sets_says_what_it_lacks_with_counts() -> None:
    few = Settings(chains=1, moves=300, combination_moves=200)
    with pytest.raises(SplitError, match="for 0 of the 3 samples of two or more units"):
        in_rounds(pool(["ab", "ab", "cd", "e"]), few, 0, jobs=1)
    with pytest.raises(SplitError, match=r"none of the 0 samples outside .* of the 1 test samples"):
        in_rounds(pool(["a", "b", "ab"]), few, 0, jobs=1)


def test_the_effort_is_less_where_each_move_looks_at_more() -> None:
    dense = pool(["".join(word) for word in combinations("abcdefghijklmn", 5)])
    sparse = pool([word + str(number) for number, word in enumerate(["ab", "a", "b"] * 667)])
    assert effort(dense).moves < 150 * len(dense)
    assert effort(sparse).moves == 200 * len(sparse)


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ({"method": "simplex"}, "method"),
        ({"chains": 0}, "chains"),
        ({"moves": 0}, "moves"),
        ({"combination_moves": -1}, "combination_moves"),
        ({"atom_floor": 1.1}, "atom_floor"),
        ({"pair_floor": -0.5}, "pair_floor"),
        ({"pair_floor": float("nan")}, "pair_floor"),
        ({"shown_floor": float("nan")}, "shown_floor"),
        ({"limit": -0.1}, "limit"),
    ],
)
def test_a_setting_out_of_its_range_is_refused(wrong: dict[str, Any], where: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Settings(**wrong)
    assert caught.value.where == where


def test_algorithm_1_is_tried_from_every_start(samples: tuple[Sample, ...]) -> None:
    items = Pool(samples)
    sizes = [len(units) for units in items.units]
    starts = sizes.count(max(sizes))

    def units(constructions: int) -> int:
        reported = list[int]()
        found = best_test_set(items, constructions, random.Random(0), reported.append)
        assert len(reported) == constructions
        return sum(items.copies[item] * sizes[item] for item in found)

    assert units(1) < units(starts)
    settings = Settings(method="algorithm_1", chains=1, moves=starts, combination_moves=2_000)
    pair = search(samples, settings, seed=0)
    assert check.systematicity(pair).violations == ()
    rng = random.Random("0:0")
    test = best_test_set(items, starts, rng, lambda _: None)
    assert {samples[i] for item in test for i in items.members[item]} == set(pair.test.samples)


def square(chain: int, report: Callable[[int], None]) -> int:
    report(chain)
    return chain**2


@pytest.mark.parametrize("jobs", [1, 2])
def test_chains_give_their_results_with_their_numbers(jobs: int) -> None:
    steps = list[int]()
    found = sorted(chains.run(square, 5, jobs, steps.append))
    assert found == [(0, 0), (1, 1), (2, 4), (3, 9), (4, 16)]
    assert sum(steps) == 10


def end_at_once(chain: int, _: Callable[[int], None]) -> int:
    if chain == 1:
        os._exit(1)
    return chain


def test_a_process_that_ends_too_early_is_an_error() -> None:
    with pytest.raises(SplitError, match="before it finished"):
        list(chains.run(end_at_once, 2, 2, lambda _: None))
