"""What of an output is scored, and when more of it can change nothing."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spor_tasks.core.files import read_rows
from spor_tasks.text.answers import answer, answer_span, is_complete

TEXT = "The Gull is a pub."


@pytest.mark.parametrize(
    "output",
    [
        TEXT,
        f"\n{TEXT}",
        f" \n\n\r\n{TEXT}\nAnd more.",
        f"<think>\n\n</think>\n\n{TEXT}",
        f"\n<think>Two facts:\n- a pub\n- a name\n</think>\n{TEXT}\n",
        f"Two facts: a pub and a name.\n</think>\n\n{TEXT}",  # the prompt opened the block
        f"Here is the text:\n{TEXT}",
        f"Sure!\u00a0Here it is:\n\nText:\n{TEXT}\n\nAnything else?",
    ],
)
def test_the_answer_is_the_first_line_that_says_something(output: str) -> None:
    assert answer(output) == TEXT
    start, end = answer_span(output)
    assert output[start:end] == TEXT


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("", ""),
        (" \n ", ""),
        ("<think>\nA pub, and", ""),
        ("Its food:", "Its food:"),
        ("Its food:\n", "Its food:"),
        ("  spaces stay  \nMore", "  spaces stay  "),
        ("It is 5: good", "It is 5: good"),
    ],
)
def test_what_is_no_answer_is_none_and_the_rest_is_not_touched(output: str, expected: str) -> None:
    assert answer(output) == expected


PIECES = st.lists(st.sampled_from(["a", " ", "\n", ":", "<think>", "b\n", ":\n", "</think>"]))


@given(PIECES, PIECES)
@example(["a"], ["\n"])
@example(["a", ":\n"], ["b"])
def test_a_complete_answer_never_changes(before: list[str], after: list[str]) -> None:
    output, more = "".join(before), "".join(piece for piece in after if piece != "</think>")
    if is_complete(output) and "</think>" not in output[-8:] + more:
        assert answer(output + more) == answer(output) != ""


@given(PIECES)
def test_a_line_break_after_an_answer_completes_it(pieces: list[str]) -> None:
    output = "".join(pieces)
    said = answer(output).strip()
    if said and not said.endswith(":"):
        assert is_complete(output + "\n")


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
    assert [output for output in outputs if answer(output) != output] == []
