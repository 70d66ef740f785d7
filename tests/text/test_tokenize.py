"""PARENT's tokens are those of NLTK's own classes.

NLTK's classes are put back to 3.9 where the one at hand is newer.
"""

import re
import string

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from nltk.tokenize.destructive import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktLanguageVars, PunktParameters, PunktSentenceTokenizer

from spor_tasks.text import tokenize


@pytest.mark.parametrize("piece", ["a.", ".", "? ", "'", '"', "a' ", "u.s. ", "``", ".) ", "\t"])
def test_a_text_that_repeats_itself_is_no_trap(piece):
    # Quadratic time would take minutes here, and the suite has a time limit.
    tokenize.tokens(piece * 30_000)


# Quotes that 3.10 adds to the patterns of 3.9, as the patterns write them.
NEW_QUOTES = re.compile(r"\\u[0-9a-f]{4}|\\x[0-9a-f]{2}")


class LanguageVars(PunktLanguageVars):
    re_boundary_realignment = re.compile(
        NEW_QUOTES.sub("", PunktLanguageVars.re_boundary_realignment.pattern), re.MULTILINE
    )

    @property
    def _re_non_word_chars(self):
        return NEW_QUOTES.sub("", super()._re_non_word_chars)


class WordTokenizer(NLTKWordTokenizer):
    STARTING_QUOTES = (
        *NLTKWordTokenizer.STARTING_QUOTES[:-1],
        (re.compile(r"(?i)'(?!re|ve|ll|[mtsdn])(?=\w\b)"), "' "),
    )
    PUNCTUATION = tuple(
        (pattern, replacement)
        for pattern, replacement in NLTKWordTokenizer.PUNCTUATION
        if "2012" not in pattern.pattern  # the dashes of 3.10
    )


PARAMETERS = PunktParameters()
PARAMETERS.abbrev_types = set(tokenize._ABBREVIATIONS)
SENTENCES = PunktSentenceTokenizer(PARAMETERS, lang_vars=LanguageVars())
WORDS = WordTokenizer()


def nltk_tokens(text):
    return tuple(
        token
        for sentence in SENTENCES.tokenize(text.lower())
        for token in WORDS.tokenize(sentence)
        if token not in string.punctuation
    )


PIECES = [
    *"ab1'.,:;!?\"`()[]{}<>*-–—%£$&@#_’‘“”«»„é٣\t\n",
    *([" "] * 15),
    *(". ", ", ", " .", "? ", "''", "``", "...", "--", "'s", "n't", "'ll", "'re", "'ve", "'m"),
    *("cannot", "gimme", "gonna", "gotta", "lemme", "wanna", "'tis", "'twas", "d'ye", "more'n"),
    *("u.s.", "inc.", "a-inc.", "b.", "k.", "e.g.", "5.", "3.5", "1,000", "B.", "Jr."),
]

# NLTK also ends a sentence right after the first character of words like `?!` or `.").`, where
# another end follows in the word. Ours ends it once; it shows only where quotes stand beside.
TWO_ENDS = re.compile(r"""(?<!\S)[.?!][)";}\]*:@'({\[?!]\S*[.?!]""")


@settings(max_examples=1000)
@given(st.lists(st.sampled_from(PIECES), max_size=16).map("".join) | st.text())
@example("The Mill, a Pub: cheap; (quiet) & near!")
@example("The U.S. army, Dr. No and Foo Inc. met.")
@example("'Tis more'n \"quiet\" d'ye know")
@example("New–Old Road — a road -- here")
@example("a ^_ b _^ c '' d")
@example("a ... b.. c. . . d")
@example("''a (\"b) \"c. 'tis'twas")
@example("b.( k.( 5.( 5. 3 b. 3")
def test_every_text_has_the_tokens_of_nltk(text):
    assume(not TWO_ENDS.search(text))
    assert tokenize.tokens(text) == nltk_tokens(text)
