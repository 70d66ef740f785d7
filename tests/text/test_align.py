"""Where units occur in a text, one rule at a time. All texts are invented."""

import pytest

from spor_tasks.core.sample import AttributeValue, Triple
from spor_tasks.text.align import Ends, locate, locate_ends, order, tightest, trace


def where(entity: str, text: str, *, strict: bool = False) -> int | None:
    (position,) = locate_ends([(None, entity)], text, strict=strict)
    return position


@pytest.mark.parametrize(
    ("entity", "text", "position"),
    [
        ("Grey_Harbour", "The ship left Grey Harbour.", 3),
        ('"harbour, Grey"', "The GREY-HARBOUR!", 2),
        ("lanterns", "two lantern", 1),  # one edit of the four that half its length is, at most two
        ("lanterns", "two lanten", 1),
        ("lanterns", "two lante", None),
        ("cat", "a cot", 1),
        ("cat", "a coo", None),  # two edits are more than half its length
        ("7", "8", None),  # one edit too
        ("cart", "cast care cart", 2),  # the nearest word, not the first near one
        ("", "anything", None),
        ("...", "anything", None),
        ("cat", "", None),
    ],
)
def test_an_entity_is_where_its_nearest_words_are(
    entity: str, text: str, position: int | None
) -> None:
    assert where(entity, text) == position


@pytest.mark.parametrize(
    ("entity", "text", "loose", "strict"),
    [
        ("old stone bridge", "an old stone bridge", 1, 1),
        ("old stone bridge", "a stone bridge", 1, None),
        ("x y z", "here is x alone", None, None),  # single letters say too little when one lacks
        ("x y 3", "here is x alone", 2, None),  # a digit says enough
        ("x", "here is x alone", 2, 2),
    ],
)
def test_strict_asks_for_every_token(
    entity: str, text: str, loose: int | None, strict: int | None
) -> None:
    assert where(entity, text) == loose
    assert where(entity, text, strict=True) == strict


def test_an_entity_starts_at_its_first_token_even_where_another_comes_before_it() -> None:
    assert where("tower north", "the north gate tower") == 3


@pytest.mark.parametrize("strict", [False, True])
def test_synonyms_are_tried_in_turn_where_the_entity_is_not_found(*, strict: bool) -> None:
    assert where("Turkey", "a turkish town", strict=strict) == 1
    assert where("Turkey", "turkish food of turkey", strict=strict) == 3
    assert where("United_States", "american by way of america", strict=strict) == 4
    assert where("Rock_(geology)", "made of stone", strict=strict) == 2
    assert where("rock geology", "made of stone", strict=strict) is None


def test_synonyms_do_not_help_an_entity_found_in_part() -> None:
    assert where("United Kingdom", "united, the uk stands") == 0
    assert where("United Kingdom", "united, the uk stands", strict=True) == 2


def test_an_entity_stands_where_its_tokens_are_closest_together() -> None:
    assert where("stone bridge", "stone walls by the old stone bridge") == 5


def test_exact_ties_are_parted_by_the_doubles_of_the_published_variance() -> None:
    assert tightest([[0], [0, 5], [5]]) == [(0, 0, 5)]
    assert tightest([[0], [1, 17], [18]]) == [(0, 17, 18)]


def test_with_nine_tokens_two_may_share_a_position_and_with_ten_they_must_increase() -> None:
    assert tightest([[0, 4]] * 9) == [(0,) * 9, (4,) * 9]
    assert tightest([list(range(11))] * 10) == [tuple(range(10)), tuple(range(1, 11))]
    assert tightest([[5]] * 10) == []
    assert tightest([[i] for i in (*range(9), 3)]) == []


def test_nine_tokens_repeated_often_are_placed_exactly_and_at_once() -> None:
    """The product has 1000⁹ members."""
    entity = "ash birch cedar date elder fir gorse hazel ivy"
    text = f"{entity} " * 1000
    placements = tightest([list(range(token, 9000, 9)) for token in range(9)])
    assert len(placements) == 8992  # every run of nine words, wherever in the entity it starts
    assert placements[0] == tuple(range(9))
    assert where(entity, text) == 0


def test_many_increasing_tokens_repeated_often_are_placed_exactly_and_at_once() -> None:
    choices = [list(range(token, 14000, 14)) for token in range(14)]
    assert tightest(choices) == [tuple(range(start, start + 14)) for start in range(0, 14000, 14)]


def test_an_entity_with_fewer_ties_chooses_first() -> None:
    """`old grove` has one place, so `grove`, which has two, leaves it that one."""
    pairs: list[Ends] = [(None, "grove"), (None, "old grove")]
    assert locate_ends(pairs, "the old grove and a grove", strict=False) == (5, 1)


def test_an_entity_starts_within_another_only_if_it_must() -> None:
    pairs: list[Ends] = [(None, "north gate"), (None, "gate")]
    assert locate_ends(pairs, "north gate", strict=False) == (0, 1)
    assert locate_ends(pairs, "north gate and gate", strict=False) == (0, 3)


def test_the_end_of_smaller_degree_decides() -> None:
    units = [
        Triple("Mill", "river", "Sound"),
        Triple("Mill", "owner", "Abbott"),
        Triple("Abbott", "age", "61"),
    ]
    text = "Abbott, aged 61, owns a mill on the sound."
    #       0       1    2   3    4 5    6  7   8
    assert locate(units, text, strict=False) == (8, 5, 2)


def test_a_unit_is_lost_with_its_deciding_end_and_of_equal_ends_with_either() -> None:
    units = [Triple("Mill", "river", "Sound"), Triple("Mill", "owner", "Abbott")]
    assert locate(units, "The mill is Abbott's.", strict=False) == (None, 3)
    assert locate(units[:1], "The mill.", strict=False) == (None,)
    assert locate(units[:1], "The sound has a mill.", strict=False) == (4,)


def test_entities_are_told_apart_by_their_cleaned_form() -> None:
    units = [Triple("Old_Mill", "a", "x1"), Triple('"Old Mill"', "b", "x2")]
    text = "x2 old mill x1"
    assert locate(units, text, strict=False) == (3, 0)


def test_a_pair_stands_at_its_value_and_a_yes_or_no_at_its_attribute() -> None:
    units = [AttributeValue("family friendly", "no"), AttributeValue("area", "city centre")]
    text = "In the city centre and not family friendly, no."
    assert locate(units, text, strict=True) == (6, 2)


def test_a_yes_or_no_alone_in_its_sample_is_not_located() -> None:
    units = [AttributeValue("family friendly", "yes")]
    assert locate(units, "It is family friendly.", strict=True) == (None,)


def test_no_units_are_nowhere() -> None:
    assert locate([], "a text", strict=False) == ()
    assert order([]) == ()


@pytest.mark.parametrize(
    ("positions", "indices"),
    [
        ((5, 2, 9), (1, 0, 2)),
        ((5, None, 0), (2, 0, 1)),
        ((3, 1, 3, 1), (1, 3, 0, 2)),
        ((None, None), (0, 1)),
    ],
)
def test_order_follows_positions_then_data_with_what_is_not_located_last(
    positions: tuple[int | None, ...], indices: tuple[int, ...]
) -> None:
    assert order(positions) == indices


def test_with_the_same_digits_a_number_is_no_other_number() -> None:
    units = [AttributeValue("", value) for value in ("59", "5", "14", "Anna")]
    text = "Ann had 5, and came 14th."

    def found(*, same_digits: bool) -> list[list[tuple[int, ...]]]:
        return [list(each) for each in trace(units, text, strict=False, same_digits=same_digits)]

    assert found(same_digits=True) == [[], [(2,)], [(5,)], [(0,)]]
    assert found(same_digits=False)[0] == [(2,)]
