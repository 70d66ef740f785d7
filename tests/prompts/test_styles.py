"""The paper's prompt to the character, and prompts that lose the end of a table."""

from dataclasses import replace

import pytest
import transformers
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.sample import AttributeValue, Sample, Triple
from spor_tasks.prompts.cut import without_end_of_table
from spor_tasks.prompts.styles import PROMPT_STYLES, prompt
from tests.support.tiny_bases import make_tokenizer

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
def test_a_prompt_in_each_style(sample, line, facts):
    assert prompt(sample, "seq2seq") == line
    assert prompt(sample, "causal") == f"{line} Output:"
    assert prompt(sample, "instruction") == f"{REQUEST}\n{facts}Text:"
    for style in PROMPT_STYLES:  # a corpus of one's own is worded by its kind of units
        assert prompt(replace(sample, corpus="own"), style) == prompt(sample, style)


BEFORE = ("</table>", "\n\nHighlighted cells:")
TOKENIZERS = {
    kind: make_tokenizer(kind, merges=[("l", "l"), ("c", "e"), ("ce", "ll")])
    for kind in ("gpt2", "llama", "t5")
}


def shortened(prompt, most, kind="t5"):
    tokenizer = TOKENIZERS[kind]

    def count(text):
        return len(tokenizer(text)["input_ids"])

    found = without_end_of_table(prompt, BEFORE, most, count, tokenizer)
    return found, count(found)


@given(
    st.text("<cel é\n", max_size=60),
    st.sampled_from(["</table>", "</table> Output:", "\n\nHighlighted cells:\n- a\nSentence:"]),
    st.integers(1, 120),
    st.sampled_from(sorted(TOKENIZERS)),
)
def test_the_beginning_and_the_end_are_kept(table, end, most, kind):
    prompt = table + end
    found, length = shortened(prompt, most, kind)
    _, before = shortened(prompt, 10_000, kind)
    assert found.endswith(end)
    assert prompt.startswith(found.removesuffix(end))
    if before <= most:
        assert found == prompt
    elif found != prompt:
        assert length <= most


def test_as_much_as_fits_is_kept():
    prompt = "<cell> 123456 </cell> </table>"
    assert shortened(prompt, 10_000)[1] == 25
    assert shortened(prompt, 24) == ("<cell> 123456 </cell></table>", 24)
    assert shortened(prompt, 12) == ("<cell></table>", 12)
    _, length_of_end = shortened("</table>", 10_000)
    assert shortened("<</table>", length_of_end)[0] == "<</table>"  # never the whole table


def test_a_prompt_that_cannot_be_cut_there_is_left_to_the_host():
    for text in (
        "a prompt without a table that is long",
        "t</table> and a long end that has no room",
    ):
        assert shortened(text, 8)[0] == text

    class Slow(transformers.PreTrainedTokenizerFast):
        is_fast = False  # so that it does not say where its tokens are

    assert without_end_of_table("abc</table>", BEFORE, 2, len, Slow) == "abc</table>"
