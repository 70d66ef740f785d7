"""Phrases in the place of entities and values, on invented ships and restaurants."""

import random
from collections.abc import Sequence

import pytest

from spor_tasks.aspects.rule_learnability import (
    build,
    hide_entities,
)
from spor_tasks.core import codec, files
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import AttributeValue, Hidden, Sample, SampleMaker, Triple, challenge_of
from spor_tasks.corpora.e2e.enumeration import POSSIBLE_VALUES, hide_values

Parts = tuple[str, str, str]


def ship(triples: Sequence[Parts], *references: str, category: str | None = None) -> Sample:
    return SampleMaker("ships")(
        [Triple(*parts) for parts in triples], references, category=category
    )


def hidden(triples: Sequence[Parts], *references: str) -> dict[str, str]:
    """What is hidden in a sample, and the phrases for it; nothing where it is left out."""
    return {
        what: phrase
        for s in hide_entities([ship(triples, *references)])
        for what, phrase in challenge_of(s, Hidden).phrases
    }


def test_a_subject_gives_way_to_a_phrase_wherever_it_stands() -> None:
    sample = ship(
        [("Blue_Gull", "port", "Anholt"), ("Ada_Holm", "ship", "Blue_Gull")],
        "Ada Holm sails the Blue Gull of Anholt.",
        category="Ship",
    )
    (copy,) = hide_entities([sample])
    assert copy.units == (
        Triple("Entity 2", "port", "Anholt"),
        Triple("Entity 1", "ship", "Entity 2"),
    )
    assert challenge_of(copy, Hidden).phrases == (
        ("Ada Holm", "Entity 1"),
        ("Blue Gull", "Entity 2"),
    )
    assert (copy.references, copy.about("category")) == ((), "Ship")


PORT = ("Gull", "port", "Port of anholt")
SISTERS = [
    ("Gull_2", "sister ship", "Auk"),
    ("Gull_2", "sister ship", "Tern"),
    ("Auk", "cargo", "rye"),
    ("Skua", "cargo", "salt"),
]
IN_ONE_PORT = [("Auk", "port", "Anholt"), ("Gull_2", "port", "Anholt")]
LED_BY_ONE = [("Auk", "captain", "Ada"), ("Gull_2", "captain", "Ada")]


@pytest.mark.parametrize(
    ("triples", "references", "expected"),
    [
        ([PORT], ["The GULL is there."], {"Gull": "Entity 1"}),
        # A subject with a digit, one inside another entity, and one that is not mentioned.
        ([("Gull_2", *PORT[1:])], ["The Gull 2 lies at Anholt."], {}),
        ([("Anholt", *PORT[1:])], ["The Gull 2 lies at Anholt."], {}),
        ([("Petrel", *PORT[1:])], ["The Gull 2 lies at Anholt."], {}),
        # It must be in every reference.
        ([PORT], ["The Gull.", "A gull!"], {"Gull": "Entity 1"}),
        ([PORT], ["The Gull.", "A ship."], {}),
        # Display forms are compared, and entities that look alike hide neither.
        ([('"Gull_Two"', "port", "Anholt")], ["The Gull_Two."], {"Gull Two": "Entity 1"}),
        ([("Blue_Gull", "port", "x"), ("Blue Gull", "captain", "Ada")], ["The Blue Gull."], {}),
        # Numbers go by the alphabet, capitals first.
        (
            [("oyster", "port", "x"), ("Zander", "port", "y"), ("Eel", "port", "z")],
            ["Eel, Zander, oyster"],
            {"Eel": "Entity 1", "Zander": "Entity 2", "oyster": "Entity 3"},
        ),
        # Gull 2 has a digit and stays; what is in the pattern of its triple is given back, as
        # subject and as object, but not its number.
        ([*IN_ONE_PORT, ("Skua", "cargo", "rye")], ["Auk and Skua"], {"Skua": "Entity 2"}),
        (SISTERS, ["Auk and Skua"], {"Skua": "Entity 2"}),
        # Once Auk is back, Auk and Skua would lie in one port; that was not to be seen before.
        (
            [*LED_BY_ONE, ("Auk", "port", "Anholt"), ("Skua", "port", "Anholt")],
            ["Auk and Skua"],
            {"Skua": "Entity 2"},
        ),
        # A sample that got everything back is left out.
        (IN_ONE_PORT, ["Auk"], {}),
    ],
)
def test_which_entities_are_hidden(
    triples: list[Parts], references: list[str], expected: dict[str, str]
) -> None:
    assert list(hidden(triples, *references).items()) == list(expected.items())


def place(name: str, **values: str) -> Sample:
    pairs = [AttributeValue(key.replace("_", " "), value) for key, value in values.items()]
    return SampleMaker("places")(pairs, ["A place."], name=name)


PLACES = (
    place("Slowtide", eat_type="kiosk", food="Greek", price_range="cheap", area="old town"),
    place("The Gull", customer_rating="low", family_friendly="no", near="The Greek Mill"),
    place("Auk", price_range="high", near="Tern", area="harbour", food="Norse"),
)


def values_of(row: Sample) -> dict[str, str]:
    """The value of each attribute that a row has."""
    return dict(unit for unit in row.units if isinstance(unit, AttributeValue))


def rows() -> tuple[Sample, ...]:
    return hide_values(PLACES, random.Random(0))


def test_every_choice_of_values_that_hides_something_comes_once() -> None:
    # Each attribute takes one of its values or none; of 3 * 2 ways to hide, one hides nothing.
    conditions = [frozenset(values_of(row).items() - {("near", "Tern")}) for row in rows()]
    assert len(conditions) == len(set(conditions)) == (2 * 3 * 3 * 2) * (3 * 2 - 1)


def test_values_come_in_alphabetical_order_and_their_absence_last() -> None:
    first, last = rows()[0], rows()[-1]
    assert dict(challenge_of(first, Hidden).phrases) == {
        "price range": "less than Value A",
        "customer rating": "Value B out of 5",
    }
    assert {AttributeValue("food", "Greek"), AttributeValue("area", "harbour")} < set(first.units)
    assert dict(challenge_of(last, Hidden).phrases) == {"customer rating": "Value A out of 5"}
    assert values_of(last).keys() <= {"customer rating", "near"}


def test_what_is_hidden_is_shown_as_its_phrase() -> None:
    for row in rows():
        shown = values_of(row)
        assert challenge_of(row, Hidden).phrases
        assert {what: shown[what] for what in POSSIBLE_VALUES if what in shown} == dict(
            challenge_of(row, Hidden).phrases
        )
        assert row.references == ()


def test_a_seed_gives_the_same_samples_again_and_another_the_same_choices() -> None:
    assert rows() == rows()
    others = hide_values(PLACES, random.Random(1))
    assert others != rows()
    assert [challenge_of(row, Hidden).phrases for row in others] == [
        challenge_of(row, Hidden).phrases for row in rows()
    ]


def test_values_that_no_metric_knows_are_not_hidden() -> None:
    with pytest.raises(SplitError, match="price range has the values free, outrageous"):
        hide_values(
            (*PLACES, place("X", price_range="outrageous"), place("Y", price_range="free")),
            random.Random(0),
        )


def boat(references: tuple[str, ...], *units: tuple[str, str], **context: str) -> Sample:
    pairs = [AttributeValue(*unit) for unit in units]
    return Sample("1", "boats", tuple(pairs), references, context)


def test_values_that_all_references_copy_are_hidden() -> None:
    """Not one that some reference lacks, nor of an attribute with two values, nor yes or no."""
    texts = ("A Red, 4 metre boat of oak with sail and oar: no!", "It is red, of 4 and of oak. No.")
    units = [("colour", "red"), ("length", "4"), ("hull", "oak"), ("deck", "no")]
    plain = boat(texts, *units, ("gear", "sail"), ("gear", "oar"), ("use", "metre"))
    told = boat(texts, *units, name="The 6 of Oak")
    other = boat(("",), ("length", "6"), ("hull", "elm"), ("deck", "yes"))
    first, second = build([other], [plain, told, other], random.Random(0)).test.samples
    phrases = {"colour": "Value A", "length": "Value B", "hull": "Value C"}
    assert challenge_of(first, Hidden).phrases == tuple(phrases.items())
    assert first.units == tuple(
        AttributeValue(unit[0], phrases.get(unit[0], unit[-1])) for unit in plain.units
    )
    assert challenge_of(first, Hidden).values == (
        *(("colour", ("red",)), ("length", ("4", "6")), ("hull", ("elm", "oak"))),
    )
    assert challenge_of(second, Hidden).phrases == (("colour", "Value A"),), (
        "the name tells the others"
    )


def test_a_value_that_another_attribute_shows_is_not_hidden_even_at_second_sight() -> None:
    """Hull is not hidden, for its name is shown; so what it contains cannot be hidden either."""
    sample = boat(("Oak and oak 4 and 4.",), ("hull", "oak 4"), ("length", "4"), name="Oak 4")
    with pytest.raises(SplitError, match="what would be hidden is shown elsewhere"):
        build([sample], [sample], random.Random(0))


def test_the_one_arm_is_the_training_set() -> None:
    sample = ship([("Gull", "port", "Anholt")], "The Gull.")
    pair = build([sample], [sample], random.Random(0))
    assert (pair.aspect, pair.corpus, pair.protocol) == ("rule_learnability", "ships", "strict")
    assert [split.name for split in pair.splits] == ["original", "test"]
    assert pair.arms[0].samples == (sample,)
    assert pair.test.samples == hide_entities([sample])
    pair = build(PLACES, (), random.Random(0))
    assert (pair.corpus, pair.test.samples) == ("places", rows())


def test_nothing_to_hide_is_an_error() -> None:
    sample = ship([("Gull", "port", "Anholt")], "A ship.")
    with pytest.raises(SplitError, match="no test sample"):
        build([sample], [sample], random.Random(0))
    with pytest.raises(SplitError, match="no test sample"):
        build([sample], [], random.Random(0))
    with pytest.raises(SplitError, match="no training sample"):
        build([], [sample], random.Random(0))


def test_hidden_phrases_are_written_under_the_published_names() -> None:
    (copy,) = hide_entities([ship([("Gull", "port", "Anholt")], "The Gull.")])
    assert files.encode_row(codec.to_row(copy)).decode() == (
        '{"data": [["Entity 1", "port", "Anholt"]], "replaced_entity": {"Gull": "Entity 1"}}\n'
    )
    row = codec.to_row(rows()[-1])
    assert list(row) == ["name", "data", "replaced_kv_pair"]
    assert row["replaced_kv_pair"] == {"customer rating": "Value A out of 5"}
