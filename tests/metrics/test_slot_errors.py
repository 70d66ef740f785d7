"""Slot errors, of invented texts and of the corpora's own."""

import pytest

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import AttributeValue, Sample
from spor_tasks.corpora.e2e import E2E
from spor_tasks.corpora.viggo import VIGGO
from spor_tasks.metrics.slot_errors import SLOT_ERRORS


def sample(**values):
    """Return a sample about The Gull, of ViGGO if it has genres."""
    units = [AttributeValue(name.replace("_", " "), value) for name, value in values.items()]
    corpus = "viggo" if "genres" in values else "e2e"
    return Sample("7", corpus, tuple(units), (), {"name": "The Gull"})


PUB = sample(food="Basque", area="riverside", family_friendly="yes")
GAME = sample(genres="action, puzzle", platforms="PC, Xbox", linux="no", mac="yes")


@pytest.mark.parametrize(
    ("asked", "text", "errors"),
    [
        (PUB, "Gull has Basque food by the river. Kids are welcome.", ""),
        (PUB, "", "-name -family friendly -food -area"),
        (PUB, "The Gull, Basque, riverside, is not for families.", "family friendly: yes no"),
        (PUB, "The Gull: by the river, French, child-friendly.", "food: Basque French"),
        (PUB, "The Gull: Basque, riverside, a family friendly pub.", "+eat type"),
        # A loose way expresses a value, and is no evidence of an addition.
        (PUB, "The Gull: Basque pizza, riverside, family friendly.", ""),
        (sample(food="Italian"), "The Gull has pizza.", ""),
        # What names a place says nothing about food, nor prices about ratings.
        (sample(near="Raja Indian Cuisine"), "The Gull is near Raja Indian Cuisine.", ""),
        (sample(customer_rating="high"), "The Gull has high prices.", "-customer rating"),
        (
            sample(price_range="moderate"),
            "The price range of the Gull is moderate with a customer rating of low.",
            "+customer rating",
        ),
        (sample(price_range="less than £20"), "The Gull charges under £ 20.", ""),
        (GAME, "The Gull is an action puzzler for PC and Xbox, and on Mac, but not Linux.", ""),
        (GAME, "The Gull: action puzzles. PC, Xbox; no Mac or Linux release.", "mac: yes no"),
        (
            GAME,
            "The Gull, a puzzle from 2014, is on PC. No Linux, but a Mac release.",
            "-genres -platforms +release year",
        ),
    ],
)
def test_what_a_text_lacks_exchanges_and_adds_is_found(asked, text, errors):
    _, details = SLOT_ERRORS.judge_one(asked, text)
    found = [f"-{name}" for name, _ in details["slots_missing"]]
    found += [f"{name}: {value} {other}" for name, value, other in details["slots_wrong"]]
    found += [f"+{name}" for name, _ in details["slots_added"]]
    assert " ".join(found) == errors


RATINGS = ("1 out of 5", "3 out of 5", "5 out of 5", "low", "average", "high")
PRICES = ("less than £20", "£20-25", "more than £30", "cheap", "moderate", "high")
FOODS = ("Chinese", "English", "Fast food", "French", "Indian", "Italian", "Japanese")
GENRES = ("action", "adventure", "arcade", "indie", "puzzle", "real-time strategy", "strategy")
VERBATIM = (
    *(("customer rating", value, f"has a customer rating of {value}") for value in RATINGS),
    *(("customer rating", value, f"has a {value} customer rating") for value in RATINGS),
    *(("customer rating", value, f"is good. Customer rating: {value}") for value in RATINGS),
    *(("price range", value, f"has a {value} price range") for value in PRICES),
    *(("price range", value, f"has a price range of {value}") for value in PRICES),
    *(("food", value, f"serves {value}") for value in FOODS),
    ("near", "Ranch", "is near Ranch"),
    ("near", "Crowne Plaza Hotel", "is near the Crowne Plaza Hotel"),
    ("area", "city centre", "is in the city centre"),
    ("family friendly", "no", "is not family friendly"),
    ("family friendly", "yes", "is family friendly"),
    *(("genres", value, f"is a game of the {value} genre") for value in GENRES),
    ("rating", "average", "has an average rating"),
    ("mac", "no", "has no Mac release"),
    ("steam", "no", "is not available on Steam"),
)


@pytest.mark.parametrize(("attribute", "value", "said"), VERBATIM)
def test_a_value_that_is_added_word_for_word_is_found(attribute, value, said):
    is_pub = attribute in E2E.attributes.values()
    asked = sample(eat_type="pub") if is_pub else sample(genres="pinball")
    _, details = SLOT_ERRORS.judge_one(
        asked, f"The Gull, a {'pub' if is_pub else 'pinball'}, {said}."
    )
    assert details["slots_added"] == [[attribute, value]]
    assert details["slots_missing"] == []


@pytest.mark.parametrize(
    ("corpus", "names", "values"),
    [
        ("e2e", ("eatType", "familyFriendly", "priceRange"), ("pub", "True", "cheap")),
        ("e2e", ("eat_type", "Family Friendly", "PRICE_RANGE"), ("pub", "Yes", "cheap")),
        ("e2e", ("EatType", "family-friendly", "pricerange"), ("pub", "yes", "Cheap")),
        ("viggo", ("has_multiplayer", "hasLinuxRelease", "Genres"), ("true", "False", "Puzzle")),
        ("viggo", ("has multiplayer", "linux", "genres"), ("yes", "no", "puzzle")),
    ],
)
def test_names_match_by_their_words(corpus, names, values):
    units = tuple(map(AttributeValue, names, values))
    text = {"e2e": "a cheap, family friendly pub", "viggo": "a multiplayer puzzle, not on Linux"}
    asked = Sample("7", corpus, units, (), {"name": "The Gull"})
    _, details = SLOT_ERRORS.judge_one(asked, f"The Gull is {text[corpus]}.")
    assert details["slot_errors"] == 0


@pytest.mark.parametrize(
    ("corpus", "name", "nearest"),
    [("e2e", "familyFrendly", "family friendly"), ("viggo", "has_multiplayr", "multiplayer")],
)
def test_an_attribute_that_the_corpus_does_not_have_is_refused_with_the_nearest(
    corpus, name, nearest
):
    asked = Sample("7", corpus, (AttributeValue(name, "yes"),), (), {})
    with pytest.raises(CorpusError) as caught:
        SLOT_ERRORS.judge_one(asked, "A text.")
    assert name in caught.value.what
    assert nearest in caught.value.remedy.partition("Use one of")[0]


def test_errors_are_counted_over_all_values():
    values, details = SLOT_ERRORS.judge_one(GAME, "The Gull is a puzzle for PC.")
    assert values == {"slot_errors": (400, 7)}
    assert details["slot_errors"] == pytest.approx(57.14, abs=0.01)


@pytest.mark.usefixtures("data_dir", "viggo_dir")
@pytest.mark.parametrize(
    ("corpus", "parts", "least"),
    [
        (E2E, ("test",), 0.988),
        (E2E, ("train",), 0.985),  # 38 call a place "fast-food" whose data has no food
        (VIGGO, ("train", "test"), 0.983),
    ],
)
def test_few_references_have_errors(corpus, parts, least):
    judged = [
        SLOT_ERRORS.judge_one(sample, text).details["slot_errors"]
        for part in parts
        for sample in corpus.part(part)
        for text in sample.references
    ]
    assert judged.count(0) / len(judged) >= least
