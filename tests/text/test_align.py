"""Places of units in a text: those that the obvious slow version finds, at once."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from spor_tasks.core.sample import AttributeValue
from spor_tasks.text.align import locate_ends, tightest, trace
from tests.oracles import align as slow_align


def test_with_the_same_digits_a_number_is_no_other_number():
    units = [AttributeValue("", value) for value in ("59", "5", "14", "Anna")]

    def placements(*, same_digits):
        text = "Ann had 5, and came 14th."
        return [list(each) for each in trace(units, text, strict=False, same_digits=same_digits)]

    assert placements(same_digits=True) == [[], [(2,)], [(5,)], [(0,)]]
    assert placements(same_digits=False)[0] == [(2,)]


def test_tokens_repeated_often_are_placed_exactly_and_at_once():
    """The products have 1000¹⁴ and 1000⁹ members."""
    runs = [tuple(range(start, start + 14)) for start in range(0, 14000, 14)]
    assert tightest([list(range(token, 14000, 14)) for token in range(14)]) == runs
    assert len(tightest([list(range(token, 9000, 9)) for token in range(9)])) == 8992
    entity = "ash birch cedar date elder fir gorse hazel ivy"
    assert locate_ends([(None, entity)], f"{entity} " * 1000, strict=False) == (0,)


# Few words, near each other, so that distances, ties, shared positions and synonyms all occur.
WORDS = ("a", "b", "1", "ash", "ask", "bark", "barks", "parks", "uk", "turkey", "turkish", "rock")
synonyms = st.sampled_from([each for of in slow_align.SYNONYMS.values() for each in of])
words = st.sampled_from(WORDS) | synonyms
entities = st.one_of(
    st.lists(words, max_size=4).map("_".join),
    st.sampled_from([*slow_align.SYNONYMS, "Rock_(geology)", "Bark, (A)"]),
)


def pairs_of(texts):
    return st.lists(st.tuples(st.none() | texts, st.none() | texts), max_size=6)


@given(pairs_of(entities), st.lists(words, max_size=9).map(" ".join), st.booleans())
def test_units_are_where_the_slow_version_finds_them(pairs, text, strict):
    expected = slow_align.locate_ends(pairs, text, strict=strict)
    assert locate_ends(pairs, text, strict=strict) == expected


def choices(positions, tokens, most):
    """Ascending positions for each of the tokens."""
    options = st.sets(st.integers(0, positions - 1), min_size=1, max_size=most).map(sorted)
    return st.lists(options, min_size=tokens, max_size=tokens)


@st.composite
def long_choices(draw):
    """Ten tokens or more, most with an increasing placement, a product of at most 4,096."""
    gaps = draw(st.lists(st.integers(1, 3), min_size=10, max_size=12))
    rising = [sum(gaps[: i + 1]) for i in range(len(gaps))]
    more = draw(st.lists(st.sets(st.integers(-4, 4), max_size=2), min_size=6, max_size=6))
    options = [{position} for position in rising]
    for token, offsets in zip(draw(st.permutations(range(len(gaps)))), more, strict=False):
        options[token] |= {max(0, rising[token] + offset) for offset in offsets}
    return [sorted(each) for each in options]


short_choices = st.integers(0, 6).flatmap(lambda tokens: choices(40, tokens, 4))


@settings(max_examples=300)
@given(short_choices | choices(6, 9, 2) | long_choices())
@example([[0], [0, 5], [5]])  # equal variances, but not in doubles
@example([[0], [1, 17], [18]])
def test_the_tightest_placements_are_those_of_the_whole_product(choices):
    assert tightest(choices) == slow_align.tightest(choices)
