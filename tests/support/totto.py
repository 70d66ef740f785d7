"""Samples of ToTTo for tests: invented ones, and those that the published code was run on."""

from spor_tasks.core.sample import AttributeValue, Sample
from spor_tasks.core.table import from_json
from spor_tasks.corpora.totto import reader
from tests.support.rows import write_rows


def sample(*references, cells=(("Ann", "7"),), highlighted=((0, 0),), **context):
    """Return a sample; a cell is its value, or a list as in the context of a sample."""
    told = (cells[row][index] for row, index in highlighted)
    units = tuple(AttributeValue("", cell if isinstance(cell, str) else cell[0]) for cell in told)
    table = from_json({"cells": cells, "highlighted": highlighted})
    return Sample("0", "totto", units, references, {**context, "table": table})


def examples(rows, folder):
    """Return the samples of published examples, which may lack an id."""
    given = ({"example_id": number, **row} for number, row in enumerate(rows))
    return list(reader.read(write_rows(folder / "examples.jsonl", *given)))
