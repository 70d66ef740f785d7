"""A corpus of one's own: JSON Lines, each row a sample of the training or the test part.

``data`` and ``texts`` are asked for; ``name``, ``category``, ``split`` (``train`` or ``test``) and
``id`` may be given, by all rows or by none in the case of ``split``. Without ``split`` all samples
are training samples, which is enough for systematicity.
"""

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.files import read_rows
from spor_tasks.core.sample import Corpus, Sample
from spor_tasks.corpora.jsonl import RowReader

_PARTS = ("train", "test")


def read(path: Path) -> Corpus:
    """Return the corpus of a JSON Lines file, gzipped or not, named as the file is.

    Raises:
        CorpusError: the file cannot be read or holds no sample; or a row is malformed, has no
            texts, an ``id`` that another has, or a ``split`` where others have none; the error
            names file, line and field.
    """
    # UTF-8, whatever this locale takes the names of files for
    named = os.fsencode(path.name).decode("utf-8", "surrogateescape")
    name = named.removesuffix(".gz").removesuffix(".jsonl")
    read_row = RowReader(name)
    parts: dict[str, list[Sample]] = {part: [] for part in _PARTS}
    marked: set[bool] = set()
    ids: dict[str, str] = {}
    for place, row in read_rows(path):
        marked.add("split" in row)
        parts[_part(row, place, marked)].append(_sample(row, read_row, place))
        _refuse_twice(row, place, ids)
    if not marked:
        raise CorpusError("holds no sample", where=path)
    return Corpus(name, *(tuple(parts[part]) for part in _PARTS))


def _part(row: Mapping[str, Any], place: str, marked: Collection[bool]) -> str:
    part = row.get("split", "train")
    if len(marked) > 1:
        raise CorpusError(
            "has a `split` where rows before have none, or none where they have one",
            where=place,
            remedy="Either every row says to which part it belongs, or none does.",
        )
    if part not in _PARTS:
        raise CorpusError(f'`split` must be "train" or "test", not {part!r}', where=place)
    return str(part)


def _sample(row: Mapping[str, Any], read_row: RowReader, place: str) -> Sample:
    sample = read_row(row, place)
    if not sample.references:
        raise CorpusError("has no `texts` to learn from", where=place)
    return sample


def _refuse_twice(row: Mapping[str, Any], place: str, ids: dict[str, str]) -> None:
    if "id" in row:
        first = ids.setdefault(str(row["id"]), place)
        if first != place:
            raise CorpusError(f"has the `id` {row['id']!r} of {first}", where=place)
