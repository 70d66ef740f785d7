"""What a linked sentence of the published parser mentions, from a record of its search."""

import re
from collections.abc import Mapping
from typing import Any

from spor_tasks.metrics.programs.states import Mentions

ENTITY = re.compile(r"#[^;#]*;-?\d+,-?\d+#")


def mentions(record: Mapping[str, Any]) -> Mentions:
    """Return what the published search was given."""
    return Mentions(
        sentence=record["masked"],
        tags=_tags(record["normalized"].split(), record["pos"], record["linked"]),
        texts=tuple(map(tuple, record["mem_str"])),
        numbers=tuple(map(tuple, record["mem_num"])),
        text_columns=tuple(record["head_str"]),
        number_columns=tuple(record["head_num"]),
    )


def _tags(words: list[str], tags: list[str], linked: str) -> tuple[str, ...]:
    """Return the tags of the words that are not in an entity, which replaces one word or more."""
    kept, place = list[str](), 0
    for number, part in enumerate(ENTITY.split(linked)):
        outside = part.split()
        if number and outside:
            place += 1
            while words[place : place + len(outside)] != outside:
                place += 1
        elif number:
            place += 1
        kept += tags[place : place + len(outside)]
        place += len(outside)
    return tuple(kept)
