"""The kinds of logic that a statement about a table needs, by its words.

A statement of a corpus that knows its kind, as the embedded one does, has it in its context. Of any
other the words decide, so a kind is a rough group, and a statement may have several or none.
"""

import re
from collections.abc import Mapping

from spor_tasks.core.sample import Sample

_WORDS: Mapping[str, str] = {
    "superlative": r"most|least|highest|lowest|fewest|largest|smallest|longest|shortest|best|worst"
    r"|first|last|top|bottom|earliest|latest|oldest|youngest|biggest|greatest|maximum|minimum",
    "comparison": r"more|less|fewer|higher|lower|larger|smaller|longer|shorter|better|worse|than"
    r"|before|after|earlier|later|older|younger|above|below|difference|greater",
    "count": r"times|number of|total of \d+|zero|one|two|three|four|five|six|seven|eight|nine|ten"
    r"|eleven|twelve|several|many|both|twice|once|multiple|[1-9]|1\d",
    "average": r"average|mean|median",
    "total": r"total|sum|combined|altogether",
    "majority": r"majority|half|third|quarter|percent",
    "only": r"only|unique|same|different|except",
    "all": r"all|every|each|always|none|never|no|not|neither|any",
}
LOGIC = (*_WORDS, "other")
"""The kinds of logic; ``other`` needs none of them."""

_PATTERNS = {kind: re.compile(rf"\b(?:{words})\b") for kind, words in _WORDS.items()}


def logic_of(sample: Sample) -> tuple[str, ...]:
    """Return the kinds of logic that the sample's own statement needs."""
    known = sample.about("logic")
    return (known,) if known in LOGIC else kinds_of(sample.references[0])


def kinds_of(text: str) -> tuple[str, ...]:
    """Return the kinds of logic that the words of a text speak of; ``other`` if of none."""
    lower = text.lower()
    return tuple(kind for kind, words in _PATTERNS.items() if words.search(lower)) or ("other",)
