"""Show text from outside so that it cannot move or hide anything on a terminal."""

import unicodedata

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def visible(what: object, *, keep: str = "") -> str:
    """Return the object as text, with characters that move or hide text replaced by their codes.

    These are control characters (with line ends and escape sequences), format characters (such as
    bidirectional overrides and zero-width characters) and halves of surrogate pairs. Characters in
    ``keep`` are not replaced.
    """
    text = str(what)
    if text.isprintable():
        return text
    return "".join(
        char
        if char in keep or unicodedata.category(char) not in _UNSEEN
        else f"\\u{ord(char):04x}"
        if ord(char) < 0x10000
        else f"\\U{ord(char):08x}"
        for char in text
    )
