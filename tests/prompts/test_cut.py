"""A prompt that is too long loses the end of its table, and nothing else."""

from typing import Any

import pytest
import transformers
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.prompts.cut import without_end_of_table
from tests.support.tiny_bases import make_tokenizer

BEFORE = ("</table>", "\n\nHighlighted cells:")
TOKENIZERS = {
    kind: make_tokenizer(kind, merges=[("l", "l"), ("c", "e"), ("ce", "ll")])
    for kind in ("gpt2", "llama", "t5")
}


def shortened(prompt: str, most: int, kind: str = "t5") -> tuple[str, int]:
    tokenizer: Any = TOKENIZERS[kind]

    def count(text: str) -> int:
        return len(tokenizer(text)["input_ids"])

    found = without_end_of_table(prompt, BEFORE, most, count, tokenizer)
    return found, count(found)


@given(
    st.text("<cel é\n", max_size=60),
    st.sampled_from(["</table>", "</table> Output:", "\n\nHighlighted cells:\n- a\nSentence:"]),
    st.integers(1, 120),
    st.sampled_from(sorted(TOKENIZERS)),
)
def test_the_beginning_and_the_end_are_kept(table: str, end: str, most: int, kind: str) -> None:
    prompt = table + end
    found, length = shortened(prompt, most, kind)
    _, before = shortened(prompt, 10_000, kind)
    assert found.endswith(end)
    assert prompt.startswith(found.removesuffix(end))
    if before <= most:
        assert found == prompt
    elif found != prompt:
        assert length <= most


def test_as_much_as_fits_is_kept() -> None:
    prompt = "<cell> 123456 </cell> </table>"
    assert shortened(prompt, 10_000)[1] == 25
    assert shortened(prompt, 24) == ("<cell> 123456 </cell></table>", 24)
    assert shortened(prompt, 12) == ("<cell></table>", 12)
    _, length_of_end = shortened("</table>", 10_000)
    assert shortened("<</table>", length_of_end)[0] == "<</table>"  # never the whole table


@pytest.mark.parametrize(
    "prompt", ["a prompt without a table that is long", "t</table> and a long end that has no room"]
)
def test_a_prompt_that_cannot_be_cut_there_is_left_to_the_host(prompt: str) -> None:
    assert shortened(prompt, 8)[0] == prompt


def test_a_tokenizer_that_does_not_say_where_its_tokens_are_leaves_it_to_the_host() -> None:
    class Slow(transformers.PreTrainedTokenizerFast):  # type: ignore[misc]
        is_fast = False

    assert without_end_of_table("abc</table>", BEFORE, 2, len, Slow) == "abc</table>"
