"""PARENT's tokens: what NLTK 3.9's `word_tokenize` gives for lower-cased English [code].

The published evaluation tokenizes with NLTK and its English Punkt model. Both are restated here for
lower-cased text, where little of the model is left: no word is capitalized, so that only its
abbreviations decide. Written out, the tokens need no model download and stay the same under every
NLTK; 3.10 already splits dashes and opening quotes in another way. tests/text compares the
two.
"""

import re
import string
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import chain, combinations, filterfalse, pairwise
from typing import NamedTuple

_PUNCTUATION = frozenset(
    string.punctuation[start:end]
    for start, end in combinations(range(len(string.punctuation) + 1), 2)
)


def tokens(text: str) -> tuple[str, ...]:
    """Return the tokens of ``text``, lower-cased, those that are only punctuation left out.

    A token is dropped if it is a substring of ASCII's punctuation in code order, as published:
    ``"()"`` goes, ``"..."`` and the quotes, written ``"``"`` and ``"''"``, stay.
    """
    return tuple(filterfalse(_PUNCTUATION.__contains__, all_tokens(text)))


def all_tokens(text: str) -> tuple[str, ...]:
    """Return the tokens of ``text``, lower-cased, with those that are only punctuation."""
    return tuple(chain.from_iterable(map(_words, _sentences(text.lower()))))


# Sentences. They matter because a period is split off a word only at the end of a sentence.

_LISTED = files(__package__).joinpath("abbreviations.txt").read_text("utf-8").splitlines()
_ABBREVIATIONS = frozenset(" ".join(line for line in _LISTED if line[:1] != "#").split())
"""Words whose final period ends no sentence, in lower case and without it.

They are those that NLTK's English model knows [code], less eight accidents of its training text
that occur in neither corpus.
"""

# Characters that may directly follow the end of a sentence.
_AFTER = r"""[)";}\]*:@'({\[?!]"""

# A quick test for texts without any candidate.
_END = re.compile(rf"[.?!](?={_AFTER}|\s+\S)")

# A word, up to the last character in it that might end a sentence, and what comes next.
_CANDIDATE = re.compile(rf"(?a:(?<!\S)\S*)[.?!](?=(?P<next>{_AFTER}|(?P<space>\s+)\S+))")

# Quotes and brackets that close, and so belong to the sentence before them.
_CLOSING = re.compile(r"""(?P<marks>["')\]}]+)(?:\s+|(?=--)|\Z)""")

# The parts of a candidate: words keep their period, other punctuation stands alone.
_PART = re.compile(
    rf"""-{{2,}} | \.{{2,}}
    | [^\s("`{{\[:;&#*@)}}\]\-,] \S*? (?= ,? (?: \s | \Z | {_AFTER} | -- | \.\. ) )
    | \S""",
    re.VERBOSE,
)

_INITIAL = re.compile(r"[^\W\d]\.")
_NUMBER = re.compile(r"-?[.,]?\d[\d,.-]*")


def _sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a lower-cased text.

    One oddity is not restated: where a word like ``?!`` starts with one end and has another, NLTK
    ends a sentence after each. It shows only where quotes stand in the same word.
    """
    start = 0
    for candidate in _CANDIDATE.finditer(text) if _END.search(text) else ():
        parts = pairwise(_PART.findall(candidate[0] + candidate["next"]))
        if not any(_ends_sentence(part, following) for part, following in parts):
            continue
        end = candidate.end()
        resume = end + len(candidate["space"] or "")
        if closing := _CLOSING.match(text, resume):
            end, resume = closing.end("marks"), closing.end()
        yield text[start:end]
        start = resume
    yield text[start:].rstrip()


def _ends_sentence(part: str, following: str) -> bool:
    if part in {".", "?", "!"}:
        return True
    if not part.endswith(".") or part.endswith(".."):
        return False
    if part[:-1].rpartition("-")[2] in _ABBREVIATIONS:
        return False
    if _INITIAL.fullmatch(part) or _NUMBER.fullmatch(part):
        return not (following in {";", ":", ",", ".", "?", "!"} or following[0].islower())
    return True


# Words. The rules are the Penn Treebank's as NLTK 3.9 extends them, and in its order: each works on
# what those before it left. One that only splits surrounds what it matches with spaces.


class _Rule(NamedTuple):
    needs: Sequence[str]  # without any of these it cannot apply, which is much cheaper to find out
    pattern: re.Pattern[str]
    replace: Callable[[re.Match[str]], str]


def _rule(needs: Sequence[str], pattern: str, replacement: str = " {0[0]} ") -> _Rule:
    # A format of the match, for the templates of `re` are filled at a third of its pace.
    return _Rule(needs, re.compile(pattern), replacement.format)


_RULES = (
    # Quotes that open.
    _rule("«“‘„`", "[«“‘„]|`+"),
    _rule('"', '^"', "``"),
    _rule('`"', "``"),  # also what a double quote has just become
    _rule(('"', "''"), r"""(?<=[ ([{<])(?:"|'')""", " `` "),
    _rule("'", r"'(?!re|ve|ll|[mtsdn])(?=\w\b)", "' "),
    # Punctuation; a period only where the sentence ends.
    _rule(".", r"""\.(?<=[^.]\.)([\])}>"'»”’ ]*+)\s*$""", " . {0[1]} "),
    _rule(":,", r"([:,])(\D)", " {0[1]} {0[2]}"),
    _rule(":,", r"[:,]$"),
    _rule(("..",), r"\.{2,}"),
    _rule(";@#$%&?!", "[;@#$%&?!]"),
    _rule("'", "'(?<=[^']') ", " ' "),
    _rule("*()[]{}<>", r"[*()\[\]{}<>]"),
    _rule(("--",), "--"),
    # Quotes that close, and the clitics.
    _rule("»”’", "[»”’]"),
    _rule(('"', "''"), "''|\"", " '' "),
    _rule("'", r"\s+", " "),
    _rule("'", r"'(?<=[^' ]')[smd]?(?!\S)"),
    _rule("'", r"(?<=[^' ])(?:'ll|'re|'ve|n't)(?!\S)"),
    # Words written as one.
    _rule(
        ("cannot", "d'ye", "gimme", "gonna", "gotta", "lemme", "more'n", "wanna"),
        r"\b(can(?=not)|d(?='ye)|gim(?=me)|gon(?=na)|got(?=ta)|lem(?=me)|more(?='n)|wan(?=na(?!\S)))"
        r"(not|'ye|me|na|ta|'n)\b",
        " {0[1]} {0[2]} ",
    ),
    _rule("'", r"(?<!\S)('t)(is)\b", " {0[1]} {0[2]} "),
    _rule("'", r"(?<!\S)('t)(was)\b", " {0[1]} {0[2]} "),
)


_MARKS = frozenset(char for rule in _RULES for char in "".join(rule.needs) if not char.isalpha())


def _words(sentence: str) -> list[str]:
    """Return the words and punctuation marks of a lower-cased sentence."""
    for rule in _rules_for(_MARKS.intersection(sentence)):
        if any(map(sentence.__contains__, rule.needs)):
            sentence = rule.pattern.sub(rule.replace, sentence)
    return sentence.split()


@lru_cache(maxsize=1024)
def _rules_for(marks: frozenset[str]) -> tuple[_Rule, ...]:
    """Return the rules that may apply to a sentence in which these marks stand and no others."""
    return tuple(
        rule
        for rule in _RULES
        if any(marks.issuperset(_MARKS.intersection(need)) for need in rule.needs)
    )
