"""Reads generated texts in the form of CompMCTG's evaluation: a text and the values it should have.

A row is ``{"text": …, "sentiment": "Negative", …}``; ``text`` may hold several, under ``"0"``,
``"1"`` and so on. Whether its combination was left out of training is told by its own ``unseen``,
true or false, or for all rows by a file with one published split.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Sample, SampleMaker
from spor_tasks.corpora.compmctg.reader import Unseen, combination_of, read_unseen, units_of
from spor_tasks.corpora.compmctg.spaces import Space

Rows: TypeAlias = Iterable[tuple[str, Mapping[str, Any]]]
"""Rows, each after where it stands."""

Given: TypeAlias = tuple[str, Mapping[str, Any], Sample | None]
"""Where a text stands, its row, and its sample if it is known."""

TEXT = "text"


def read_outputs(rows: Rows, space: Space, split: Path | None = None) -> Iterator[Given]:
    """Yield where each text stands, its row with the text as ``output``, and its sample.

    Of a row in the field names of the released sets nothing is known, and it is None. ``split`` is
    a file with one row of an ``unseen.jsonl``.

    Raises:
        CorpusError: a row has no text, or a value that is not in the space, or the file of the
            split has another number of rows than one.
    """
    left_out = _only(split, space) if split else None
    make = SampleMaker(space.name)
    for where, row in rows:
        if "data" in row:
            yield where, row, None
            continue
        combination = combination_of(space, row, where)
        unseen = row.get("unseen")
        if left_out:
            unseen = left_out.has(space.as_row(combination))
        elif unseen not in (None, True, False):
            raise CorpusError(f"`unseen` must be true or false, not {unseen!r}", where=where)
        for place, text in _texts(row.get(TEXT), where):
            sample = make(units_of(space, combination), (), unseen=unseen)
            yield place, {**row, TEXT: text, "output": text}, sample


def _texts(found: object, where: str) -> Iterator[tuple[str, object]]:
    if not isinstance(found, dict):
        yield where, found
        return
    if found.keys() != {str(number) for number in range(len(found))} or not found:
        raise CorpusError(
            f"`{TEXT}` must be a text, or an object with texts under 0, 1, 2 …", where=where
        )
    for number in range(len(found)):
        yield f"{where}, text {number}", found[str(number)]


def _only(path: Path, space: Space) -> Unseen:
    found = read_unseen(path, space)
    if len(found) != 1:
        raise CorpusError(
            f"holds {len(found)} splits",
            where=path,
            remedy="Write the row of the split that these texts were generated for to a file of "
            "its own.",
        )
    return found[0]
