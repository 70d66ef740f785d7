"""Find sentences that a stranger reads twice: `python docs/language.py [PAGE…]`.

A sentence has at most 25 words. It begins with no participle, and with none of "What", "Of" and
"Who", unless it is a question. Terms are none of the words "told", "asked", "said", "meets" and
"owes". Code, tables and headings are left out; a colon ends a sentence.
"""

import re
import sys
from pathlib import Path

PENDING = {"README", "CHANGELOG", "compmctg", "logicnlg", "totto"}
"""Pages that are not yet rewritten."""

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


def sentences(text: str) -> list[str]:
    """Return the sentences of a page of Markdown; code is one word."""
    text = re.sub(r"^```.*?^```", "\n", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^\s*(?:\||#|!\[|<).*$", "\n", text, flags=re.MULTILINE)
    text = re.sub(r"`+[^`]*`+", "X", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    found = (part.replace("*", "").strip("-> \n") for part in ENDS.split("\n" + text))
    return [" ".join(part.split()) for part in found if part]


def main(names: list[str]) -> int:
    """Print every fault; return 1 if there is one."""
    pages = [page for where in (".", "docs") for page in sorted(Path(where).glob("*.md"))]
    chosen = map(Path, names) if names else (page for page in pages if page.stem not in PENDING)
    found = [
        f"{page}: {name}: {sentence}"
        for page in chosen
        for sentence in sentences(page.read_text("utf-8"))
        for name, rule in RULES.items()
        if rule.search(sentence)
    ]
    print(*found, sep="\n", end="\n" * bool(found))
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
