"""A statement about a table with other names and numbers of the same columns in it.

As the paper's Y_adv it is most likely false, but nothing checks that: of a table with few values,
another one may do as well.
"""

import random
import re
from collections.abc import Iterator

from spor_tasks.core.sample import Sample
from spor_tasks.corpora.logicnlg.linearize import linked_columns, table_of


def corrupted(sample: Sample, seed: int) -> str | None:
    """Return the sample's text with every value of a linked column replaced by another of it.

    None is a sample without a table, or whose text has no such value. Equal seeds give equal texts.
    """
    if "table" not in sample.context:
        return None
    rng = random.Random(f"corrupted {seed} {sample.id}")
    chosen = {
        value.lower(): rng.choice(alternatives)
        for value, alternatives in _alternatives(sample)
        if value and alternatives
    }
    longest_first = sorted(chosen, key=lambda value: (-len(value), value))
    # The matched group says which value it is: `re` equates more letters than `lower` does.
    pattern = "|".join(f"({re.escape(value)})" for value in longest_first)
    if not pattern:
        return None
    text = re.sub(
        rf"(?<!\w)(?:{pattern})(?!\w)",
        lambda match: chosen[longest_first[(match.lastindex or 0) - 1]],
        sample.target,
        flags=re.IGNORECASE,
    )
    return None if text == sample.target else text


def _alternatives(sample: Sample) -> Iterator[tuple[str, list[str]]]:
    """Yield each value of a linked column with the others of the column."""
    table = table_of(sample)
    for column in linked_columns(sample):
        values = list(dict.fromkeys(row[column] for row in table.rows))
        for value in values:
            yield value, [each for each in values if each and each.lower() != value.lower()]
