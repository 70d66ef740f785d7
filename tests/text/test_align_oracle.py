"""The alignment against its obvious slow version, on texts made to be full of ties."""

from hypothesis import example, given
from hypothesis import strategies as st

from spor_tasks.text import align
from tests.oracles import align as slow_align

# Few words, near each other, so that distances, ties, shared positions and synonyms all occur.
WORDS = ("a", "b", "1", "ash", "ask", "bark", "barks", "parks", "uk", "turkey", "turkish", "rock")
words = st.sampled_from(WORDS)
texts = st.lists(words, max_size=9).map(" ".join)
entities = st.one_of(
    st.lists(words, max_size=4).map("_".join),
    st.sampled_from(["United_Kingdom", "Turkey", "Rock_(geology)", "Bark, (A)"]),
)
pairs = st.lists(st.tuples(st.none() | entities, st.none() | entities), max_size=5)


@given(pairs=pairs, text=texts, strict=st.booleans())
def test_units_are_where_the_slow_version_finds_them(
    pairs: list[align.Ends], text: str, *, strict: bool
) -> None:
    expected = slow_align.locate_ends(pairs, text, strict=strict)
    assert align.locate_ends(pairs, text, strict=strict) == expected


def choices(positions: int, tokens: int, most: int) -> st.SearchStrategy[list[list[int]]]:
    """What tokens may choose from: for each, ascending positions."""
    options = st.sets(st.integers(0, positions - 1), min_size=1, max_size=most).map(sorted)
    return st.lists(options, min_size=tokens, max_size=tokens)


@given(st.integers(0, 6).flatmap(lambda tokens: choices(40, tokens, 4)))
@example([[0], [0, 5], [5]])  # equal variances, but not in doubles
@example([[0], [1, 17], [18]])
def test_the_tightest_placements_are_those_of_the_whole_product(choices: list[list[int]]) -> None:
    assert align.tightest(choices) == slow_align.tightest(choices)


@given(choices(6, 9, 2))
def test_nine_tokens_may_choose_in_any_order(choices: list[list[int]]) -> None:
    assert align.tightest(choices) == slow_align.tightest(choices)


@st.composite
def long_choices(draw: st.DrawFn) -> list[list[int]]:
    """Ten tokens or more, most with an increasing placement, a product of at most 4,096."""
    gaps = draw(st.lists(st.integers(1, 3), min_size=10, max_size=12))
    one = [sum(gaps[: i + 1]) for i in range(len(gaps))]
    more = draw(st.lists(st.sets(st.integers(-4, 4), max_size=2), min_size=6, max_size=6))
    at = draw(st.permutations(range(len(one))))
    found = [{position} for position in one]
    for token, offsets in zip(at, more, strict=False):
        found[token] |= {max(0, one[token] + offset) for offset in offsets}
    return [sorted(options) for options in found]


@given(long_choices())
def test_ten_tokens_or_more_must_increase(choices: list[list[int]]) -> None:
    assert align.tightest(choices) == slow_align.tightest(choices)
