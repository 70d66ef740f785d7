import random

from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.aspects import check
from spor_tasks.aspects.systematicity import Settings, build
from spor_tasks.core.sample import Sample, SplitPair
from tests.support.strategies import pools

# With ab and its units apart there is always something to test.
testable = pools(always=["a", "b", "ab"])


def built(pool: tuple[Sample, ...], limit: float, seed: int) -> SplitPair:
    return build(pool, Settings(restarts=3, limit=limit), random.Random(seed))


@given(testable, st.floats(0, 1), st.integers(0, 3))
def test_every_build_is_what_the_paper_requires(
    pool: tuple[Sample, ...], limit: float, seed: int
) -> None:
    assert check.systematicity(built(pool, limit, seed), limit=limit).violations == ()


@given(testable, st.integers(0, 3))
def test_sets_are_taken_from_the_pool_and_the_test_set_is_kept_apart(
    pool: tuple[Sample, ...], seed: int
) -> None:
    pair = built(pool, 0.02, seed)
    order = {sample: place for place, sample in enumerate(pool)}
    for split in pair.splits:
        places = [order[sample] for sample in split.samples]
        assert places == sorted(set(places))
    for arm in pair.arms:
        assert set(arm.samples).isdisjoint(pair.test.samples)


@given(testable, st.integers(0, 3))
def test_equal_arguments_give_equal_sets(pool: tuple[Sample, ...], seed: int) -> None:
    assert built(pool, 0.02, seed) == built(pool, 0.02, seed)
