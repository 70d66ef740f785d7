"""Demonstrations and covers of any sets: their requirements, and the best of all choices."""

import random
import time
from collections import Counter
from dataclasses import replace
from itertools import chain, combinations, combinations_with_replacement

from hypothesis import example, given, settings
from hypothesis import strategies as st

from spor_tasks.aspects.order_invariance import matched
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import SampleMaker
from spor_tasks.prompts.cover import MOST_UNITS, Block, PromptSize, covers, draw_sizes, filled
from spor_tasks.prompts.demonstrations import WORD_TOLERANCE, choose
from spor_tasks.prompts.styles import prompt
from spor_tasks.text import align
from tests.conftest import EXAMPLES
from tests.support import strategies
from tests.support.strategies import pool, unit

LETTERS = "abcdef"


def spelled(letters):
    return "".join(sorted(letters))


words = st.sets(st.sampled_from(LETTERS), min_size=1, max_size=4).map(spelled)
drawn = st.lists(words, max_size=20)
tests = st.lists(words, min_size=1, max_size=4)
mosts = st.integers(1, 5)


def sets(aspect, test, **arms):
    return strategies.sets(aspect, pool(test, corpus="tested"), **arms)


def chosen(pair, most):
    """The choice, checked for the requirements of every aspect; none where nothing is covered."""
    try:
        prompted = choose(pair, most)
    except SplitError:
        return ()
    covered = {each.sample.id for each in prompted}
    assert [each.sample for each in prompted] == [
        sample for sample in pair.test if sample.id in covered
    ]
    for each in prompted:
        for demonstrations, arm in zip(each.arms, pair.arms.values(), strict=True):
            assert set(demonstrations) <= set(arm)
            assert times_shown(each.sample, demonstrations).keys() == set(each.sample.units)
            assert len({sample.id for sample in demonstrations}) == len(demonstrations) <= most
            for sample in demonstrations:
                assert set(sample.units) != set(each.sample.units)
                assert set(sample.references).isdisjoint(each.sample.references)
    return prompted


def assert_matched(prompted):
    """Check that the prompts of both arms are alike in all that is counted."""
    one, other = prompted.arms
    assert len(one) == len(other)
    assert set(times_shown(prompted.sample, one).values()) == {1}
    assert times_shown(prompted.sample, one) == times_shown(prompted.sample, other)
    units = [sum(len(set(sample.units)) for sample in arm) for arm in prompted.arms]
    assert units[0] == units[1]
    fewer, more = sorted(words_of(arm) for arm in prompted.arms)
    assert more - fewer <= WORD_TOLERANCE * more


def words_of(demonstrations):
    texts = ((prompt(sample, "causal"), sample.references[0]) for sample in demonstrations)
    return sum(len(text.split()) for text in chain.from_iterable(texts))


def held(sample, tested):
    return set(sample.units) & set(tested.units)


def times_shown(tested, demonstrations):
    return Counter(unit for sample in demonstrations for unit in held(sample, tested))


@given(tests, drawn, drawn, mosts, st.randoms(use_true_random=False))
def test_atom_shows_units_apart_and_combination_together_in_any_order_of_training(
    test, atom, combination, most, rng
):
    arms = {"atom": pool([*LETTERS, *atom]), "combination": pool(combination)}
    prompted = chosen(sets("systematicity", test, **arms), most)
    for each in prompted:
        assert_matched(each)
        apart, together = (
            [len(held(sample, each.sample)) for sample in demonstrations]
            for demonstrations in each.arms
        )
        assert max(apart) == 1 < max(together)
    shuffled = {name: tuple(rng.sample(arm, len(arm))) for name, arm in arms.items()}
    assert chosen(sets("systematicity", test, **shuffled), most) == prompted


@given(tests, drawn, drawn, st.integers(1, 3), mosts)
def test_some_of_visible_show_more_units_at_once_than_any_of_invisible(
    test, short, long, threshold, most
):
    invisible = pool([*LETTERS, LETTERS[:threshold], *(word[:threshold] for word in short)])
    pair = sets("productivity", test, invisible=invisible, visible=pool([*short, *long]))
    for each in chosen(pair, most):
        assert_matched(each)
        assert any(
            len(sample.units) > threshold and held(sample, each.sample) for sample in each.arms[1]
        )


@given(tests, drawn, mosts, st.randoms(use_true_random=False))
def test_original_and_match_show_the_same_texts_and_differ_in_order_alone(
    test, original, most, rng
):
    def two_texts(sample):
        letters = [unit[-1] for unit in sample.units]
        texts = (" ".join(rng.sample(letters, len(letters))) for _ in range(2))
        return replace(sample, references=tuple(texts))

    samples = tuple(map(two_texts, pool([LETTERS, *original])))
    pair = sets("order_invariance", test, original=samples, match=matched(samples))
    for each in chosen(pair, most):
        for one, other in zip(*each.arms, strict=True):
            assert len(one.units) > 1
            assert other.references == one.references[:1]
            order = align.order(align.locate(one.units, one.references[0], strict=False))
            assert other.units == tuple(one.units[index] for index in order)


# Words of few letters, so that they share many; "x" and "y" are in no test sample, whose text may
# be that of a training sample.
tested_samples = st.builds(
    lambda letters, text: SampleMaker("tested")(map(unit, spelled(letters)), [text]),
    st.sets(st.sampled_from("abcd"), min_size=2),
    st.sampled_from(["The word abx.", "Another text."]),
)
originals = st.lists(
    st.sets(st.sampled_from("abcdxy"), min_size=2, max_size=5).map(spelled), min_size=2, max_size=9
).map(pool)


def cost_of(demonstrations):
    sizes = [len(sample.units) for sample in demonstrations]
    return len(sizes), sum(sizes)


def least(arm, tested, most):
    """The cost of the best of all choices that show each unit, None where there is none."""
    units = set(tested.units)
    for may_have_all in (False, True):
        candidates = [
            sample
            for sample in arm
            if held(sample, tested)
            and set(sample.units) != units
            and set(sample.references).isdisjoint(tested.references)
            and (may_have_all or held(sample, tested) != units)
        ]
        choices = chain.from_iterable(combinations(candidates, n) for n in range(1, most + 1))
        if costs := [
            cost_of(each) for each in choices if units <= {u for s in each for u in s.units}
        ]:
            return min(costs)
    return None


@settings(max_examples=3 * EXAMPLES)
@given(tested_samples, originals, st.integers(2, 4))
def test_other_aspects_show_best(tested, original, most):
    best = least(original, tested, most)
    for aspect, arms in (
        ("rule_learnability", {"original": original}),
        ("order_invariance", {"original": original, "match": original}),
    ):
        prompted = chosen(strategies.sets(aspect, (tested,), **arms), most)
        costs = [cost_of(arm) for each in prompted for arm in each.arms]
        assert costs == ([best] * len(arms) if best else [])


UNITS = 3
FULL = 2**UNITS - 1

blocks = st.sets(st.builds(Block, st.integers(1, FULL), st.integers(1, 5)), max_size=7)
sizes = st.sets(st.integers(1, 12), min_size=1, max_size=3).map(sorted)


def worth(block):
    return block.size if block.mask.bit_count() > 1 else 0


def collections(of):
    return chain.from_iterable(combinations(sorted(of), n) for n in range(1, len(of) + 1))


def best_values(of, most, *, once):
    """The most that a cover of each shape is worth."""
    values = {}
    for chosen in collections(of):
        times = [sum(block.mask >> unit & 1 for block in chosen) for unit in range(UNITS)]
        shape = PromptSize(len(chosen), sum(block.size for block in chosen))
        fits = shape.samples <= most and shape.units <= MOST_UNITS
        if fits and min(times) > 0 and (max(times) == 1 or not once):
            values[shape] = max(values.get(shape, 0), sum(map(worth, chosen)))
    return values


@example({Block(3, 2), Block(3, 4), Block(4, 2), Block(1, 2), Block(2, 2)}, 3)
@given(blocks, st.integers(1, 5))
def test_covers_are_the_best_of_all(of, most):
    found = covers(of, FULL, value=worth)(most)
    assert {shape: cover.value for shape, cover in found.items()} == best_values(
        of, most, once=True
    )
    for shape, cover in found.items():
        assert (cover.shape, cover.fillers) == (shape, PromptSize(0, 0))
        assert set(cover.blocks) <= of
        assert PromptSize(len(cover.blocks), sum(block.size for block in cover.blocks)) == shape
        assert sum(map(worth, cover.blocks)) == cover.value
    # Those that may repeat units have the smallest of all.
    repeating, values = covers(of, FULL, once=False)(most), best_values(of, most, once=False)
    assert sorted(repeating)[:1] == sorted(values)[:1]


def test_few_samples_that_show_many_units_are_found_without_looking_at_more():
    full = (1 << 14) - 1
    of = {Block(mask, mask.bit_count() + 1) for mask in range(1, full, 9)}
    started = time.process_time()
    assert covers(of, full, once=False)(2)
    assert time.process_time() - started < 5  # longer covers take more than a minute


@given(blocks, sizes, st.integers(1, 5))
def test_fillers_make_all_possible_shapes(of, of_fillers, most):
    plain = covers(of, FULL, value=worth)(most)
    expected = {}
    for (samples, units), cover in plain.items():
        for number in range(most - samples + 1):
            for drawn in combinations_with_replacement(of_fillers, number):
                shape = PromptSize(samples + number, units + sum(drawn))
                if shape.units <= MOST_UNITS:
                    expected[shape] = max(expected.get(shape, 0), cover.value)
    found = filled(plain, of_fillers, most)
    assert {shape: cover.value for shape, cover in found.items()} == expected
    for cover in found.values():
        drawn_sizes = draw_sizes(of_fillers, cover.fillers, random.Random(1))
        assert PromptSize(len(drawn_sizes), sum(drawn_sizes)) == cover.fillers
        assert set(drawn_sizes) <= set(of_fillers)
