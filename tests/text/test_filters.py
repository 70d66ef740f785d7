"""Filters cut an output, and are complete when more of it changes nothing."""

from itertools import permutations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import read_rows
from spor_tasks.text import filters
from spor_tasks.text.filters import END, first_line, strip_preamble, strip_reasoning

TEXT = "The Gull is a pub."


@pytest.mark.parametrize(
    ("cut", "text", "rest"),
    [
        (first_line, f" \n\n\r\n{TEXT}\nAnd more.", TEXT),
        (first_line, f"Here it is:\n{TEXT}", "Here it is:"),
        (first_line, "<think>\nA pub, and", "<think>"),
        (first_line, "  spaces stay  \nMore", "  spaces stay  "),
        (first_line, " \n ", ""),
        (strip_reasoning, f"<think>\n\n</think>\n\n{TEXT}", f"\n\n{TEXT}"),
        (strip_reasoning, f"\n<think>A pub.\n</think>{TEXT}\nMore", f"{TEXT}\nMore"),
        (strip_reasoning, f"A pub.\n</think>\n{TEXT}", f"\n{TEXT}"),  # the prompt opened the block
        (strip_reasoning, f"<think>A</think>\n<think>B</think>{TEXT}", TEXT),
        (strip_reasoning, "<think>\nA pub, and", ""),
        (strip_reasoning, "\n <think>", ""),
        (strip_reasoning, "A pub <think>, and", "A pub <think>, and"),
        (strip_preamble, f"  {TEXT}\nMore:\n", f"  {TEXT}\nMore:\n"),
        (strip_preamble, f"Here is the text:\n{TEXT}", TEXT),
        (strip_preamble, f"Sure!\u00a0Here: \r\n\nText:\n {TEXT}\n\nMore?", f" {TEXT}\n\nMore?"),
        (strip_preamble, "Its food:", "Its food:"),
        (strip_preamble, "Its food:\n", "Its food:\n"),
        (strip_preamble, "Its food:\nIts area:\n \n", "Its area:\n \n"),
        (strip_preamble, "It is 5: good", "It is 5: good"),
        (filters.logicnlg_published, f"[ENT] is [SEP] {TEXT}{END} More{END}", TEXT),
        (filters.logicnlg_published, f"[SEP]{TEXT}{END}", TEXT),
        (filters.logicnlg_published, f"[SEP] 3 , it 's n't so .{END}", "3, it'sn't so."),
        (filters.logicnlg_published, f"[ENT][SEP]. I do not{END}", "I don't"),
        (filters.logicnlg_published, f"a[ENT]b{END}", "T] b"),
        (filters.logicnlg_published, f"{TEXT}{END}", TEXT[5:]),
        (filters.logicnlg_published, f"[SEP] {TEXT}", TEXT[:-1]),
    ],
)
def test_a_filter_cuts(cut, text, rest):
    assert cut(text) == rest


@pytest.mark.parametrize(
    "form",
    [
        "{}",
        "Text: {}",
        "**Text:** {}",
        "Output: {}",
        "Here is the text: {}",
        "Sure! Here's a sentence: {}",
        "Sure, here is the description:\n\n{}",
        "Certainly!\n{}",
        "```\n{}\n```",
        "```text\n{}\n```",
        "# Description\n\n{}",
        "**Answer:**\n{}",
        "<answer>{}</answer>",
        "<answer>\n{}\n</answer>",
        '"{}"',
        "“{}”",
        "**{}**",
        "- {}",
        "1. {}",
        "---\n{}",
        "[THINK]A pub.\nIt is:[/THINK]{}",
        "<thinking>\nHm.\n</thinking>\n\n{}",
        "<|channel|>analysis<|message|>Hm.<|channel|>final<|message|>{}",
        '<think>Hm.</think>\n\nSure!\n\n**Text:** "{}"\n\nIs this what you need?',
    ],
)
@pytest.mark.parametrize("text", [TEXT, "The Gull is a pub: good, and 2 * 3 m from the sea"])
def test_a_text_in_context_is_found_in_each_form(form, text):
    assert filters.apply(filters.UNTUNED, form.format(text)) == text


def test_an_unknown_filter_is_refused_and_ends_completeness():
    with pytest.raises(ConfigError, match="first_lime") as error:
        filters.apply(["first_lime"], TEXT)
    assert "first_line" in str(error.value.remedy)
    assert not filters.is_complete(["somebodys", "first_line"], "a\n")
    assert filters.is_complete(["first_line", "somebodys"], "a\n")


PIECES = st.lists(
    st.sampled_from(["a", " ", "\n", "\r\n", ":", "<think>", "b\n", ":\n", "</thi", "nk>"])
).map("".join)
CHAINS = [chain for number in range(4) for chain in permutations(filters.FILTERS, number)]


@given(st.sampled_from(sorted(filters.FILTERS)), PIECES)
def test_a_filter_leaves_a_part_of_the_text(name, text):
    assert filters.FILTERS[name].cut(text) in text


@given(st.sampled_from(CHAINS), PIECES, PIECES)
@example(("first_line",), "a", "\n")
@example(("strip_preamble", "first_line"), "a:\nb\n", "c")
@example(("strip_preamble", "first_line"), "a:\n", "b")
@example(filters.UNTUNED, "a\n", "</think>b")
def test_a_complete_text_never_changes(chain, before, after):
    if filters.is_complete(chain, before):
        assert filters.apply(chain, before + after) == filters.apply(chain, before)


@given(PIECES)
def test_a_line_break_after_the_line_that_is_scored_completes_it(text):
    assert filters.is_complete(filters.DEFAULT, f"{text}\n") is bool(first_line(text))
    chain = ["strip_preamble", "first_line"]
    stays = filters.apply(chain, f"{text}\nz") == filters.apply(chain, f"{text}\n")
    assert filters.is_complete(chain, f"{text}\n") == stays


ONCE = ["\n", "a:\n", "</think>"]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("piece", [*ONCE, "- ", "1. ", "Text: ", '"', "**", ": ", "Sure! "])
def test_long_texts_that_repeat_what_stands_around_are_filtered_at_once(piece):
    found = filters.apply(filters.UNTUNED, f"{piece * 300_000}{TEXT}")
    assert found == TEXT if piece in ONCE else found.endswith(TEXT)


def test_the_outputs_of_tuned_models_stay_as_they_are(golden_dir):
    """The published evaluation scores the whole of these outputs."""
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
