"""Texts put together of parts that may be missing."""


def joined(separator: str, *texts: str | None) -> str:
    """Return the texts that are not empty, with the separator between them."""
    return separator.join(text for text in texts if text)
