"""Places of units in a text: rule by rule, against the obvious slow version, and properties."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spor_tasks.core.sample import AttributeValue, DataUnit, Triple
from spor_tasks.text import align
from spor_tasks.text.align import Ends, locate, locate_ends, order, tightest, trace
from tests.oracles import align as slow_align


def where(entity: str, text: str, *, strict: bool = False) -> int | None:
    (position,) = locate_ends([(None, entity)], text, strict=strict)
    return position


@pytest.mark.parametrize(
    ("entity", "text", "loose", "strict"),
    [
        ("Grey_Harbour", "The ship left Grey Harbour.", 3, 3),
        # One edit of the four that half its length is, at most two.
        ("lanterns", "two lantern", 1, 1),
        ("cat", "a coo", None, None),  # two edits are more than half its length
        ("7", "8", None, None),  # one edit too
        ("cart", "cast care cart", 2, 2),  # the nearest word, not the first near one
        ("x y z", "here is x alone", None, None),  # single letters say too little when one lacks
        ("tower north", "the north gate tower", 3, 3),  # at its first token
        ("stone bridge", "stone walls by the old stone bridge", 5, 5),  # closest together
        # Synonyms are tried in turn where the entity is not found, not where it is found in part.
        ("United_States", "american by way of america", 4, 4),
        ("Rock_(geology)", "made of stone", 2, 2),
        ("United Kingdom", "united, the uk stands", 0, 2),
    ],
)
def test_places_of_an_entity(entity: str, text: str, loose: int | None, strict: int | None) -> None:
    assert where(entity, text) == loose
    assert where(entity, text, strict=True) == strict


MILL, OWNER = Triple("Mill", "river", "Sound"), Triple("Mill", "owner", "Abbott")
GROVE, OLD_GROVE = AttributeValue("", "grove"), AttributeValue("", "old grove")
FRIENDLY, CENTRE = AttributeValue("family friendly", "no"), AttributeValue("area", "city centre")


@pytest.mark.parametrize(
    ("units", "text", "positions"),
    [
        # The end of smaller degree decides.
        (
            [MILL, OWNER, Triple("Abbott", "age", "61")],
            "Abbott, aged 61, owns a mill on the sound.",
            (8, 5, 2),
        ),
        # A unit is lost with its deciding end, and of equal ends with either.
        ([MILL, OWNER], "The mill is Abbott's.", (None, 3)),
        ([MILL], "The mill.", (None,)),
        # Entities differ by their cleaned form.
        ([Triple("Old_Mill", "", "x"), Triple('"Old Mill"', "", "y")], "y old mill x", (3, 0)),
        # A pair stands at its value, and a yes or no at its attribute, unless it is alone.
        ([FRIENDLY, CENTRE], "In the city centre and not family friendly, no.", (6, 2)),
        ([FRIENDLY], "It is family friendly.", (None,)),
        # `old grove` has one place, so `grove`, which has two, leaves it that one.
        ([GROVE, OLD_GROVE], "the old grove and a grove", (5, 1)),
        # An entity starts within another only if it must.
        ([OLD_GROVE, GROVE], "old grove", (0, 1)),
        ([OLD_GROVE, GROVE], "old grove and grove", (0, 3)),
        ([], "a text", ()),
    ],
)
def test_units_in_a_text(
    units: list[DataUnit], text: str, positions: tuple[int | None, ...]
) -> None:
    assert locate(units, text, strict=False) == positions


@pytest.mark.parametrize(
    ("positions", "indices"),
    [
        ((5, None, 0), (2, 0, 1)),
        ((3, 1, 3, 1), (1, 3, 0, 2)),
        ((None, None), (0, 1)),
    ],
)
def test_order_follows_positions_then_data_and_units_without_a_place_come_last(
    positions: tuple[int | None, ...], indices: tuple[int, ...]
) -> None:
    assert order(positions) == indices


def test_with_the_same_digits_a_number_is_no_other_number() -> None:
    units = [AttributeValue("", value) for value in ("59", "5", "14", "Anna")]

    def placements(*, same_digits: bool) -> list[list[tuple[int, ...]]]:
        text = "Ann had 5, and came 14th."
        return [list(each) for each in trace(units, text, strict=False, same_digits=same_digits)]

    assert placements(same_digits=True) == [[], [(2,)], [(5,)], [(0,)]]
    assert placements(same_digits=False)[0] == [(2,)]


RUNS = [tuple(range(start, start + 14)) for start in range(0, 14000, 14)]


@pytest.mark.parametrize(
    ("choices", "placements"),
    [
        # With nine tokens two may share a position, and with ten they must increase.
        ([[0, 4]] * 9, [(0,) * 9, (4,) * 9]),
        ([list(range(11))] * 10, [tuple(range(10)), tuple(range(1, 11))]),
        ([[5]] * 10, []),
        ([[i] for i in (*range(9), 3)], []),
        ([list(range(token, 14000, 14)) for token in range(14)], RUNS),  # 1000¹⁴ products
    ],
)
def test_exact_placements(choices: list[list[int]], placements: list[tuple[int, ...]]) -> None:
    assert tightest(choices) == placements


def test_nine_tokens_repeated_often_are_placed_exactly_and_at_once() -> None:
    """The product has 1000⁹ members."""
    entity = "ash birch cedar date elder fir gorse hazel ivy"
    assert len(tightest([list(range(token, 9000, 9)) for token in range(9)])) == 8992
    assert where(entity, f"{entity} " * 1000) == 0


# Few words, near each other, so that distances, ties, shared positions and synonyms all occur.
WORDS = ("a", "b", "1", "ash", "ask", "bark", "barks", "parks", "uk", "turkey", "turkish", "rock")
words = st.sampled_from(WORDS)
entities = st.one_of(
    st.lists(words, max_size=4).map("_".join),
    st.sampled_from(["United_Kingdom", "Turkey", "Rock_(geology)", "Bark, (A)"]),
)


def pairs_of(texts: st.SearchStrategy[str]) -> st.SearchStrategy[list[Ends]]:
    return st.lists(st.tuples(st.none() | texts, st.none() | texts), max_size=6)


@given(pairs_of(entities), st.lists(words, max_size=9).map(" ".join), st.booleans())
def test_units_are_where_the_slow_version_finds_them(
    pairs: list[Ends],
    text: str,
    strict: bool,  # noqa: FBT001
) -> None:
    expected = slow_align.locate_ends(pairs, text, strict=strict)
    assert locate_ends(pairs, text, strict=strict) == expected


def choices(positions: int, tokens: int, most: int) -> st.SearchStrategy[list[list[int]]]:
    """Ascending positions for each of the tokens."""
    options = st.sets(st.integers(0, positions - 1), min_size=1, max_size=most).map(sorted)
    return st.lists(options, min_size=tokens, max_size=tokens)


@st.composite
def long_choices(draw: st.DrawFn) -> list[list[int]]:
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
def test_the_tightest_placements_are_those_of_the_whole_product(choices: list[list[int]]) -> None:
    assert align.tightest(choices) == slow_align.tightest(choices)
