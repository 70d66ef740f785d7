"""The published string conversions."""

import pytest

from spor_tasks.text.normalize import clean, display, words_of_identifier


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("Grey_Harbour", "Grey Harbour"),
        ('"Tall, dark tower"', "Tall, dark tower"),
        ("back\\slash", "backslash"),
        ("", ""),
    ],
)
def test_display_form(raw: str, shown: str) -> None:
    assert display(raw) == shown


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ("birthPlace", "birth place"),
        ("eatType", "eat type"),
        ("LCCN_number", " l c c n_number"),
        ("leader", "leader"),
        ("ÉtatMajor", " état major"),
        ("", ""),
    ],
)
def test_identifiers_in_words(identifier: str, words: str) -> None:
    assert words_of_identifier(identifier) == words


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("Grey_Harbour,_West", "grey harbour  west"),
        ('"25"', "25"),
        ("St. Mary’s–East", "st  mary s east"),
        ("£20-25", "£20 25"),
        ("(a)\n", "a"),
        ("…", "…"),
    ],
)
def test_cleaned_for_alignment(raw: str, cleaned: str) -> None:
    assert clean(raw) == cleaned
