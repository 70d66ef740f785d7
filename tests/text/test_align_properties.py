"""What holds of the alignment of any units with any text."""

from itertools import pairwise

from hypothesis import assume, given
from hypothesis import strategies as st

from spor_tasks.text.align import Ends, locate_ends, order, tightest
from spor_tasks.text.normalize import clean

anything = st.text(max_size=30)
pairs = st.lists(st.tuples(st.none() | anything, st.none() | anything), max_size=6)
words = st.text("abcdefgh", min_size=3, max_size=7)
positions = st.lists(st.none() | st.integers(0, 5), max_size=8)
choices = st.lists(st.sets(st.integers(0, 60), min_size=1, max_size=6).map(sorted), max_size=14)


@given(pairs=pairs, text=st.text(max_size=80), strict=st.booleans())
def test_any_text_gives_every_unit_a_token_or_none(
    pairs: list[Ends], text: str, *, strict: bool
) -> None:
    found = locate_ends(pairs, text, strict=strict)
    assert len(found) == len(pairs)
    assert {position for position in found if position is not None} <= set(
        range(len(clean(text).split()))
    )


@given(phrases=st.lists(st.lists(words, min_size=1, max_size=3), min_size=1, max_size=5))
def test_what_is_written_out_word_for_word_is_where_it_was_written(
    phrases: list[list[str]],
) -> None:
    flat = [word for phrase in phrases for word in phrase]
    assume(len(set(flat)) == len(flat))
    entities: list[Ends] = [(None, "_".join(phrase)) for phrase in phrases]
    starts = [sum(map(len, phrases[:i])) for i in range(len(phrases))]
    assert list(locate_ends(entities, " ".join(flat), strict=True)) == starts


@given(entities=st.sets(words, max_size=6), text=st.lists(words, max_size=12), data=st.data())
def test_no_two_entities_stand_at_one_token(
    entities: set[str], text: list[str], data: st.DataObject
) -> None:
    pairs: list[Ends] = [(None, entity) for entity in data.draw(st.permutations(sorted(entities)))]
    found = [p for p in locate_ends(pairs, " ".join(text), strict=False) if p is not None]
    assert len(set(found)) == len(found)


@given(positions)
def test_an_order_is_a_permutation_that_rises(positions: list[int | None]) -> None:
    indices = order(positions)
    assert sorted(indices) == list(range(len(positions)))
    for first, second in pairwise(indices):
        here, there = positions[first], positions[second]
        assert there is None or (here is not None and here <= there)
        assert here != there or first < second


@given(choices)
def test_tightest_placements_rise_together_and_are_no_more_than_the_positions(
    choices: list[list[int]],
) -> None:
    """The theorem that keeps the search small."""
    tied = tightest(choices)
    assert len(tied) <= 1 + sum(len(options) - 1 for options in choices)
    for lower, upper in pairwise(tied):
        assert lower != upper
        assert all(a <= b for a, b in zip(lower, upper, strict=True))


@given(choices)
def test_moving_one_token_never_makes_a_tightest_placement_tighter(
    choices: list[list[int]],
) -> None:
    def spread(placement: list[int]) -> int:
        return len(placement) * sum(x * x for x in placement) - sum(placement) ** 2

    for placement in tightest(choices):
        assert all(x in options for x, options in zip(placement, choices, strict=True))
        for token, options in enumerate(choices):
            for position in options:
                moved = [*placement[:token], position, *placement[token + 1 :]]
                rises = all(a < b for a, b in pairwise(moved))
                assert spread(list(placement)) <= spread(moved) or (len(moved) >= 10 and not rises)
