"""The choice of demonstrations against every choice there is, weighed one by one."""

from collections.abc import Iterable
from itertools import chain, combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import DataUnit, Sample, SampleMaker, SplitPair
from spor_tasks.prompts.content import Prompted
from spor_tasks.prompts.demonstrations import choose
from tests.support.strategies import pool, sets, unit


def spelled(letters: Iterable[str]) -> str:
    return "".join(sorted(letters))


# Words of few letters, so that they share many; "x" and "y" are in no test sample, whose text may
# be that of a training sample.
tests = st.builds(
    lambda letters, text: SampleMaker("tested")(map(unit, spelled(letters)), [text]),
    st.sets(st.sampled_from("abcd"), min_size=2),
    st.sampled_from(["The word abx.", "Another text."]),
)
joint = st.sets(st.sampled_from("abcdxy"), min_size=2, max_size=5).map(spelled)
mosts = st.integers(2, 4)


def arms(of: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(of, min_size=2, max_size=9)


def pair_of(aspect: str, tested: Sample, *arms: Iterable[str]) -> SplitPair:
    pools = dict(zip(("one", "other"), map(pool, arms), strict=False))
    return sets(aspect, (tested,), **pools)


def chosen(pair: SplitPair, most: int) -> Prompted | None:
    try:
        (prompted,) = choose(pair, most)
    except SplitError:
        return None
    return prompted


def held(shown: Sample, tested: Sample) -> set[DataUnit]:
    return set(shown.units) & set(tested.units)


def is_whole(shown: Sample, tested: Sample) -> bool:
    return held(shown, tested) == set(tested.units)


Cost = tuple[int, int]  # how many demonstrations, and how many units they have


def least(arm: Iterable[Sample], tested: Sample, most: int) -> Cost | None:
    """The cost of the best of all choices that show each unit, None where there is none."""
    for whole in (False, True):
        candidates = [
            sample
            for sample in arm
            if held(sample, tested)
            and set(sample.units) != set(tested.units)
            and set(sample.references).isdisjoint(tested.references)
            and (whole or not is_whole(sample, tested))
        ]
        costs = [
            (len(shown), sum(len(sample.units) for sample in shown))
            for shown in chain.from_iterable(
                combinations(candidates, n) for n in range(1, most + 1)
            )
            if set(tested.units) <= {unit for sample in shown for unit in sample.units}
        ]
        if costs:
            return min(costs)
    return None


def costs_of(prompted: Prompted | None) -> list[Cost] | None:
    if prompted is None:
        return None
    return [(len(arm), sum(len(sample.units) for sample in arm)) for arm in prompted.arms]


@settings(max_examples=300)
@given(tests, arms(joint), mosts)
def test_rule_learnability_takes_the_best_of_all_choices(
    tested: Sample, original: list[str], most: int
) -> None:
    pair = pair_of("rule_learnability", tested, original)
    best = least(pair.arms[0].samples, tested, most)
    assert costs_of(chosen(pair, most)) == (best and [best])


@settings(max_examples=300)
@given(tests, arms(joint), mosts)
def test_order_invariance_takes_the_best_of_all_choices_that_have_an_order(
    tested: Sample, original: list[str], most: int
) -> None:
    pair = pair_of("order_invariance", tested, original, original)
    candidates = [sample for sample in pair.arms[0].samples if len(sample.units) > 1]
    best = least(candidates, tested, most)
    assert costs_of(chosen(pair, most)) == (best and [best] * 2)
