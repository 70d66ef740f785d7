"""Words as NIST's `mteval-v13a` divides a text, which sacrebleu calls `13a`.

They are restated here because sacrebleu keeps the last 65,536 texts that it divided, whole tables
with them. tests/text compares the two.
"""

import re

_DIVIDED = [(sign, f" {sign} ") for sign in r"""!"#$%&()*+/:;<=>?@[\]^_`{|}~"""]
_ENTITIES = {"&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">"}

# Periods and commas stay in numbers; a dash is divided from a digit before it.
_RULES = (
    (".,", re.compile(r"([^0-9])([.,])"), "{0[1]} {0[2]} ".format),
    (".,", re.compile(r"([.,])([^0-9])"), " {0[1]} {0[2]}".format),
    ("-", re.compile(r"([0-9])-"), "{0[1]} - ".format),
)


def words(text: str) -> list[str]:
    """Return the words and signs of a text."""
    text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    if "&" in text:
        for entity, sign in _ENTITIES.items():
            text = text.replace(entity, sign)
    for sign, divided in _DIVIDED:
        text = text.replace(sign, divided)
    text = f" {text} "
    for signs, pattern, replacement in _RULES:
        if any(sign in text for sign in signs):
            text = pattern.sub(replacement, text)
    return text.split()
