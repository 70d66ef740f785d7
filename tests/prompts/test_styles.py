"""The paper's prompt, to the character; those of all sets are in tests/golden and tests/data."""

from dataclasses import replace

import pytest

from spor_tasks.core.sample import AttributeValue, Sample, Triple
from spor_tasks.prompts.styles import PROMPT_STYLES, prompt

UNITS = (Triple("Grey_Harbour", " l c c n_number", '"a \\"b\\" c"'),)
PAIRS = (AttributeValue("eat type", "pub"), AttributeValue("family friendly", "yes"))
REQUEST = "Write a short English text that says all of these facts and nothing else."
TRIPLE = "<head> Grey Harbour <relation>  l c c n number <tail> a b c"


@pytest.mark.parametrize(
    ("sample", "line", "facts"),
    [
        (
            Sample("1", "webnlg", UNITS, ("unused",)),
            f"translate from Triple to Text: {TRIPLE}",
            "- Grey Harbour | l c c n number | a b c\n",
        ),
        (
            Sample("2", "e2e", PAIRS, ("unused",), {"name": "The_Grey Duck"}),
            "translate from MR to Text: name[The Grey Duck] eat type[pub] family friendly[yes]",
            "- name: The Grey Duck\n- eat type: pub\n- family friendly: yes\n",
        ),
    ],
)
def test_a_prompt_in_each_style(sample: Sample, line: str, facts: str) -> None:
    assert prompt(sample, "seq2seq") == line
    assert prompt(sample, "causal") == f"{line} Output:"
    assert prompt(sample, "instruction") == f"{REQUEST}\n{facts}Text:"
    for style in PROMPT_STYLES:  # a corpus of one's own is worded by its kind of units
        assert prompt(replace(sample, corpus="own"), style) == prompt(sample, style)
