"""TER has sacrebleu's edits, whatever is moved, and where its band leaves the shortest way out."""

import random

import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.metrics.ter import Ter

WORDS = st.lists(st.sampled_from("abcde"), max_size=12)


def counts(scorer, output, references):
    """Return the edits, and the words of a reference."""
    texts = [[" ".join(words)] for words in (output, *references)]
    (found,) = scorer._extract_corpus_statistics(texts[0], texts[1:])
    return found


@given(WORDS, st.lists(WORDS, min_size=1, max_size=3))
def test_edits_are_those_of_sacrebleu(output, references):
    assert counts(Ter(), output, references) == counts(sacrebleu.TER(), output, references)


def test_edits_of_long_texts_are_those_of_sacrebleu():
    random_ = random.Random(7)
    for number in range(12):
        text = [str(random_.randrange(30)) for _ in range(30 + 6 * number)]
        start, end = sorted(random_.sample(range(len(text)), 2))
        moved = text[end:] + text[start:end] + text[:start]
        references = [text, [*map(str, range(20))]]
        assert counts(Ter(), moved, references) == counts(sacrebleu.TER(), moved, references)
