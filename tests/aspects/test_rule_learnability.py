"""Phrases in the place of values, on invented restaurants and boats."""

import random

import pytest

from spor_tasks.aspects.rule_learnability import build, hide_entities
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import AttributeValue, Hidden, Sample, SampleMaker, Triple, challenge_of
from spor_tasks.corpora.e2e.enumeration import hide_values


def hidden_in(sample):
    return challenge_of(sample, Hidden).phrases


def place(name, **values):
    pairs = [AttributeValue(key.replace("_", " "), value) for key, value in values.items()]
    return SampleMaker("places")(pairs, ["A place."], name=name)


PLACES = (
    place("Slowtide", eat_type="kiosk", food="Greek", price_range="cheap", area="old town"),
    place("The Gull", customer_rating="low", family_friendly="no", near="The Greek Mill"),
    place("Auk", price_range="high", near="Tern", area="harbour", food="Norse"),
)


def test_values_that_no_metric_knows_are_not_hidden():
    more = (place("X", price_range="outrageous"), place("Y", price_range="free"))
    with pytest.raises(SplitError, match="price range has the values free, outrageous"):
        hide_values((*PLACES, *more), random.Random(0))


def boat(references, *units, **context):
    return Sample("1", "boats", tuple(AttributeValue(*unit) for unit in units), references, context)


def test_values_that_all_references_copy_are_hidden():
    """Not one that some reference lacks, nor of an attribute with two values, nor yes or no."""
    both = ("A Red, 4 metre boat of oak with sail and oar: no!", "It is red, of 4 and of oak. No.")
    units = [("colour", "red"), ("length", "4"), ("hull", "oak"), ("deck", "no")]
    plain = boat(both, *units, ("gear", "sail"), ("gear", "oar"), ("use", "metre"))
    revealing = boat(both, *units, name="The 6 of Oak")
    other = boat(("",), ("length", "6"), ("hull", "elm"), ("deck", "yes"))
    first, second = build([other], [plain, revealing, other], random.Random(0)).test
    phrases = {"colour": "Value A", "length": "Value B", "hull": "Value C"}
    assert challenge_of(first, Hidden) == Hidden(
        tuple(phrases.items()),
        (("colour", ("red",)), ("length", ("4", "6")), ("hull", ("elm", "oak"))),
    )
    assert first.units == tuple((unit[0], phrases.get(unit[0], unit[-1])) for unit in plain.units)
    assert hidden_in(second) == (("colour", "Value A"),)  # the name reveals the others


def test_a_value_that_another_attribute_shows_is_not_hidden_even_at_second_sight():
    """The name is a possible hull, so the hull is not hidden, and so neither is its length."""
    sample = boat(("Oak 4 and 4.",), ("hull", "oak 4"), ("length", "4"), name="Gull")
    train = [sample, boat(("",), ("hull", "gull"))]
    with pytest.raises(SplitError, match="what would be hidden is shown elsewhere"):
        build(train, [sample], random.Random(0))


def test_the_one_arm_is_the_training_set_and_something_must_be_hidden():
    port = [Triple("Gull", "port", "Anholt")]
    sample, silent = (SampleMaker("ships")(port, [text]) for text in ("The Gull.", "A ship."))
    pair = build([sample], [sample], random.Random(0))
    assert [*pair.all] == ["original", "test"]
    assert next(iter(pair.arms.values())) == (sample,)
    assert pair.test == hide_entities([sample])
    assert build(PLACES, (), random.Random(0)).test == hide_values(PLACES, random.Random(0))
    for test in ([silent], []):
        with pytest.raises(SplitError) as caught:
            build([sample], test, random.Random(0))
        assert caught.value.remedy
    with pytest.raises(SplitError, match="no sample has the attribute 'hull' to hide"):
        build(PLACES, PLACES, random.Random(0), ["hull"])
    tested = boat(("It has Norse food.",), ("food", "Norse"))
    (hidden,) = build(PLACES, [tested], random.Random(0), ["food"]).test
    assert hidden_in(hidden) == (("food", "Value A"),)
    assert build(PLACES, [tested], random.Random(0), ["Food"]).test == (hidden,)
