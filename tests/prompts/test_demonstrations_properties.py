"""What holds of demonstrations whatever the sets are."""

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.aspects.order_invariance import matched
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import DataUnit, Sample, SplitPair
from spor_tasks.prompts.content import Demonstrations, Prompted
from spor_tasks.prompts.demonstrations import WORD_TOLERANCE, choose
from spor_tasks.prompts.styles import prompt
from spor_tasks.text import align
from tests.support import strategies
from tests.support.strategies import pool

LETTERS = "abcdef"

words = st.sets(st.sampled_from(LETTERS), min_size=1, max_size=4).map(lambda s: "".join(sorted(s)))
drawn = st.lists(words, max_size=20)
tests = st.lists(words, min_size=1, max_size=4)
mosts = st.integers(1, 5)


def sets(aspect: str, test: Iterable[str], **arms: tuple[Sample, ...]) -> SplitPair:
    return strategies.sets(aspect, pool(test, corpus="tested"), **arms)


def chosen(pair: SplitPair, most: int) -> tuple[Prompted, ...]:
    """The choice, checked for what every aspect asks for; nothing where nothing is covered."""
    try:
        prompted = choose(pair, most)
    except SplitError:
        return ()
    covered = {shown.sample.id for shown in prompted}
    assert [shown.sample for shown in prompted] == [
        sample for sample in pair.test.samples if sample.id in covered
    ]
    for shown in prompted:
        assert len(shown.arms) == len(pair.arms)
        for demonstrations in shown.arms:
            assert times_shown(shown.sample, demonstrations).keys() == set(shown.sample.units)
            assert len({sample.id for sample in demonstrations}) == len(demonstrations) <= most
            for sample in demonstrations:
                assert set(sample.units) != set(shown.sample.units)
                assert set(sample.references).isdisjoint(shown.sample.references)
    return prompted


def are_matched(shown: Prompted) -> None:
    """Check that the prompts of both arms are alike in all that is counted."""
    one, other = shown.arms
    assert len(one) == len(other)
    assert set(times_shown(shown.sample, one).values()) == {1}
    assert times_shown(shown.sample, one) == times_shown(shown.sample, other)
    units = [sum(len(set(sample.units)) for sample in arm) for arm in shown.arms]
    assert units[0] == units[1]
    more, fewer = sorted((words_of(arm) for arm in shown.arms), reverse=True)
    assert more - fewer <= WORD_TOLERANCE * more


def words_of(demonstrations: Demonstrations) -> int:
    return sum(
        len(prompt(sample, "causal").split()) + len(sample.references[0].split())
        for sample in demonstrations
    )


def held(sample: Sample, tested: Sample) -> set[DataUnit]:
    return set(sample.units) & set(tested.units)


def times_shown(tested: Sample, demonstrations: Demonstrations) -> Counter[DataUnit]:
    return Counter(unit for sample in demonstrations for unit in held(sample, tested))


@given(tests, drawn, drawn, mosts)
def test_atom_shows_units_apart_and_combination_some_of_them_together(
    test: list[str], atom: list[str], combination: list[str], most: int
) -> None:
    arms = {"atom": pool([*LETTERS, *atom]), "combination": pool(combination)}
    pair = sets("systematicity", test, **arms)
    for shown in chosen(pair, most):
        are_matched(shown)
        apart, together = shown.arms
        assert set(apart) <= set(arms["atom"])
        assert set(together) <= set(arms["combination"])
        assert max(len(held(sample, shown.sample)) for sample in apart) == 1
        assert max(len(held(sample, shown.sample)) for sample in together) > 1


@given(tests, drawn, drawn, st.integers(1, 3), mosts)
def test_some_of_visible_show_more_units_at_once_than_any_of_invisible(
    test: list[str], short: list[str], long: list[str], threshold: int, most: int
) -> None:
    invisible = pool([*LETTERS, LETTERS[:threshold], *(word[:threshold] for word in short)])
    pair = sets("productivity", test, invisible=invisible, visible=pool([*short, *long]))
    for shown in chosen(pair, most):
        are_matched(shown)
        assert set(shown.arms[0]) <= set(invisible)
        assert set(shown.arms[1]) <= set(pair.arms[1].samples)
        assert any(
            len(sample.units) > threshold and held(sample, shown.sample) for sample in shown.arms[1]
        )


@given(tests, drawn, mosts, st.randoms(use_true_random=False))
def test_original_and_match_show_the_same_texts_and_differ_in_order_alone(
    test: list[str], original: list[str], most: int, rng: random.Random
) -> None:
    def two_texts(sample: Sample) -> Sample:
        letters = [unit[-1] for unit in sample.units]
        return replace(
            sample,
            references=tuple(" ".join(rng.sample(letters, len(letters))) for _ in range(2)),
        )

    samples = tuple(map(two_texts, pool([LETTERS, *original])))
    pair = sets("order_invariance", test, original=samples, match=matched(samples))
    for shown in chosen(pair, most):
        for one, other in zip(*shown.arms, strict=True):
            assert one in samples
            assert len(one.units) > 1
            assert other.references == one.references[:1]
            order = align.order(align.locate(one.units, one.references[0], strict=False))
            assert other.units == tuple(one.units[index] for index in order)


@given(tests, drawn, drawn, mosts, st.randoms(use_true_random=False))
def test_the_order_of_the_training_samples_has_no_influence(
    test: list[str], atom: list[str], combination: list[str], most: int, rng: random.Random
) -> None:
    arms = {"atom": pool([*LETTERS, *atom]), "combination": pool(combination)}
    other = {name: tuple(rng.sample(arm, len(arm))) for name, arm in arms.items()}
    prompted = chosen(sets("systematicity", test, **arms), most)
    assert chosen(sets("systematicity", test, **other), most) == prompted
