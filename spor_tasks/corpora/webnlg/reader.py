"""WebNLG: its XML of any release, and release 3.0 as the paper uses it (section 2.1)."""

import io
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Literal, cast
from xml.etree import ElementTree as ET
from xml.parsers import expat

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.files import ROW_BYTES, FileContent
from spor_tasks.core.references import with_references
from spor_tasks.core.sample import Sample, SampleMaker, Triple
from spor_tasks.corpora.sources import SPOR
from spor_tasks.text.normalize import words_of_identifier

_TRIPLES = "modifiedtripleset/mtriple"
_UNMARKED = "en"  # the language of a text whose `lang` is missing or empty


def read_train(folder: Path | None = None) -> tuple[Sample, ...]:
    """Return the training samples: sizes 1 to 7, within a size by file name.

    ``folder`` holds the published repository's tree; by default it is ``SPOR.data_dir()``.

    Raises:
        CorpusError: a file is missing or is not the published one.
    """
    return read_parts("train", folder=folder)


def read_parts(
    *parts: Literal["train", "dev", "test"], folder: Path | None = None
) -> tuple[Sample, ...]:
    """Return all samples of these parts, unfiltered, in this order.

    Raises:
        CorpusError: a file is missing or is not the published one.
    """
    make = SampleMaker("webnlg")
    paths = chain.from_iterable(SPOR.under(f"webnlg3.0/{part}") for part in parts)
    return tuple(
        sample for path in paths for sample in read_xml(SPOR.read_published(path, folder), make)
    )


def read_xml(content: bytes, make: SampleMaker) -> Iterator[Sample]:
    """Yield the samples of a verified XML file: the modified triples and every text of an entry.

    ``make`` gives ids to the samples of all files of a corpus.
    """
    chunks = iter(partial(io.BytesIO(content).read, io.DEFAULT_BUFFER_SIZE), b"")
    for place, row in read_entries(chunks, "webnlg"):
        units = (Triple(*parts) for parts in row["data"])
        yield with_references(make(units, row["texts"], category=row["category"]), where=place)


def read_entries(
    chunks: Iterable[bytes], where: str, lang: str | None = None
) -> Iterator[tuple[str, FileContent]]:
    """Yield the place of each entry, and a row of its modified triples and its texts.

    Of texts in several languages, those in ``lang`` are taken. A text whose language is not named
    is English. A predicate of capitals stays as it is.

    Raises:
        CorpusError: this is not WebNLG's XML, an entry is malformed or longer than
            :data:`ROW_BYTES`, no text is in ``lang``, or ``lang`` is None and there are several.
    """
    known: set[str] = set()
    for number, entry in enumerate(_entries(chunks, where), start=1):
        place = f"{where}, entry {number}"
        texts = [
            (lex.get("lang") or _UNMARKED, lex.findtext("text", lex.text or ""))
            for lex in entry.iterfind("lex")
        ]
        known.update(language for language, _ in texts)
        if lang is None and len(known) > 1:
            what = f"has texts in several languages: {', '.join(sorted(known))}"
            raise CorpusError(what, where=place, remedy="Choose one with --lang.")
        yield (
            place,
            {
                "data": [_triple(each.text or "", place) for each in entry.iterfind(_TRIPLES)],
                "texts": [text for language, text in texts if lang in {None, language}],
                "category": entry.get("category"),
            },
        )
        entry.clear()
    if lang is not None and lang not in known:
        found = ", ".join(sorted(known)) or "no language"
        raise CorpusError(f"has no text in {lang!r}, but in {found}", where=where)


def _entries(chunks: Iterable[bytes], where: str) -> Iterator[ET.Element]:
    """Yield the entries of a document, which may not define what expands without end."""

    def refuse(*_: object) -> None:
        raise CorpusError(
            "declares a document type, which could define entities without end",
            where=where,
            remedy="WebNLG's XML has none: remove <!DOCTYPE …> and its entities.",
        )

    parser: ET.XMLPullParser[ET.Element] = ET.XMLPullParser()
    prolog = expat.ParserCreate()
    prolog.StartDoctypeDeclHandler = refuse
    number = size = 0
    try:
        for chunk in chunks:
            if not number:  # a type is declared before the first entry
                prolog.Parse(chunk)
            parser.feed(chunk)
            size += len(chunk)
            events = cast("Iterator[tuple[str, ET.Element]]", parser.read_events())
            for _, element in events:
                if element.tag == "entry":
                    number, size = number + 1, 0
                    yield element
            if size > ROW_BYTES:
                raise CorpusError(f"has {ROW_BYTES:,} bytes without an <entry>", where=where)
        parser.close()
    except (ET.ParseError, expat.ExpatError, LookupError, ValueError) as error:  # or its encoding
        raise CorpusError(f"is not XML: {error}", where=where) from error
    if not number:
        raise CorpusError("has no <entry>, so it is not WebNLG's XML", where=where)


def _triple(text: str, where: str) -> list[str]:
    parts = text.split(" | ")
    if len(parts) != len(Triple._fields):
        raise CorpusError(f"{text!r} is not `subject | predicate | object`", where=where)
    subject, name, value = parts
    return [subject, name if name.isupper() else words_of_identifier(name), value]
