"""A statement about a table with other names and numbers of the same columns in it.

As the paper's Y_adv it is most likely false, but nothing checks that: of a table with few values,
another one may do as well.
"""

import random
import re

from spor_tasks.core.sample import Sample
from spor_tasks.corpora.logicnlg.linearize import linked_columns, table_of


def corrupted(sample: Sample, seed: int) -> str | None:
    """Return the sample's text with every value of a linked column replaced by another of it.

    None is a sample without a table, or whose text has no such value. Equal seeds give equal texts.
    """
    if "table" not in sample.context:
        return None
    rng = random.Random(f"corrupted {seed} {sample.id}")
    chosen = dict[str, str]()
    for column in linked_columns(sample):
        values = list(dict.fromkeys(row[column] for row in table_of(sample).rows))
        for value in values:
            others = [each for each in values if each and each.lower() != value.lower()]
            if value and others:
                chosen[value.lower()] = rng.choice(others)
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
