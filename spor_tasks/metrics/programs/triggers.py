"""The operators that the published search leaves out, by the words of a sentence.

An operator is only tried if the sentence contains a word that may mean it, or a tag of the Penn
Treebank (comparatives and superlatives). Operators without an entry are always tried.
"""

import re
from collections.abc import Sequence
from typing import TypeAlias

TriggerWords: TypeAlias = tuple[str, ...]

_TAGS = frozenset(["RBR", "RBS", "JJR", "JJS"])
_ONLY = re.compile(r"only [^2-9]")

_NEVER = ("not", "no", "never", "didn't", "won't", "wasn't")
_NOT = (
    *_NEVER,
    "isn't",
    "haven't",
    "weren't",
    "neither",
    "none",
    "unable",
    "fail",
    "different",
    "outside",
)
_THAN = ("after", "before", "difference", "gap", "than")
_TOTAL = ("sum", "summation", "combine", "combined", "total", "add", "all", "there are")
_BELOW = ("RBR", "JJR", "less", "than", "below", "under")
_ABOVE = ("RBR", "JJR", "more", "than", "above", "after", "exceed", "over")
_EACH = ("all", "every", "each")
_EXTREME = ("RBS", "JJS", "than any")
_ORDER = ("follow", "following", "followed", "after", "before", "above", "precede")
_UNIQUE = ("separate", "different", "unique")
_SEVERAL = ("and", "while", "when", ",", "both", "neither", "none", "all", "which", "who", "that")

_TRIGGERS: list[tuple[str, tuple[TriggerWords, ...]]] = [
    ("avg", (("average",),)),
    ("uniq_num uniq_str", (_UNIQUE,)),
    ("diff", ((*_THAN, "separate", "except", "but", "separation"),)),
    ("add sum", (_TOTAL,)),
    ("half", (("half",),)),
    ("one_third", (("one third",),)),
    ("not_eq not_str_eq filter_str_not_eq filter_not_eq", (_NOT,)),
    ("none", (("not", "no", "none", "neither"),)),
    ("zero", (("zero", "any", "none", "no", "not", "neither"),)),
    ("only", (("unique", "except"),)),
    ("several", (("several", "many"),)),
    ("top", (("first", "top", "latest"),)),
    ("bottom", (("last", "bottom", "latest"),)),
    ("first", (("first", "1st", "top"),)),
    ("second", (("second", "2nd"),)),
    ("third", (("third", "3rd"),)),
    ("fourth", (("fourth", "4th"),)),
    ("fifth", (("fifth", "5th"),)),
    ("last", (("last", "bottom"),)),
    ("filter_greater", (("RBR", "JJR", "more", "than", "above", "after", "through", "to"),)),
    ("filter_less", ((*_BELOW, "through", "to"),)),
    ("greater", (_ABOVE,)),
    ("all_eq", ((*_EACH, "only", "always"),)),
    ("all_less", (_EACH, _BELOW)),
    ("all_greater", (_EACH, _ABOVE)),
    ("all_str_eq", ((*_EACH, "always"),)),
    ("all_str_not_eq all_not_eq", ((*_EACH, "always"), _NEVER)),
    ("filter_less_eq", (("at most",),)),
    ("filter_greater_eq", (("at least",),)),
    ("all_less_eq", (("at most",), (*_EACH, "while"))),
    ("all_greater_eq", (("at least",), (*_EACH, "while"))),
    ("inc_num inc_str", ((*_SEVERAL, "whose"),)),
    ("max min", (_EXTREME,)),
    ("argmax argmin", (("JJS", "RBS", "top", "first", "than any"),)),
    ("before after", (_ORDER,)),
    ("most_freq", (("most", "majority", "than any"),)),
    ("all_exist", (("all", "both", "and", "while"),)),
]
TRIGGERS = {name: groups for names, groups in _TRIGGERS for name in names.split()}
"""Words and tags of each operator; of each group the sentence needs one."""


def left_out(sentence: str, tags: Sequence[str]) -> frozenset[str]:
    """Return the operators that nothing in the sentence means."""
    padded = f" {sentence} "

    def means(group: TriggerWords) -> bool:
        return any(word in tags if word in _TAGS else f" {word} " in padded for word in group)

    out = {name for name, groups in TRIGGERS.items() if not all(map(means, groups))}
    return frozenset(out - {"only"} if _ONLY.search(sentence) else out)
