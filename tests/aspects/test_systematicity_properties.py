import random

from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.aspects import check
from spor_tasks.aspects.systematicity import build
from spor_tasks.core.sample import Sample
from tests.support.strategies import pools

# With ab and its units apart there is always something to test.
testable = pools(always=["a", "b", "ab"])


@given(testable, st.floats(0, 1), st.integers(0, 3))
def test_every_build_is_taken_from_the_pool_and_what_the_paper_requires(
    pool: tuple[Sample, ...], limit: float, seed: int
) -> None:
    pair = build(pool, random.Random(seed), 3, limit)
    assert check.systematicity(pair, limit=limit).violations == ()
    order = {sample: place for place, sample in enumerate(pool)}
    for split in pair.splits:
        places = [order[sample] for sample in split.samples]
        assert places == sorted(set(places))
    for arm in pair.arms:
        assert set(arm.samples).isdisjoint(pair.test.samples)
