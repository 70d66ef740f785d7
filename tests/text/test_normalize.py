"""The published string conversions, and lemmas."""

from collections.abc import Callable

import pytest

from spor_tasks.text.lemmas import words
from spor_tasks.text.normalize import clean, display, words_of_identifier


@pytest.mark.parametrize(
    ("convert", "raw", "expected"),
    [
        (display, '"Tall, dark tower"', "Tall, dark tower"),
        (display, "back\\slash", "backslash"),
        (words_of_identifier, "birthPlace", "birth place"),
        (words_of_identifier, "LCCN_number", " l c c n_number"),
        (clean, "Grey_Harbour,_West", "grey harbour  west"),
        (clean, "St. Mary’s–East", "st  mary s east"),
        (clean, "(a)\n", "a"),
    ],
)
def test_a_string_is_converted(convert: Callable[[str], str], raw: str, expected: str) -> None:
    assert convert(raw) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("there were two cities", "there be two city"),
        ("he was born in 1950 and died in 1999", "he be bear in 1950 and die in 1999"),
        ("he saw the saw", "he see the saw"),
        ("1,000 å-b n't", "1,000 å-b n't"),
        ("", ""),
    ],
)
def test_a_form_becomes_its_noun_or_verb(sentence: str, expected: str) -> None:
    assert " ".join(word.lemma for word in words(sentence.split())) == expected


def test_comparatives_and_superlatives_are_tagged_and_stay() -> None:
    tags = {"more": "RBR", "highest": "JJS", "lower": "JJR", "least": "JJS"}
    tags |= dict.fromkeys(("number", "winner", "west", "high"), "")
    for word, tag in tags.items():
        assert [*words([word])] == [(word, word, tag)]
