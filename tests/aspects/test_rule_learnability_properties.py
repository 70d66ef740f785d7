from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.aspects.rule_learnability import hide_entities
from spor_tasks.core.sample import Hidden, Sample, SampleMaker, Triple, challenge_of

NAMES = ("Auk", "Great_Auk", "great auk", "Skua", '"Skua"', "Tern_2", "Ada", "Anholt", "Ad")

triples = st.builds(
    Triple, st.sampled_from(NAMES), st.sampled_from(["port", "crew"]), st.sampled_from(NAMES)
)
texts = st.lists(st.sampled_from(NAMES), min_size=3, max_size=9).map(" with ".join)
samples = st.tuples(
    st.lists(triples, min_size=1, max_size=5), st.lists(texts, min_size=1, max_size=2)
).map(lambda content: SampleMaker("ships")(*content))


def shown(raw: str) -> str:
    return raw.replace("_", " ").replace('"', "")


@given(samples)
def test_what_is_hidden_can_only_be_copied(sample: Sample) -> None:
    """A hidden entity is in every reference, and in no entity that is left in the input."""
    for copy in hide_entities([sample]):
        names = {phrase: what for what, phrase in challenge_of(copy, Hidden).phrases}
        ends = {end for unit in copy.units for end in (unit[0], unit[-1])}
        assert 0 < len(names) == len(challenge_of(copy, Hidden).phrases)
        assert names.keys() <= {unit[0] for unit in copy.units}
        for what in names.values():
            assert all(what.lower() in shown(text).lower() for text in sample.references)
            assert all(what.lower() not in shown(end).lower() for end in ends)
            assert not any(map(str.isdigit, what))
        assert list(names.values()) == sorted(names.values())
        numbers = [int(phrase.removeprefix("Entity ")) for phrase in names]
        assert numbers == sorted(numbers)


@given(samples)
def test_all_else_stays_as_it_is(sample: Sample) -> None:
    for copy in hide_entities([sample]):
        names = {phrase: what for what, phrase in challenge_of(copy, Hidden).phrases}
        for old, new in zip(sample.units, copy.units, strict=True):
            assert old[1] == new[1]
            for before, after in ((old[0], new[0]), (old[-1], new[-1])):
                assert before == after or shown(before) == names[after]


@given(st.lists(samples, max_size=5))
def test_samples_are_hidden_in_one_by_one_and_in_order(pool: list[Sample]) -> None:
    alone = [
        (copy.units, challenge_of(copy, Hidden).phrases)
        for sample in pool
        for copy in hide_entities([sample])
    ]
    together = hide_entities(pool)
    assert [(copy.units, challenge_of(copy, Hidden).phrases) for copy in together] == alone
    assert len({copy.id for copy in together}) == len(together)
