"""What a sentence about an embedded table means: the inverse of how sentences are written.

Whether it is true, the metric `truth` says (:mod:`spor_tasks.metrics.truth`).
"""

from spor_tasks.core.table import Table
from spor_tasks.corpora.logicnlg_mini.grammar import Sentence, lexicon, parse


def sentence(text: str, table: Table) -> Sentence | None:
    """Return the sentence that a text is, or None if the language does not have it.

    Case and blanks do not matter, nor whether there is a blank before the full stop. Only what is
    in the table can be named.
    """
    told = text.strip()
    if not told.endswith("."):
        return None
    return parse([*told.removesuffix(".").split(), "."], lexicon(table))


def read(text: str, table: Table) -> str | None:
    """Return the program that a text means, or None if the language does not have it."""
    found = sentence(text, table)
    return found and found.program
