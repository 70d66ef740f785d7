"""Reads ToTTo's files: JSON Lines, each line an example with its table.

A sample of ToTTo has the highlighted cells as units, with their column headers as attributes, and
the final sentences as references. Its context has ``name`` (the example's id), ``title``,
``section_title``, ``section_text``, ``source`` (the page) and ``table``
(:class:`spor_tasks.core.table.CellTable`). Outside of the training set it also has ``overlap``:
whether a training table has the same header.
"""

from pathlib import Path
from typing import Literal, TypeAlias, get_args

import msgspec

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.files import JsonObject
from spor_tasks.core.references import with_references
from spor_tasks.core.sample import Sample, SampleMaker
from spor_tasks.core.table import Cell, CellTable
from spor_tasks.corpora.lines import FileSamples
from spor_tasks.corpora.sources import TOTTO
from spor_tasks.corpora.totto.linearize import units_of

TottoPart: TypeAlias = Literal["train", "dev", "test"]

PARTS: tuple[TottoPart, ...] = get_args(TottoPart)

_FILES = dict(zip(PARTS, TOTTO.files, strict=True))


class _Annotation(msgspec.Struct):
    final_sentence: str


class Example(msgspec.Struct):
    """An example as it is published, without what nothing here looks at."""

    example_id: int | str
    table: tuple[tuple[Cell, ...], ...]
    highlighted_cells: tuple[tuple[int, int], ...]
    table_page_title: str = ""
    table_webpage_url: str = ""
    table_section_title: str = ""
    table_section_text: str = ""
    sentence_annotations: tuple[_Annotation, ...] = ()
    overlap_subset: bool | None = None


_decode = msgspec.json.Decoder(Example).decode


def read(path: Path) -> FileSamples:
    """Return the examples of a file, each of which is read when it is asked for."""
    return FileSamples(path, sample_of, TOTTO.remedy)


def part(name: TottoPart, folder: Path | None = None) -> FileSamples:
    """Return the examples of a published file.

    The file is in ``folder``, by default :meth:`TOTTO.data_dir`, or in ``totto_data`` below it. If
    it is missing, its ``sha256`` is None.
    """
    return read(TOTTO.find(_FILES[name], folder))


def sample_of(line: bytes | JsonObject, where: str) -> Sample:
    """Return the sample of a line, read already or not; ``where`` names it in errors.

    Raises:
        CorpusError: it is not an example, no cell or one outside of the table is highlighted, or
            none of its sentences is a reference.
    """
    try:
        example = _decode(line) if isinstance(line, bytes) else msgspec.convert(line, Example)
        table = CellTable(example.table, example.highlighted_cells)
    except (ValueError, RecursionError) as error:  # MsgspecError, or of invalid UTF-8
        raise CorpusError(
            f"is not an example of ToTTo: {error}",
            where=where,
            remedy=f"The file may be truncated or edited. {TOTTO.remedy}",
        ) from error
    sample = SampleMaker("totto")(  # no two have one id, so none can be equal to one before it
        units_of(table),
        [annotation.final_sentence for annotation in example.sentence_annotations],
        name=str(example.example_id),
        title=example.table_page_title or None,
        section_title=example.table_section_title or None,
        section_text=example.table_section_text or None,
        source=example.table_webpage_url or example.table_page_title or None,
        overlap=example.overlap_subset,
        table=table,
    )
    return with_references(sample, where=where)
