"""What a linked sentence of the published parser mentions, from a record of its search."""

import re

from spor_tasks.metrics.programs.linking import Linked
from spor_tasks.metrics.programs.states import COUNTED

ENTITY = re.compile(r"#[^;#]*;-?\d+,-?\d+#")


def linked(**fields):
    """Return a linked sentence with the fields that a search reads."""
    texts = dict.fromkeys(("sentence", "normalized", "links", "template"), "")
    lists = ("tags", "texts", "numbers", "text_columns", "number_columns", "columns")
    return Linked(**{**texts, **dict.fromkeys(lists, ()), **fields})


def mentions(record):
    """Return what the published search was given."""
    return linked(
        sentence=record["masked"],
        tags=_tags(record["normalized"].split(), record["pos"], record["linked"]),
        texts=tuple(map(tuple, record["mem_str"])),
        numbers=tuple(
            (None if column == COUNTED else column, value) for column, value in record["mem_num"]
        ),
        text_columns=tuple(record["head_str"]),
        number_columns=tuple(record["head_num"]),
    )


def _tags(words, tags, linked):
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
