"""Words are those of sacrebleu's tokenizer 13a."""

from hypothesis import example, given
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from spor_tasks.text.mteval import words

tokenizer = Tokenizer13a()  # type: ignore[no-untyped-call]
PARTS = [
    *"ab01 .,-'\"!#$%&()*+/:;<=>?@[\\]^_`{|}~é\t\n\u2028",
    *("&amp;", "&quot;", "&lt;", "<skipped>", "-\n", "3.5", "1,000", "..", "5-"),
]


@given(st.lists(st.sampled_from(PARTS), max_size=15).map("".join) | st.text(max_size=30))
@example("R&amp;B &amp;lt; 1.5, a.b-2- <skipped> end-\nless")
def test_they_are_those_of_sacrebleu(text: str) -> None:
    assert words(text) == tokenizer(text).split()


@given(st.lists(st.text(max_size=10), max_size=5))
def test_blanks_divide_words_whatever_is_beside_them(texts: list[str]) -> None:
    texts = [text.replace("-\n", "").replace("\n", "") for text in texts]
    assert words(" ".join(texts)) == [word for text in texts for word in words(text)]
