"""Each requirement of rule learnability, broken one at a time."""

from dataclasses import replace

import pytest

from spor_tasks.aspects import check
from spor_tasks.core.sample import (
    AttributeValue,
    Hidden,
    Sample,
    SampleMaker,
    Split,
    SplitPair,
    Triple,
    hidden_of,
)

make = SampleMaker("ships")
SHIP = replace(
    make([Triple("Entity 1", "captain", "Entity 2"), Triple("Entity 1", "home port", "Holm")], ()),
    challenge=Hidden((("Grey Gull", "Entity 1"), ("Ada Lund", "Entity 2"))),
)
CAFE = replace(
    make(
        [AttributeValue("price range", "more than Value A"), AttributeValue("near", "The Pier")],
        (),
        name="Tern",
    ),
    challenge=Hidden((("price range", "more than Value A"),)),
)
WITHOUT = "1 test samples do not show a phrase for everything that they hide"
TELLING = "1 test samples reveal something that they hide"


def checked(*test: Sample) -> check.RuleLearnability:
    arms = (Split("original", ()),)
    report = check.check(
        SplitPair("rule_learnability", "ships", "strict", arms, Split("test", test))
    )
    assert isinstance(report, check.RuleLearnability)
    return report


def test_samples_that_are_what_they_should_be_have_no_violations() -> None:
    assert checked(SHIP, CAFE) == check.RuleLearnability(
        hidden=3, samples_without_phrase=0, samples_that_tell=0, violations=()
    )


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        (replace(SHIP, challenge=Hidden((*hidden_of(SHIP).phrases, ("Rye", "Entity 3")))), WITHOUT),
        (
            replace(SHIP, challenge=Hidden((("Grey Gull", "Entity 1"), ("Ada Lund", "Entity 1")))),
            WITHOUT,
        ),
        (replace(SHIP, challenge=Hidden(())), WITHOUT),
        (make(SHIP.units, ["A text."]), WITHOUT),
        (replace(CAFE, challenge=Hidden((("near", "more than Value A"),))), WITHOUT),
        (replace(SHIP, units=(*SHIP.units, Triple("The_grey_gull", "crew", "4"))), TELLING),
        (replace(SHIP, units=(*SHIP.units, Triple("Holm", "mayor", "ADA_LUND"))), TELLING),
        (replace(CAFE, context={"name": "The Cheap Tern"}), TELLING),
        (replace(CAFE, units=(CAFE.units[0], AttributeValue("near", "High Street"))), TELLING),
    ],
)
def test_each_violation_is_said_with_its_sample(sample: Sample, words: str) -> None:
    (violation,) = checked(SHIP, CAFE, replace(sample, id="other")).violations
    assert violation == check.Violation(words, {"test": ("other",)})


def test_the_predicate_of_a_triple_may_say_anything() -> None:
    units = (*SHIP.units, Triple("Holm", "ada lund", "4"))
    assert checked(replace(SHIP, units=units)).holds
