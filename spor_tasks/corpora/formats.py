"""The forms of a corpus of one's own: which of them a file has is read from its content.

They are JSON Lines and JSON lists of rows (:mod:`spor_tasks.core.codec`), DART's JSON, the XML of
every WebNLG, and tables (CSV) of meaning representations as those of E2E and ViGGO.
"""

from codecs import BOM_UTF8
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import msgspec

from spor_tasks.core.codec import from_row
from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.files import JsonObject, is_blank, name_of, parse_rows, read_lines
from spor_tasks.core.references import has_words, with_references
from spor_tasks.core.sample import DataUnit, Sample, SampleMaker
from spor_tasks.corpora.base import PlacedRows
from spor_tasks.corpora.slots import references_by_mr, row_of_mr
from spor_tasks.corpora.webnlg.reader import read_entries


class _Lexicalization(msgspec.Struct):
    text: str


class _Annotations(msgspec.Struct):
    text: list[str]


class _Dart(msgspec.Struct):
    """An item of DART; the hub's form of it has all texts in one list."""

    tripleset: list[tuple[str, str, str]]
    annotations: list[_Lexicalization] | _Annotations


def read_samples(
    path: Path, make: SampleMaker, lang: str | None = None, acts: set[bool] | None = None
) -> Iterator[tuple[str, JsonObject, Sample | None]]:
    """Yield the place, the row and the sample of each entry of a file, in order.

    An entry is a row of JSON, an entry of XML, or all rows of a table with one MR. The sample is
    None if the entry has no unit, or no text to read in the language ``lang``; a row of JSON must
    have both, unless it is an item of DART. The file may be gzipped. ``acts`` gets whether MRs have
    a dialogue act; all files of a corpus share it.

    Raises:
        ConfigError: ``lang`` is given, and the file is not XML.
        CorpusError: the file cannot be read, has none of the forms, or has a malformed entry; the
            error names its place.
    """
    where = name_of(path)
    lines: Iterator[bytes] = read_lines(path)
    before: list[bytes] = []
    while (line := next(lines, None)) is not None and is_blank(line):
        before.append(line)
    first = (line or b"").removeprefix(BOM_UTF8).lstrip()
    lines = chain(before, [line] if line else [], lines)
    is_json = first[:1] in {b"", b"{", b"["}
    if lang and not first.startswith(b"<"):
        what = f"has no effect on {where}: only texts in XML name their languages"
        raise ConfigError(what, where="lang", remedy="Leave --lang out.")
    rows: PlacedRows
    if is_json:
        rows = parse_rows(lines, where)
    elif first.startswith(b"<"):
        rows = read_entries(lines, where, lang)
    else:
        mrs = references_by_mr(lines, where)
        rows = ((place, row_of_mr(mr, texts, place)) for place, mr, texts in mrs)
    unit: type[DataUnit] | None = None
    acts = set() if acts is None else acts
    for place, given in rows:
        row = _of_dart(given, place) if is_json else given
        if not is_json:
            acts.add("act" in row.get("context", ()))
            if len(acts) > 1:
                what = "some meaning representations have a dialogue act and others do not"
                raise CorpusError(what, where=place, remedy="Make two corpora of them.")
        is_own_row = is_json and row is given
        if not is_own_row and not (row["data"] and any(map(has_words, row["texts"]))):
            yield place, row, None
            continue
        sample = with_references(from_row(row, make, where=place, unit=unit), make, where=place)
        unit = type(sample.units[0])
        yield place, row, sample


def _of_dart(row: JsonObject, where: str) -> JsonObject:
    """Return an item of DART as a row, and any other row as it is."""
    if "tripleset" not in row or "data" in row:
        return row
    try:
        item = msgspec.convert(row, _Dart)
    except ValueError as error:
        raise CorpusError(f"is not an item of DART: {error}", where=where) from error
    notes = item.annotations
    texts = notes.text if isinstance(notes, _Annotations) else [note.text for note in notes]
    return {**row, "data": item.tripleset, "texts": texts}
