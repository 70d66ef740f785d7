"""Texts of ToTTo are detokenized as Moses' script does, and divided as sacrebleu's 13a."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from spor_tasks.metrics.parent_totto import prepared
from spor_tasks.text.detokenize import detokenize
from spor_tasks.text.mteval import words
from tests.support import golden

# What detokenizer.perl -l en prints, revision 4134.
PRINTED = {
    "It costs $ 5 ( 4 % ) , he said .": "It costs $5 (4%), he said.",
    'the dogs \' " barks "': 'the dogs\' "barks"',
    '" a " and " b "': '"a" and "b"',
    "won ( tko ) in round 2": "won (tko) in round 2",
    "( a  b": "(a b",
    "twelve @-@ year @-@ old": "twelve-year-old",
    "r&amp;b &quot;x&quot; &lt;b&gt; &apos;s": 'r&b "x" <b> \'s',
    "&#91;1&#93; &#124; &bar; &bra;x&ket;": "[1] | | [x]",
    "&foo; &apos": "&foo; &apos",
    "<null>": "<null>",
    "  ": "  ",
    "日本 語 の 文 。 ok 日": "日本語の文。 ok 日",
    "„ ja “ und ” nein „": "„ja“ und ” nein „",
    "€ 5 £$ 6 ₹ 7": "€5 £$6 ₹7",
    "é 's": "é 's",
    "a ' 'x 'Ⓐ": "a ''x'Ⓐ",
    "cell|||a\tcell|||'s b": "cell|||a\tcell|||'s b",
    "... and ...": "... and...",
    "s '": "s'",
}


@pytest.mark.parametrize("line", PRINTED)
def test_a_line_is_what_the_script_prints(line):
    assert detokenize(line) == PRINTED[line]


def test_the_published_predictions_are_prepared_as_published(golden_dir):
    for row in golden.read(golden_dir / "totto", "predictions", rows=1400):
        assert prepared(row["prediction"].strip() or "<null>") == row["detokenised_lower"]


@given(st.text(st.characters(exclude_characters="&\n")))
def test_only_blanks_change_without_entities(line):
    text = line.replace(" @-@ ", "")
    assert detokenize(text).replace(" ", "") == text.replace(" ", "")


tokenizer = Tokenizer13a()
PARTS = [
    *"ab01 .,-'\"!#$%&()*+/:;<=>?@[\\]^_`{|}~é\t\n\u2028",
    *("&amp;", "&quot;", "&lt;", "<skipped>", "-\n", "3.5", "1,000", "..", "5-"),
]


@given(st.lists(st.sampled_from(PARTS), max_size=15).map("".join) | st.text(max_size=30))
@example("R&amp;B &amp;lt; 1.5, a.b-2- <skipped> end-\nless")
def test_words_are_those_of_sacrebleu(text):
    assert words(text) == tokenizer(text).split()
