from itertools import chain

from hypothesis import assume, given
from hypothesis import strategies as st

from spor_tasks.aspects import check
from spor_tasks.aspects.numbers import LIMIT
from spor_tasks.aspects.productivity import Choose, build, exchanged
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import Sample, SplitPair
from tests.oracles.productivity import published
from tests.support.strategies import pools

Pool = tuple[Sample, ...]

# Units so common that one long sample always fits, and something to test on them.
trains = pools(always=[*"abcdefgh" * 2, "abcde", "cdefgh", "ab", "bc", "bcd", "abd"])
tests = pools(always=["aceg", "abcfg"])
thresholds = st.integers(1, 3)
limits = st.floats(0, 1)
METHODS: tuple[Choose, ...] = (exchanged, published("scarcest"), published("longest"))


def built(
    train: Pool,
    test: Pool,
    threshold: int,
    limit: float = LIMIT,
    choose: Choose = exchanged,
) -> SplitPair:
    try:
        return build(train, test, threshold, limit, choose)
    except SplitError:
        assume(False)  # noqa: FBT003
        raise


@given(trains, tests, thresholds, limits, st.sampled_from(METHODS))
def test_every_build_is_what_the_paper_requires(
    train: Pool, test: Pool, threshold: int, limit: float, choose: Choose
) -> None:
    pair = built(train, test, threshold, limit, choose)
    assert check.productivity(pair, threshold, limit=limit).violations == ()


@given(trains, tests, thresholds, st.sampled_from(METHODS))
def test_arms_and_test_set_are_all_that_they_can_be(
    train: Pool, test: Pool, threshold: int, choose: Choose
) -> None:
    pair = built(train, test, threshold, choose=choose)
    invisible, visible = (arm.samples for arm in pair.arms)
    tested = {frozenset(sample.units) for sample in test if len(sample.units) > threshold}
    assert invisible == tuple(
        s for s in train if len(s.units) <= threshold and frozenset(s.units) not in tested
    )
    assert len(set(visible)) == len(visible)
    assert set(train).issuperset(visible)
    known = [set(chain.from_iterable(s.units for s in samples)) for samples in (invisible, visible)]
    assert pair.test.samples == tuple(
        sample
        for sample in test
        if len(sample.units) > threshold and all(units.issuperset(sample.units) for units in known)
    )


@given(trains, tests, thresholds)
def test_exchanges_keep_every_test_sample_and_the_order_of_the_pool(
    train: Pool, test: Pool, threshold: int
) -> None:
    pair = built(train, test, threshold)
    invisible, visible = (arm.samples for arm in pair.arms)
    known = set(chain.from_iterable(sample.units for sample in invisible))
    assert pair.test.samples == tuple(
        s for s in test if len(s.units) > threshold and known.issuperset(s.units)
    )
    places = [train.index(sample) for sample in visible]
    assert places == sorted(places)
