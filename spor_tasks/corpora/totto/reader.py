"""Reads ToTTo's files: JSON Lines, each line an example with its table.

A sample of ToTTo has the highlighted cells as units, with their column headers as attributes, and
the final sentences as references. Its context has ``name`` (the example's id), ``title`` and
``section_title``, ``section_text``, ``source`` (the page), ``table``
(:mod:`spor_tasks.corpora.totto.table`) and ``overlap``, whether the training set has a table with
the same header; training examples do not have it.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import msgspec

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Sample, SampleMaker
from spor_tasks.corpora.lines import FileSamples, Format, read_samples
from spor_tasks.corpora.sources import TOTTO
from spor_tasks.corpora.totto.linearize import units_of
from spor_tasks.corpora.totto.table import Cell, CellTable, as_json, misplaced

Part: TypeAlias = Literal["train", "dev", "test"]

PARTS: tuple[Part, ...] = get_args(Part)

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


def read(path: Path) -> Iterator[tuple[str, Sample]]:
    """Yield where each example of a file stands, gzipped or not, and its sample.

    Raises:
        CorpusError: the file cannot be read, has no example or two with one id, or an example is
            malformed; the error names file, line and, if it can be found, the example's id.
    """
    return read_samples(path, Format(sample_of, id_of))


def part(name: Part, folder: Path | None = None) -> FileSamples:
    """Return the examples of a published file, which is read when one of them is asked for.

    The file is in ``folder``, by default :meth:`TOTTO.data_dir`, or in ``totto_data`` below it. If
    it is missing, its ``sha256`` is None.
    """
    return FileSamples(TOTTO.find(_FILES[name], folder), FORMAT)


def sample_of(line: bytes, where: str) -> Sample:
    """Return the sample of a line; ``where`` names it in errors.

    Raises:
        CorpusError: it is not an example, its table is empty, or no cell or one outside of the
            table is highlighted.
    """
    try:
        example = _decode(line)
    except (ValueError, RecursionError) as error:  # MsgspecError, or of invalid UTF-8
        raise CorpusError(
            f"is not an example of ToTTo: {error}", where=_named(where, id_of(line))
        ) from error
    table = CellTable(example.table, example.highlighted_cells)
    name = str(example.example_id)
    if fault := misplaced(table):  # the decoder has checked the spans
        raise CorpusError(fault, where=_named(where, name))
    return SampleMaker("totto")(  # no two have one id, so none can be equal to one before it
        units_of(table),
        [annotation.final_sentence for annotation in example.sentence_annotations],
        name=name,
        title=example.table_page_title or None,
        section_title=example.table_section_title or None,
        section_text=example.table_section_text or None,
        source=example.table_webpage_url or example.table_page_title or None,
        overlap=example.overlap_subset,
        table=as_json(table),
    )


def id_of(line: bytes) -> str | None:
    """Return the id in a line, which may be damaged elsewhere, or None."""
    found = _ID.match(line, line.find(_KEY))  # `find` is five times as fast as `search`
    return found and (found[1] or found[2]).decode(errors="replace")


_KEY = b'"example_id"'
_ID = re.compile(_KEY + rb'\s*:\s*(?:(-?\d+)|"([^"]*)")')


def _named(where: str, name: str | None) -> str:
    return where if name is None else f"{where}, example {name}"


FORMAT = Format(sample_of, id_of, TOTTO.remedy)
"""The lines of the published files."""
