"""Find broken links and hard sentences: `python docs/pages.py [PAGE…]`, at the root.

A sentence has at most 25 words. It begins with no participle, and with none of "What", "Of" and
"Who", unless it is a question. Terms are none of the words "told", "asked", "said", "meets" and
"owes". Code, tables and headings are left out; a colon ends a sentence.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

MOST = 25
PARTICIPLE = "[A-Z][a-z]+ed|Given|Shown|Kept|Left|Taken|Seen|Made|Found|Written|Drawn|Built"
AFTER = ",| (?:again|against|as|at|by|for|from|in|is|are|on|only|to|under|with)\\b"
OPENER = rf"(?:What|Of(?! course)|Who|Whose|Whoever|Using|Having)\b|(?:{PARTICIPLE})(?:{AFTER})"
RULES = {
    "opener": re.compile(rf"^(?:{OPENER})(?!.*\?$)"),
    "word": re.compile(r"\b(?:told|asked|said|meets|owes)\b", re.IGNORECASE),
    "long": re.compile(rf"^(?:\S+ ){{{MOST}}}\S"),
}
ENDS = re.compile(r"(?<=[.!?:])[)\"*_]*\s+(?=\S)|\n\s*\n|\n\s*(?:[-*]|\d+\.)\s+")


def prose(page: Path) -> str:
    """Return a page without its blocks of code."""
    return re.sub(r"^```.*?^```", "\n", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


def sentences(text: str) -> list[str]:
    """Return the sentences of a page; code is one word."""
    text = re.sub(r"^\s*(?:\||#|!\[|<).*$", "\n", text, flags=re.MULTILINE)
    text = re.sub(r"`+[^`]*`+", "X", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    found = (part.replace("*", "").strip("-> \n") for part in ENDS.split("\n" + text))
    return [" ".join(part.split()) for part in found if part]


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    headings = re.findall(r"^#+ +(.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


def faults(page: Path) -> Iterator[str]:
    """Yield every broken link and every sentence that breaks a rule."""
    for path, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", prose(page)):
        other = page.parent / path if path else page
        if not other.exists() or (anchor and anchor not in anchors(other)):
            yield f"{page}: link: {path}#{anchor}"
    for sentence in sentences(prose(page)):
        yield from (f"{page}: {name}: {sentence}" for name in RULES if RULES[name].search(sentence))


if __name__ == "__main__":
    every = (
        *Path().glob("*.md"),
        *Path().glob("docs/*.md"),
        *Path().glob("docs/decisions/*.md"),
        *Path().glob("spor_tasks/tasks/*/*.md"),
    )
    pages = map(Path, sys.argv[1:]) if sys.argv[1:] else sorted(every)
    found = [fault for page in pages for fault in faults(page)]
    print(*found, sep="\n", end="\n" * bool(found))
    sys.exit(bool(found))
