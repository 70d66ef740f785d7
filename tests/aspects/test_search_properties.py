from hypothesis import assume, given
from hypothesis import strategies as st

from spor_tasks.aspects import check
from spor_tasks.aspects.search import systematicity
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import Sample
from tests.support.strategies import pools


@given(pools(always=["a", "b", "ab", "abx"]), st.integers(0, 100))
def test_whatever_is_found_is_what_the_paper_requires_and_atom_all_that_may_be_in_it(
    pool: tuple[Sample, ...], seed: int
) -> None:
    try:
        pair = systematicity(pool, seed, rounds=1).pair
    except SplitError:  # a small pool may hide what could be found
        assume(False)  # noqa: FBT003
    assert check.systematicity(pair).violations == ()
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
