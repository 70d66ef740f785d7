"""English text without the blanks that a tokenizer put in, as Moses' `detokenizer.perl` writes it.

ToTTo's published evaluation pipes every line through that script (its revision 4134, `-l en`). The
words of a line are what stands between blanks; tabs and other whitespace are parts of words.
"""

from collections import Counter
from itertools import pairwise

import regex

_TAG_OR_BLANK = regex.compile(r"<.+>|\s*")

_CHARACTERS = {
    "bar": "|",
    "#124": "|",
    "lt": "<",
    "gt": ">",
    "bra": "[",
    "ket": "]",
    "quot": '"',
    "apos": "'",
    "#91": "[",
    "#93": "]",
    "amp": "&",
}
_ENTITY = regex.compile(f"&({'|'.join(_CHARACTERS)});")

# Chinese, Japanese and Korean; ¿ and ¡ open, as brackets and currencies do.
_CJK = (
    r"[\u1100-\u11ff\u2e80-\ua4cf\ua840-\ua87f\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff65-\uffdc"
    r"\U00020000-\U0002ffff]"
)
_SPECIAL = (
    rf"(?P<cjk>{_CJK})|(?P<clitic>'\p{{Alphabetic}})|"
    r"(?:(?P<opening>[\p{Sc}([{¿¡]+)|(?P<closing>[,.?!:;\\%}\])]+)|(?P<quote>['\"„“`]+))(?![^ ])"
)
_any_special = regex.compile(f" (?:{_SPECIAL})").search
_special = regex.compile(_SPECIAL).match
_ends_in_cjk = regex.compile(rf"{_CJK}\Z").search
_ends_in_alphanumeric = regex.compile(r"[\p{Alphabetic}\p{Nd}]\Z").search


def detokenize(line: str) -> str:
    """Return a line with its words moved together and its entities, such as `&apos;`, written out.

    A line that is a tag or has no word stays as it is. It must have no line break.
    """
    if _TAG_OR_BLANK.fullmatch(line):
        return line
    text = f" {line} ".replace(" @-@ ", "-")
    if "&" in text:
        text = _ENTITY.sub(lambda entity: _CHARACTERS[entity[1]], text)
    if not _any_special(text):
        return " ".join(word for word in text.split(" ") if word)
    parts: list[str] = []
    blank = " "  # before the next word, unless that is moved to the left
    quotes: Counter[str] = Counter()
    for before, word in pairwise(["", *text.split(" ")]):
        special = _special(word)
        kind = special.lastgroup if special else None
        if kind == "quote":
            mark = '"' if word.strip("„“") == "" else word
            possessive = word == "'" and before.endswith("s")
            closes = quotes[mark] % 2 == 1
            quotes[mark] += closes or not possessive
            kind = "closing" if closes or possessive else "opening"
        joins_left = (
            kind == "closing"
            or (kind == "clitic" and _ends_in_alphanumeric(before))
            or (kind == "cjk" and _ends_in_cjk(before))
        )
        parts.append(word if joins_left else blank + word)
        blank = "" if kind == "opening" else " "
    return " ".join(word for word in "".join(parts).split(" ") if word)
