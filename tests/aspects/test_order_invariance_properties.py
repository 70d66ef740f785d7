import random

from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.aspects.order_invariance import matched, reference_orders, shown_twice
from spor_tasks.core.sample import Orders, Sample, SampleMaker, Triple, challenge_of
from spor_tasks.text import align

NAMES = ("Auk", "Gull", "Skua", "Tern", "Ada Holm", "Bo Lund", "Anholt", "herring", "rye")

triples = st.builds(Triple, st.sampled_from(NAMES), st.just("is"), st.sampled_from(NAMES))
# Texts that mention most names, in any order.
texts = st.permutations(NAMES).flatmap(
    lambda names: st.integers(5, len(names)).map(lambda count: " and ".join(names[:count]))
)
samples = st.tuples(
    st.lists(triples, min_size=1, max_size=5, unique=True),
    st.lists(texts, min_size=1, max_size=3),
).map(lambda content: SampleMaker("ships")(*content))


@given(samples)
def test_match_holds_the_same_units_as_the_sample_and_in_the_references_order(
    sample: Sample,
) -> None:
    matches = matched([sample])
    assert [one.references for one in matches] == [(text,) for text in sample.references]
    for one in matches:
        assert sorted(one.units) == sorted(sample.units)
        (text,) = one.references
        at = dict(zip(sample.units, align.locate(sample.units, text, strict=False), strict=True))
        positions = [at[unit] for unit in one.units]
        found = [position for position in positions if position is not None]
        assert found == sorted(found)
        assert positions[len(found) :] == [None] * (len(positions) - len(found))


@given(st.lists(samples, max_size=5), st.integers(0, 5))
def test_main_shows_two_different_orders_of_samples_told_whole(
    pool: list[Sample], seed: int
) -> None:
    shown = shown_twice(pool, random.Random(seed))
    whole = [one for one in pool if len(one.units) > 1 and reference_orders(one)]
    assert [one.id for one in shown] == [one.id for one in whole]
    for one in shown:
        indices = list(range(len(one.units)))
        first, second = challenge_of(one, Orders).inputs
        assert first != second
        for order in (first, second, *challenge_of(one, Orders).references):
            assert sorted(order) == indices
        assert len(challenge_of(one, Orders).references) == len(one.references)
        for order, match in zip(challenge_of(one, Orders).references, matched([one]), strict=True):
            assert tuple(one.units[index] for index in order) == match.units
