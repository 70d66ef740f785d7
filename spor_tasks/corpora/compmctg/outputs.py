"""Reads generated texts in the form of CompMCTG's evaluation: a text and the values it should have.

A row is ``{"text": …, "sentiment": "Negative", …}``; ``text`` may hold several, under ``"0"``,
``"1"`` and so on. Its own ``unseen``, true or false, says if its combination was left out of
training; so does, for all rows, a file with one published split.
"""

from collections.abc import Iterator
from pathlib import Path

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import SampleMaker
from spor_tasks.corpora.base import LabelledRow, PlacedRows
from spor_tasks.corpora.compmctg.reader import Unseen, read_unseen, units_of
from spor_tasks.corpora.compmctg.spaces import Space

TEXT = "text"


def read_outputs(
    rows: PlacedRows, space: Space, split: Path | None = None
) -> Iterator[LabelledRow]:
    """Yield where each text stands, its row with the text as ``output``, and its sample.

    The sample is None for a row in the field names of the released sets. ``split`` is a file with
    one row of an ``unseen.jsonl``.

    Raises:
        CorpusError: a row has no text, or a value that is not in the space, or the file of the
            split has another number of rows than one.
    """
    left_out: Unseen | None = None
    if split:
        splits = read_unseen(split, space)
        if len(splits) != 1:
            raise CorpusError(
                f"holds {len(splits)} splits",
                where=split,
                remedy="Write the row of the split that these texts were generated for to a file "
                "of its own.",
            )
        left_out = splits[0]
    make = SampleMaker(space.name)
    for where, row in rows:
        if "data" in row:
            yield where, row, None
            continue
        combination = space.combination(row, where)
        unseen = row.get("unseen")
        if left_out:
            unseen = left_out.has(space.as_row(combination))
        elif unseen not in (None, True, False):
            raise CorpusError(f"`unseen` must be true or false, not {unseen!r}", where=where)
        for place, text in _texts(row.get(TEXT), where):
            sample = make(units_of(space, combination), (), unseen=unseen)
            yield place, {**row, TEXT: text, "output": text}, sample


def _texts(content: object, where: str) -> Iterator[tuple[str, object]]:
    if not isinstance(content, dict):
        yield where, content
        return
    if content.keys() != {str(number) for number in range(len(content))} or not content:
        raise CorpusError(
            f"`{TEXT}` must be a text, or an object with texts under 0, 1, 2 …", where=where
        )
    for number in range(len(content)):
        yield f"{where}, text {number}", content[str(number)]
