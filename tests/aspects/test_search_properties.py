from dataclasses import replace
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.aspects import check
from spor_tasks.aspects.search import Method, Settings, systematicity
from spor_tasks.core.sample import Sample
from tests.support.strategies import pools

# With ab and its units apart there is always something to test.
testable = pools(always=["a", "b", "ab"])
shares = st.floats(0, 1)
settings = st.builds(
    Settings,
    method=st.sampled_from(get_args(Method)),
    chains=st.integers(1, 2),
    moves=st.integers(1, 200),
    combination_moves=st.integers(1, 100),
    atom_floor=shares,
    pair_floor=shares,
    shown_floor=shares,
    limit=shares,
)
seeds = st.integers(0, 100)


@given(testable, settings, seeds)
def test_whatever_is_found_is_what_the_paper_requires_and_atom_all_that_may_be_in_it(
    pool: tuple[Sample, ...], settings: Settings, seed: int
) -> None:
    pair = systematicity(pool, settings, seed, jobs=1)
    assert check.systematicity(pair, limit=settings.limit).violations == ()
    order = {sample: place for place, sample in enumerate(pool)}
    for split in pair.splits:
        places = [order[sample] for sample in split.samples]
        assert places == sorted(set(places))
    atoms = {unit for sample in pair.test.samples for unit in sample.units}
    for arm in pair.arms:
        assert set(arm.samples).isdisjoint(pair.test.samples)
        assert all(atoms.intersection(sample.units) for sample in arm.samples)
    atom = [
        sample
        for sample in pool
        if atoms.intersection(sample.units)
        and all(len({*tested.units} & {*sample.units}) < 2 for tested in pair.test.samples)
    ]
    assert list(pair.arms[0].samples) == atom


@given(testable, testable, settings, seeds)
def test_samples_that_are_asked_apart_are_in_no_arm_and_others_are_not_asked(
    pool: tuple[Sample, ...], asked: tuple[Sample, ...], settings: Settings, seed: int
) -> None:
    asked = tuple(replace(sample, id=f"asked {sample.id}") for sample in asked)
    pair = systematicity(pool, settings, seed, jobs=1, asked=asked)
    assert check.systematicity(pair, limit=settings.limit).violations == ()
    assert set(pair.test.samples) <= set(asked)
    assert all(set(arm.samples) <= set(pool) for arm in pair.arms)
    atoms = {unit for sample in pair.test.samples for unit in sample.units}
    free = [
        sample
        for sample in pool
        if atoms.intersection(sample.units)
        and all(len({*tested.units} & {*sample.units}) < 2 for tested in pair.test.samples)
    ]
    assert list(pair.arms[0].samples) == free
