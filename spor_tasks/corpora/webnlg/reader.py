"""WebNLG (release 3.0): its XML, and the corpus as the paper uses it (section 2.1)."""

import io
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree as ET

from spor_tasks.core.references import with_references
from spor_tasks.core.sample import Sample, SampleMaker, Triple
from spor_tasks.corpora.sources import SPOR
from spor_tasks.text.normalize import words_of_identifier


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
    for _, entry in ET.iterparse(io.BytesIO(content)):  # noqa: S314 - verified by its digest
        if entry.tag == "entry":
            units = []
            for triple in entry.iterfind("modifiedtripleset/mtriple"):
                subject, predicate, obj = (triple.text or "").split(" | ")
                units.append(Triple(subject, words_of_identifier(predicate), obj))
            texts = (text.text or "" for text in entry.iterfind("lex"))
            sample = make(units, texts, category=entry.get("category"))
            yield with_references(sample, where=f"entry {entry.get('eid')}")
            entry.clear()
