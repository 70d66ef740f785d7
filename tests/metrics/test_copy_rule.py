"""The copy rule, on invented samples and on what the published evaluation says."""

import pytest

from spor_tasks.core.sample import AttributeValue, Hidden, Sample, Triple
from spor_tasks.metrics.copy_rule import COPY_RULE, Leak, verdicts
from tests.support.scores import scores_of

PORT = Sample(
    id="1",
    corpus="webnlg",
    units=(Triple("Entity 1", "harbour", "Old Basin"),),
    references=(),
    challenge=Hidden((("Greyport", "Entity 1"),)),
)
TWELVE = Sample(
    id="2",
    corpus="webnlg",
    units=(Triple("Entity 12", "harbour", "Old Basin"),),
    references=(),
    challenge=Hidden((("Low", "Entity 12"),)),
)
INN = Sample(
    id="3",
    corpus="e2e",
    units=(AttributeValue("customer rating", "Value A out of 5"),),
    references=(),
    context={"name": "The Gull"},
    challenge=Hidden((("customer rating", "Value A out of 5"),)),
)


def _cases(sample: Sample, output: str) -> tuple[tuple[bool, bool], tuple[bool, bool]]:
    """Return (a, b) as published, and with whole words."""
    published, whole_word = verdicts(sample, output)
    return published.case, whole_word.case


COPIED, OMITTED, LEAKED = (True, False), (False, False), (False, True)


def test_a_leak_is_located() -> None:
    published, whole_word = verdicts(PORT, "  At  GREYPORT lies Old Basin.")
    assert published.leaks == whole_word.leaks == (Leak("Greyport", 6),)
    assert published.missing == ("Entity 1",)


@pytest.mark.parametrize(
    ("sample", "output", "published", "whole_word"),
    [
        (PORT, "  ENTITY    1 has Old Basin.", COPIED, COPIED),
        (PORT, "Old Basin belongs to the 1st entity.", COPIED, COPIED),
        (PORT, "Old Basin belongs to (1).", COPIED, COPIED),
        (INN, "It is rated value a out of 5.", COPIED, COPIED),
        (INN, "It is rated A out of 5.", COPIED, COPIED),
        (INN, "Value A  out of 5", COPIED, COPIED),
        (PORT, "Old Basin is a harbour.", OMITTED, OMITTED),
        (PORT, "Entity1", OMITTED, OMITTED),
        (INN, "It is rated 3 out of 5.", LEAKED, LEAKED),
        (INN, "It is rated Value A out of 5, that is high.", (True, True), (True, True)),
        (INN, "A yellow inn rated Value A out of 5.", (True, True), COPIED),
        (PORT, "Entity 12 has Old Basin.", COPIED, OMITTED),
        (PORT, "Old Basin costs 2.1 a day.", OMITTED, OMITTED),
        (PORT, "Entity 1.5 has Old Basin.", COPIED, OMITTED),
        (TWELVE, "2 has Old Basin below.", (True, True), OMITTED),
        (TWELVE, "12 has Old Basin.", OMITTED, COPIED),
        (INN, "It is rated 11 out of 5.", LEAKED, OMITTED),
    ],
)
def test_substrings_count_as_published_and_whole_words_in_the_corrected_score(
    sample: Sample,
    output: str,
    published: tuple[bool, bool],
    whole_word: tuple[bool, bool],
) -> None:
    assert _cases(sample, output) == (published, whole_word)


def test_a_mere_letter_copies_no_phrase() -> None:
    bare = Sample(
        id="5",
        corpus="boats",
        units=(AttributeValue("hull", "Value A"),),
        references=(),
        challenge=Hidden((("hull", "Value A"),), (("hull", ("oak",)),)),
    )
    assert _cases(bare, "A boat has a hull.") == (OMITTED, OMITTED)
    assert _cases(bare, "The hull is of value A.") == (COPIED, COPIED)


def test_every_hidden_phrase_must_be_copied() -> None:
    both = Sample(
        id="4",
        corpus="webnlg",
        units=(Triple("Entity 1", "twin", "Entity 2"),),
        references=(),
        challenge=Hidden((("Greyport", "Entity 1"), ("Northhaven", "Entity 2"))),
    )
    assert verdicts(both, "Entity 2 is a twin.")[0].missing == ("Entity 1",)
    assert verdicts(both, "Entity 2 is the twin of Entity 1.")[0].missing == ()


def test_the_four_cases_add_up() -> None:
    outputs = ["Entity 1", "Greyport", "Entity 1 Greyport", "neither", "entity 12"]
    judgements = [COPY_RULE.judge_one(PORT, text) for text in outputs]
    scores = {score.name: score.value for score in scores_of(COPY_RULE, judgements)}
    assert scores == {
        "copy_rule_00": 20.0,
        "copy_rule_01": 20.0,
        "copy_rule": 40.0,
        "copy_rule_11": 20.0,
        "copy_rule_whole_word": 20.0,
    }
