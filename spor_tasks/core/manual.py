"""The pages of the documentation, which are in the wheel too."""

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


def page(name: str) -> str:
    """Return the path of a page, such as ``own-corpus``, for errors and help."""
    places = (_PACKAGE / "docs", _PACKAGE.parent / "docs")  # of the wheel, and of a checkout
    folder = next((place for place in places if place.is_dir()), places[0])
    return str(folder / f"{name}.md")
