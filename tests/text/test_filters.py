"""What is cut from an output, and when more of it can change nothing."""

from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import read_rows
from spor_tasks.text import filters
from spor_tasks.text.filters import first_line, strip_preamble, strip_reasoning

TEXT = "The Gull is a pub."


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (TEXT, TEXT),
        (f"\n{TEXT}", TEXT),
        (f" \n\n\r\n{TEXT}\nAnd more.", TEXT),
        (f"Here it is:\n{TEXT}", "Here it is:"),
        ("<think>\nA pub, and", "<think>"),
        ("  spaces stay  \nMore", "  spaces stay  "),
        (" \n ", ""),
        ("", ""),
    ],
)
def test_the_first_line_is_the_first_that_is_not_blank(text: str, line: str) -> None:
    assert first_line(text) == line


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (TEXT, TEXT),
        (f"<think>\n\n</think>\n\n{TEXT}", f"\n\n{TEXT}"),
        (f"\n<think>A pub.\n</think>{TEXT}\nMore", f"{TEXT}\nMore"),
        (f"A pub.\n</think>\n{TEXT}", f"\n{TEXT}"),  # the prompt opened the block
        (f"<think>A</think>\n<think>B</think>{TEXT}", TEXT),
        ("<think>\nA pub, and", ""),
        ("\n <think>", ""),
        ("A pub <think>, and", "A pub <think>, and"),
        ("<think></think>", ""),
        ("", ""),
    ],
)
def test_a_block_of_reasoning_is_dropped(text: str, rest: str) -> None:
    assert strip_reasoning(text) == rest


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (TEXT, TEXT),
        (f"  {TEXT}\nMore:\n", f"  {TEXT}\nMore:\n"),
        (f"Here is the text:\n{TEXT}", TEXT),
        (f"Sure!\u00a0Here it is: \r\n\nText:\n {TEXT}\n\nAnything else?", None),
        ("Its food:", "Its food:"),
        ("Its food:\n", "Its food:\n"),
        ("Its food:\nIts area:\n \n", "Its area:\n \n"),
        ("It is 5: good", "It is 5: good"),
        (" \n ", " \n "),
        ("", ""),
    ],
)
def test_lines_that_announce_a_text_are_dropped(text: str, rest: str | None) -> None:
    assert strip_preamble(text) == (f" {TEXT}\n\nAnything else?" if rest is None else rest)


def test_a_filter_that_there_is_not_is_refused() -> None:
    with pytest.raises(ConfigError, match="first_lime") as caught:
        filters.apply(["first_lime"], TEXT)
    assert caught.value.remedy
    assert "first_line" in caught.value.remedy


PIECES = st.lists(
    st.sampled_from(["a", " ", "\n", "\r\n", ":", "<think>", "b\n", ":\n", "</thi", "nk>"])
).map("".join)
CHAINS = [chain for number in range(4) for chain in permutations(filters.FILTERS, number)]


@given(st.sampled_from(sorted(filters.FILTERS)), PIECES)
def test_what_a_filter_leaves_is_a_part_of_the_text(name: str, text: str) -> None:
    assert filters.FILTERS[name](text) in text


@given(st.sampled_from(CHAINS), PIECES, PIECES)
@example(("first_line",), "a", "\n")
@example(("strip_preamble", "first_line"), "a:\nb\n", "c")
@example(("strip_preamble", "first_line"), "a:\n", "b")
@example(filters.UNTUNED, "a\n", "</think>b")
def test_what_is_complete_never_changes(chain: Sequence[str], before: str, after: str) -> None:
    if filters.is_complete(chain, before):
        assert filters.apply(chain, before + after) == filters.apply(chain, before)


def test_nothing_is_complete_before_a_filter_that_is_not_ours() -> None:
    assert not filters.is_complete(["somebodys", "first_line"], "a\n")
    assert filters.is_complete(["first_line", "somebodys"], "a\n")


@given(PIECES)
def test_a_line_break_after_the_line_that_is_scored_completes_it(text: str) -> None:
    assert filters.is_complete(filters.DEFAULT, f"{text}\n") is bool(first_line(text))
    of_both = filters.apply(["strip_preamble", "first_line"], text).strip()
    if of_both and not of_both.endswith(":"):
        assert filters.is_complete(["strip_preamble", "first_line"], f"{text}\n")


def test_long_texts_are_filtered_at_once() -> None:
    for text in ("\n" * 500_000, "a:\n" * 300_000, "</think>" * 100_000):
        assert filters.apply(filters.UNTUNED, f"{text}{TEXT}") == TEXT


@pytest.mark.real_data
def test_the_outputs_of_tuned_models_stay_as_they_are(golden_dir: Path) -> None:
    """Every output of the golden files, of which the published evaluation scores the whole."""
    outputs = [
        value
        for file in sorted(golden_dir.glob("*.jsonl.gz"))
        for _, row in read_rows(file)
        for key, value in row.items()
        if key in {"output", "output_1", "output_2"}
    ]
    assert len(outputs) == 3162
    for chain in (filters.DEFAULT, filters.UNTUNED):
        assert [output for output in outputs if filters.apply(chain, output) != output] == []
