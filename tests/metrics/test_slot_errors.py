"""Slot errors, of invented texts and of the corpora's own."""

import pytest

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


def test_errors_are_counted_over_all_values():
    values, details = SLOT_ERRORS.judge_one(GAME, "The Gull is a puzzle for PC.")
    assert values == {"slot_errors": (400, 7)}
    assert details["slot_errors"] == pytest.approx(57.14, abs=0.01)


@pytest.mark.usefixtures("data_dir", "viggo_dir")
@pytest.mark.parametrize(("corpus", "least"), [(E2E, 0.989), (VIGGO, 0.983)])
def test_few_references_have_errors(corpus, least):
    judged = [
        SLOT_ERRORS.judge_one(sample, text).details["slot_errors"]
        for sample in (*corpus.part("train"), *corpus.part("test"))
        for text in sample.references
    ]
    assert judged.count(0) / len(judged) >= least
