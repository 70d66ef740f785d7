"""Why a sample has no twin: each reason with a sentence that shows it."""

from dataclasses import replace

import pytest

from spor_tasks.aspects import order_invariance
from spor_tasks.core.sample import Contrast, Orders, Sample, SampleMaker, Triple
from spor_tasks.corpora.webnlg.kinds import KINDS
from spor_tasks.twins import Twins, Untwinned, mapping, texts
from spor_tasks.twins.lexicon import lexicon

LED = Triple("Velmor", "leader", "Anna_Bell")
SINCE = Triple("Velmor", "foundation", "1907")
# The texts of the corpus know `bell`, `north` and a few more as ordinary words.
ORDINARY = "It has a bell of bronze in the north, and is led by music. The city, its leader: 3."
make = SampleMaker("webnlg")


def sample(text: str, *units: Triple) -> Sample:
    return make(units, [text], category="City")


CORPUS = [
    *[sample(ORDINARY, LED, SINCE)] * 3,
    sample("It is in the North Sea.", Triple("Velmor", "location", "North_Sea")),
    sample("It has rock music.", Triple("Velmor", "genre", "Rock_music")),
    sample("It is American.", Triple("Velmor", "country", "United_States")),
]
TWINS = Twins(lexicon(CORPUS, KINDS, "reasons"))


def exchanged(text: str, *units: Triple) -> str:
    found = TWINS.twin(sample(text, *units))
    return found.reason if isinstance(found, Untwinned) else found.references[0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("Velmor in Brask is led by Anna Bell.", texts.OTHER_NAME, id="a name"),
        pytest.param("Velmor is led by A. Bell.", texts.OTHER_NAME, id="an initial"),
        pytest.param("Velmor is led by Anna Bell, 52.", texts.OTHER_NUMBER, id="a number"),
        pytest.param("Of sixty five, Anna Bell led Velmor.", texts.OTHER_NUMBER, id="two words"),
        pytest.param("The Velmorian leader is Anna Bell.", texts.OTHER_FORM, id="derived"),
        pytest.param("The leader of Velnor is Anna Bell.", texts.OTHER_FORM, id="misspelt"),
        pytest.param("Bell is the leader of Velmor.", texts.TWO_THINGS, id="begins a sentence"),
    ],
)
def test_what_may_be_a_mention_leaves_a_sample_out(text: str, reason: str) -> None:
    assert exchanged(text, LED) == reason


@pytest.mark.parametrize(
    "text",
    [
        "In the north, {0} is led by {1} {2}.",
        "The leader of {0}, which has a bell, is {1} {2}.",
        "The leader of {0} is {2}.",
        "{1} {2} leads {0}'s music.",
    ],
)
def test_a_certain_mention_is_exchanged_and_ordinary_words_stay(text: str) -> None:
    of = TWINS.lexicon.words
    invented = [of[key].capitalize() for key in ("velmor", "anna", "bell")]
    assert exchanged(text.format("Velmor", "Anna", "Bell"), LED) == text.format(*invented)


def test_a_word_that_stays_in_one_name_and_not_in_another_stands_for_two_things() -> None:
    led, by = Triple("Velmor", "leader", "Ada_North"), Triple("Velmor", "location", "North_Velmor")
    twins = Twins(lexicon([*CORPUS, sample("It is.", led, by)], KINDS, "reasons"))
    both = sample("The leader is Ada North, of North Velmor.", led, by)
    assert twins.twin(both) == Untwinned(texts.TWO_THINGS)
    assert isinstance(twins.twin(sample("The leader is Ada North.", led)), Sample)


def test_what_units_alone_decide() -> None:
    sea, music = CORPUS[3], CORPUS[4].units[0]
    assert TWINS.twin(sea) == Untwinned(texts.ORDINARY_NAME)
    assert exchanged("Music.", Triple("Rock_music", *music[1:])) == mapping.NOTHING
    assert exchanged("Brask is led by Anna Bell.", LED._replace(subject="Brask")) == mapping.UNKNOWN


def test_a_false_text_would_have_to_be_exchanged_too() -> None:
    false = replace(CORPUS[0], challenge=Contrast((LED,), "The leader of Velmor is Anna."))
    assert TWINS.twin(false) == Untwinned(mapping.OTHER_CHALLENGE)


def test_the_order_that_a_text_shows_is_the_same_in_the_twin() -> None:
    at = Triple("Velmor", "country", "United_States")
    for text, found in (
        ("The leader of Velmor in the United States is Anna Bell.", Sample),
        ("The leader of Velmor in the USA is Anna Bell.", Untwinned),  # known to the alignment
    ):
        plain = sample(text, LED, at)
        told = order_invariance.reference_orders(plain)
        assert told is not None
        twin = TWINS.twin(replace(plain, challenge=Orders(((0, 1), (1, 0)), told)))
        assert isinstance(twin, found)
        assert isinstance(twin, Sample) or twin.reason == mapping.OTHER_ORDER
        assert isinstance(TWINS.twin(plain), Sample)
