"""Lemmas and tags of the words of sentences about tables."""

import pytest

from spor_tasks.text.lemmas import words


def lemmas(sentence: str) -> str:
    return " ".join(word.lemma for word in words(sentence.split()))


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("the flyers won 3 games", "the flyer win 3 game"),
        ("there were two cities", "there be two city"),
        ("he was born in 1950 and died in 1999", "he be bear in 1950 and die in 1999"),
        ("its points", "its point"),
        ("the building was built", "the building be build"),
        ("fairman drove a car", "fairman drive a car"),
        ("as of the united states", "as of the united state"),
        ("xyzzies of qwertz", "xyzzies of qwertz"),
        ("1,000 å-b n't", "1,000 å-b n't"),
        ("", ""),
    ],
)
def test_a_form_becomes_the_noun_or_the_verb_that_it_is_of(sentence: str, expected: str) -> None:
    assert lemmas(sentence) == expected


@pytest.mark.parametrize(
    ("word", "tag"),
    [
        ("more", "RBR"),
        ("highest", "JJS"),
        ("lower", "JJR"),
        ("least", "JJS"),
        ("number", ""),
        ("winner", ""),
        ("west", ""),
        ("high", ""),
    ],
)
def test_comparatives_and_superlatives_are_tagged_and_stay(word: str, tag: str) -> None:
    (found,) = words([word])
    assert found.tag == tag
    assert found.lemma == word
