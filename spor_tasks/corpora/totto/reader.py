"""Reads ToTTo's files: JSON Lines, each line an example with its table.

A sample of ToTTo has the highlighted cells as units, with their column headers as attributes, and
the final sentences as references. Its context has ``name`` (the example's id), ``title`` and
``section_title``, ``section_text``, ``source`` (the page), ``table``
(:mod:`spor_tasks.corpora.totto.table`) and ``overlap``, whether the training set has a table with
the same header; training examples do not have it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import AttributeValue, Sample, SampleMaker
from spor_tasks.corpora.totto.linearize import attribute
from spor_tasks.corpora.totto.table import Cell, CellTable, as_json, fault_of

_Span = Annotated[int, msgspec.Meta(ge=1)]


class _Cell(msgspec.Struct):
    value: str
    is_header: bool = False
    column_span: _Span = 1
    row_span: _Span = 1


class _Annotation(msgspec.Struct):
    final_sentence: str


class Example(msgspec.Struct):
    """An example as it is published, without what nothing here looks at."""

    example_id: int | str
    table: list[list[_Cell]]
    highlighted_cells: list[tuple[int, int]]
    table_page_title: str = ""
    table_webpage_url: str = ""
    table_section_title: str = ""
    table_section_text: str = ""
    sentence_annotations: list[_Annotation] = []
    overlap_subset: bool | None = None


_decode = msgspec.json.Decoder(Example).decode


def read(path: Path) -> Iterator[tuple[str, Sample]]:
    """Yield where each example stands, and its sample.

    Raises:
        CorpusError: the file cannot be read, or an example is malformed.
    """
    make = SampleMaker("totto")
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            where = f"{path}, line {number}"
            yield where, _sample(line, make, where)


def _sample(line: bytes, make: SampleMaker, where: str) -> Sample:
    try:
        example = _decode(line)
    except msgspec.MsgspecError as error:
        raise CorpusError(f"is not an example of ToTTo: {error}", where=where) from error
    return sample_of(example, make, where)


def sample_of(example: Example, make: SampleMaker, where: str) -> Sample:
    """Return the sample of an example.

    Raises:
        CorpusError: the table is empty, or no cell or one outside of it is highlighted.
    """
    rows = tuple(
        tuple(Cell(cell.value, cell.is_header, cell.column_span, cell.row_span) for cell in row)
        for row in example.table
    )
    table = CellTable(rows, tuple(example.highlighted_cells))
    if fault := fault_of(table):
        raise CorpusError(fault, where=f"{where}, example {example.example_id}")
    headers = table.headers(table.highlighted)
    cells = zip(headers, table.highlighted_cells, strict=True)
    return make(
        [AttributeValue(attribute(of), cell.value) for of, cell in cells],
        [annotation.final_sentence for annotation in example.sentence_annotations],
        name=str(example.example_id),
        title=example.table_page_title or None,
        section_title=example.table_section_title or None,
        section_text=example.table_section_text or None,
        source=example.table_webpage_url or example.table_page_title or None,
        overlap=example.overlap_subset,
        table=as_json(table),
    )
