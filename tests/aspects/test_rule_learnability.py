"""Phrases in the place of entities and values, on invented ships and restaurants."""

import random
from collections.abc import Sequence

import pytest

from spor_tasks.aspects.rule_learnability import POSSIBLE_VALUES, build, hide_entities, hide_values
from spor_tasks.core import codec, files
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import AttributeValue, Sample, SampleMaker, Triple, hidden_of

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
        for what, phrase in hidden_of(s).phrases
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
    assert hidden_of(copy).phrases == (("Ada Holm", "Entity 1"), ("Blue Gull", "Entity 2"))
    assert (copy.references, copy.about("category")) == ((), "Ship")


@pytest.mark.parametrize(
    "subject", ["Gull_2", "Anholt", "Petrel"], ids=["digit", "inside another", "not mentioned"]
)
def test_some_subjects_are_never_hidden(subject: str) -> None:
    triples = [(subject, "port", "Port of anholt")]
    assert hidden(triples, "The Gull 2 lies at Anholt.") == {}
    assert hidden([("Gull", "port", "Port of anholt")], "The GULL is there.") == {
        "Gull": "Entity 1"
    }


def test_an_entity_must_be_in_every_reference() -> None:
    triples = [("Gull", "port", "Anholt")]
    assert hidden(triples, "The Gull.", "A gull!") == {"Gull": "Entity 1"}
    assert hidden(triples, "The Gull.", "A ship.") == {}


def test_display_forms_are_compared_and_shown() -> None:
    triples = [('"Gull_Two"', "port", "Anholt")]
    assert hidden(triples, "The Gull_Two.") == {"Gull Two": "Entity 1"}


def test_entities_that_look_alike_hide_neither() -> None:
    triples = [("Blue_Gull", "port", "Anholt"), ("Blue Gull", "captain", "Ada")]
    assert hidden(triples, "The Blue Gull.") == {}


def test_phrases_are_numbered_in_alphabetical_order_capitals_first() -> None:
    triples = [("oyster", "port", "x"), ("Zander", "port", "y"), ("Eel", "port", "z")]
    assert list(hidden(triples, "Eel, Zander, oyster").items()) == [
        ("Eel", "Entity 1"),
        ("Zander", "Entity 2"),
        ("oyster", "Entity 3"),
    ]


def test_an_entity_in_the_pattern_of_a_plain_triple_is_given_back_but_not_its_number() -> None:
    # Gull 2 has a digit and stays, and its port is Anholt too: the first two are given back.
    triples = [
        ("Auk", "port", "Anholt"),
        ("Gull_2", "port", "Anholt"),
        ("Skua", "cargo", "rye"),
    ]
    assert hidden(triples, "Auk and Skua") == {"Skua": "Entity 2"}
    # And as an object, beside another object of the same subject and predicate.
    triples = [
        ("Gull_2", "sister ship", "Auk"),
        ("Gull_2", "sister ship", "Tern"),
        ("Auk", "cargo", "rye"),
        ("Skua", "cargo", "salt"),
    ]
    assert hidden(triples, "Auk and Skua") == {"Skua": "Entity 2"}


def test_patterns_are_judged_before_anything_is_given_back() -> None:
    # Once Auk is back, Auk and Skua would lie in one port; but that was not to be seen before.
    triples = [
        ("Auk", "captain", "Ada"),
        ("Gull_2", "captain", "Ada"),
        ("Auk", "port", "Anholt"),
        ("Skua", "port", "Anholt"),
    ]
    assert hidden(triples, "Auk and Skua") == {"Skua": "Entity 2"}


def test_a_sample_that_got_everything_back_is_left_out() -> None:
    triples = [("Auk", "port", "Anholt"), ("Gull_2", "port", "Anholt")]
    assert hidden(triples, "Auk") == {}


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
    assert dict(hidden_of(first).phrases) == {
        "price range": "less than Value A",
        "customer rating": "Value B out of 5",
    }
    assert {AttributeValue("food", "Greek"), AttributeValue("area", "harbour")} < set(first.units)
    assert dict(hidden_of(last).phrases) == {"customer rating": "Value A out of 5"}
    assert values_of(last).keys() <= {"customer rating", "near"}


def test_what_is_hidden_is_shown_as_its_phrase() -> None:
    for row in rows():
        shown = values_of(row)
        assert hidden_of(row).phrases
        assert {what: shown[what] for what in POSSIBLE_VALUES if what in shown} == dict(
            hidden_of(row).phrases
        )
        assert row.references == ()


def test_names_and_neighbours_contain_no_value() -> None:
    assert {row.about("name") for row in rows()} == {"The Gull", "Auk"}
    assert {values_of(row).get("near") for row in rows()} == {"Tern", None}


def test_a_seed_gives_the_same_samples_again_and_another_the_same_choices() -> None:
    assert rows() == rows()
    others = hide_values(PLACES, random.Random(1))
    assert others != rows()
    assert [hidden_of(row).phrases for row in others] == [hidden_of(row).phrases for row in rows()]


def test_pairs_of_other_attributes_cannot_be_hidden() -> None:
    with pytest.raises(
        SplitError, match="lacks the attributes eat type, price range, customer rating"
    ):
        hide_values(
            [place("Auk", food="Greek", area="harbour", family_friendly="no", near="x")],
            random.Random(0),
        )


def test_values_that_no_metric_knows_are_not_hidden() -> None:
    with pytest.raises(SplitError, match="price range has the values free, outrageous"):
        hide_values(
            (*PLACES, place("X", price_range="outrageous"), place("Y", price_range="free")),
            random.Random(0),
        )


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
