"""What holds of the alignment of any units with any text."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.text.align import Ends, locate_ends, tightest
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
