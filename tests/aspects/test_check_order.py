"""Each requirement of order invariance, broken one at a time."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from spor_tasks.aspects import check
from spor_tasks.aspects.order_invariance import matched, reference_orders
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import (
    AttributeValue,
    Orders,
    Sample,
    SampleMaker,
    Split,
    SplitPair,
    orders_of,
)
from spor_tasks.text import align

FOOD, AREA, PRICE = (
    AttributeValue("food", "fish"),
    AttributeValue("area", "harbour"),
    AttributeValue("price", "cheap"),
)
make = SampleMaker("cafes")
TRAIN = (
    make([FOOD, AREA], ["Fish at the harbour.", "The harbour has fish."], name="Gull"),
    make([FOOD, PRICE], ["Fish is cheap.", "Nothing."], name="Tern"),
    make([AREA], ["By the harbour."]),
)
TESTED = replace(
    make([AREA, FOOD, PRICE], ["Cheap fish at the harbour."], name="Skua"),
    challenge=Orders(((0, 1, 2), (2, 0, 1)), ((2, 1, 0),)),
)
MATCH = matched(TRAIN)


def checked(
    match: tuple[Sample, ...] = MATCH,
    test: tuple[Sample, ...] = (TESTED,),
    part: str = "main",
    train: tuple[Sample, ...] = TRAIN,
) -> check.OrderInvariance:
    pair = SplitPair(
        "order_invariance",
        "cafes",
        "strict",
        (Split("original", train), Split("match", match)),
        Split("test", test),
        part,
    )
    report = check.check(pair)
    assert isinstance(report, check.OrderInvariance)
    return report


def found(report: check.CheckResult) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    return {violation.words: violation.samples for violation in report.violations}


def test_sets_that_are_what_they_should_be_have_no_violations() -> None:
    report = checked()
    assert report.holds
    assert report == check.OrderInvariance(
        references=5,
        matches=5,
        foreign_matches=0,
        matches_out_of_order=0,
        missing_units=0,
        single_units=0,
        not_shown_twice=0,
        misread_references=0,
        violations=(),
    )


def test_a_reference_without_a_match_is_found() -> None:
    assert found(checked(MATCH[:-1])) == {"Original has 5 references but Match 4 samples": {}}


def test_a_match_of_other_units_or_of_another_text_is_found() -> None:
    less = SampleMaker("cafes")([FOOD], MATCH[0].references, name="Gull")
    other = SampleMaker("cafes")(MATCH[1].units, ["Another text."], name="Gull")
    renamed = SampleMaker("cafes")(MATCH[2].units, MATCH[2].references, name="Auk")
    assert found(checked((less, other, renamed, *MATCH[3:]))) == {
        "3 samples of Match are not references of Original": {
            "match": (less.id, other.id, renamed.id)
        }
    }


def test_a_match_that_comes_twice_in_place_of_another_is_found() -> None:
    make = SampleMaker("cafes")
    twice = [make(MATCH[0].units, MATCH[0].references, name="Gull") for _ in range(2)]
    assert found(checked((*twice, *MATCH[2:]))) == {
        "1 samples of Match are not references of Original": {"match": (twice[1].id,)}
    }


def test_a_match_in_another_order_than_the_text_is_found() -> None:
    turned = SampleMaker("cafes")(MATCH[1].units[::-1], MATCH[1].references, name="Gull")
    assert found(checked((MATCH[0], turned, *MATCH[2:]))) == {
        "1 samples of Match do not have their units in the order of the text": {
            "match": (turned.id,)
        }
    }


def test_a_turned_match_that_comes_first_takes_no_reference_from_the_right_one() -> None:
    make = SampleMaker("cafes")
    turned = make(MATCH[1].units[::-1], MATCH[1].references, name="Gull")
    assert found(checked((turned, *MATCH[1:]))) == {
        "1 samples of Match are not references of Original": {"match": (turned.id,)}
    }


def test_a_builder_that_sorts_wrongly_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check would agree with it if it asked the builder what the order is."""
    monkeypatch.setattr(align, "order", lambda positions: tuple(range(len(positions)))[::-1])
    orders = reference_orders(TESTED)
    assert orders
    wrong = replace(TESTED, challenge=replace(orders_of(TESTED), references=orders))
    report = checked(matched(TRAIN), (wrong,))
    assert report.matches_out_of_order == 3
    assert report.misread_references == 0, "which the reverse happens to get right"
    tested = replace(TRAIN[0], challenge=Orders(((0, 1), (1, 0)), reference_orders(TRAIN[0]) or ()))
    assert checked(test=(tested,)).misread_references == 1


def test_units_that_a_text_does_not_tell_stand_last_in_the_corpus_s_order() -> None:
    make = SampleMaker("cafes")
    source = make([PRICE, AREA, FOOD], ["Fish."], name="Auk")
    right = make([FOOD, PRICE, AREA], source.references, name="Auk")
    wrong = make([FOOD, AREA, PRICE], source.references, name="Auk")
    assert checked((right,), train=(source,), part="cwio").matches_out_of_order == 0
    assert checked((wrong,), train=(source,), part="cwio").matches_out_of_order == 1


def test_the_order_of_the_samples_is_nothing() -> None:
    assert checked(MATCH[::-1]).holds


@pytest.mark.parametrize("part", ["main", "cwio", "performance"])
def test_a_unit_that_no_training_sample_has_is_found(part: str) -> None:
    unit = AttributeValue("food", "cheap")
    sample = replace(TESTED, units=(AREA, FOOD, unit))
    assert found(checked(test=(TESTED, sample), part=part)) == {
        "1 units of the test set do not occur in training samples": {"test": (sample.id,)}
    }


@pytest.mark.parametrize(("part", "count"), [("main", 1), ("cwio", 1), ("performance", 0)])
def test_a_single_unit_has_no_order_to_test(part: str, count: int) -> None:
    report = checked(test=(TESTED, TRAIN[2]), part=part)
    assert report.single_units == count
    words = {"1 test samples have a single unit": {"test": (TRAIN[2].id,)}}
    assert words.items() <= found(report).items() if count else report.holds


def test_main_asks_for_two_different_orders() -> None:
    once = replace(TESTED, id="once", challenge=Orders(((0, 1, 2), (0, 1, 2)), ((2, 1, 0),)))
    tests = (once, TESTED, TRAIN[0])
    assert found(checked(test=tests)) == {
        "2 test samples are not shown in two different orders": {"test": ("once", TRAIN[0].id)}
    }
    assert checked(test=(TRAIN[0],), part="cwio").holds


def test_a_reference_order_that_is_not_that_of_the_text_is_found() -> None:
    misread = replace(TESTED, id="misread", challenge=Orders(((0, 1, 2), (2, 0, 1)), ((0, 1, 2),)))
    untold = replace(TESTED, id="untold", references=("Cheap fish.",))
    assert found(checked(test=(TESTED, misread, untold))) == {
        "2 test samples have a reference that does not mention every unit in its order": {
            "test": ("misread", "untold")
        }
    }


def test_an_aspect_that_there_is_not_cannot_be_checked() -> None:
    test = Split("test", (TESTED,))
    with pytest.raises(SplitError, match="'colour'"):
        check.check(SplitPair("colour", "cafes", "strict", (), test))
    for part in (None, "main", "n0", "n03"):
        with pytest.raises(SplitError, match="productivity has no part"):
            check.check(SplitPair("productivity", "cafes", "strict", (test, test), test, part))
