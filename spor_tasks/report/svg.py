"""A matplotlib picture as part of a page: without styles of its own, in the page's colours."""

import re
from collections.abc import Mapping
from xml.etree import ElementTree as ET

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_DROPPED = {f"{_SVG}metadata", f"{_SVG}style"}
_UNWANTED = {"font-family"}
_PIXELS = 1.6  # to a point: letters of a figure are then about as large as those of the page
_REFERENCE = re.compile(r"url\(#([^)]+)\)")


def inline(picture: str, name: str, title: str, colors: Mapping[str, str]) -> str:
    """Return an SVG document as an element for HTML.

    A page whose policy allows no style attributes can show it, since all of them become attributes
    of presentation. ``colors`` replaces some by others, such as the page's own. Ids that something
    refers to begin with ``name``, so that they are unique in the page; the others go.
    """
    root = ET.fromstring(picture)  # noqa: S314 - we have just made it
    used = _references(root)
    for element in root.iter():
        for child in [child for child in element if child.tag in _DROPPED]:
            element.remove(child)
        _present(element, colors)
        _rename(element, name, used)
    width = float(root.attrib.pop("width").removesuffix("pt"))
    root.set("width", f"{_PIXELS * width:.0f}")
    for attribute in ("height", "version"):
        root.attrib.pop(attribute, None)
    root.attrib |= {"role": "img", "aria-label": title}
    root.attrib |= {"stroke-linejoin": "round", "stroke-linecap": "butt"}
    ET.register_namespace("", _SVG.strip("{}"))
    text = ET.tostring(root, encoding="unicode")
    return text.replace(' xmlns="http://www.w3.org/2000/svg"', "", 1)


def _references(root: ET.Element) -> set[str]:
    found = set()
    for element in root.iter():
        found.update(_REFERENCE.findall(" ".join(element.attrib.values())))
        found.add(element.get(_HREF, "").removeprefix("#"))
    return found


def _present(element: ET.Element, colors: Mapping[str, str]) -> None:
    """Turn styles into attributes, and colours into those of the page."""
    for declaration in element.attrib.pop("style", "").split(";"):
        key, _, value = (part.strip() for part in declaration.partition(":"))
        if key and key not in _UNWANTED:
            element.set(key, value)
    for key in ("fill", "stroke"):
        if (color := colors.get(element.get(key, ""))) is not None:
            element.set(key, color)


def _rename(element: ET.Element, name: str, used: set[str]) -> None:
    if (own := element.attrib.pop("id", None)) in used:
        element.set("id", f"{name}-{own}")
    if target := element.attrib.pop(_HREF, None):
        element.set("href", f"#{name}-{target.removeprefix('#')}")
    for key, value in element.attrib.items():
        if "url(#" in value:
            element.set(key, _REFERENCE.sub(rf"url(#{name}-\1)", value))
