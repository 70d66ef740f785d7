"""The paper's prompt, to the character."""

from dataclasses import replace

import pytest

from spor_tasks.core.sample import AttributeValue, Sample, Triple
from spor_tasks.prompts.styles import PROMPT_STYLES, prompt

TRIPLES = Sample(
    id="1",
    corpus="webnlg",
    units=(
        Triple("Grey_Harbour", "leader", '"Ann \\"Old\\" Moss"'),
        Triple("Grey_Harbour", " l c c n_number", "12_000"),
    ),
    references=("unused",),
)
PAIRS = Sample(
    id="2",
    corpus="e2e",
    units=(AttributeValue("eat type", "pub"), AttributeValue("family friendly", "yes")),
    references=("unused",),
    context={"name": "The_Grey Duck"},
)
HEAD = "<head> Grey Harbour <relation> "
TO_TEXT = f"translate from Triple to Text: {HEAD}"
REQUEST = "Write a short English text that says all of these facts and nothing else."


@pytest.mark.parametrize(
    ("sample", "line", "facts"),
    [
        (
            TRIPLES,
            f"{TO_TEXT}leader <tail> Ann Old Moss {HEAD} l c c n number <tail> 12 000",
            ["Grey Harbour | leader | Ann Old Moss", "Grey Harbour | l c c n number | 12 000"],
        ),
        (
            PAIRS,
            "translate from MR to Text: name[The Grey Duck] eat type[pub] family friendly[yes]",
            ["name: The Grey Duck", "eat type: pub", "family friendly: yes"],
        ),
        (
            replace(PAIRS, context={}),
            "translate from MR to Text: eat type[pub] family friendly[yes]",
            ["eat type: pub", "family friendly: yes"],
        ),
    ],
)
def test_a_prompt_in_each_style(sample: Sample, line: str, facts: list[str]) -> None:
    assert prompt(sample, "seq2seq") == line
    assert prompt(sample, "causal") == f"{line} Output:"
    listed = "".join(f"- {fact}\n" for fact in facts)
    assert prompt(sample, "instruction") == f"{REQUEST}\n{listed}Text:"
    for style in PROMPT_STYLES:  # a corpus of one's own is worded by its kind of units
        assert prompt(replace(sample, corpus="own"), style) == prompt(sample, style)
