"""Texts that somebody else wrote, shown so that they move nothing and hide nothing."""

import unicodedata

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def visible(what: object, *, keep: str = "") -> str:
    """Return a text, or anything as text, with its characters that move others or hide as codes.

    These are control characters, line ends and escape sequences among them, and format characters,
    such as bidirectional overrides and zero-width ones; also halves of a surrogate pair. Those in
    ``keep`` stay as they are.
    """
    text = str(what)
    if text.isprintable():
        return text
    return "".join(
        char if char in keep or unicodedata.category(char) not in _UNSEEN else _code(char)
        for char in text
    )


def _code(char: str) -> str:
    number = ord(char)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"  # noqa: PLR2004 - one plane
