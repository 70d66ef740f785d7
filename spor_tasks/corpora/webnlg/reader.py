"""WebNLG (release 3.0): its XML, and the corpus as the paper uses it (section 2.1)."""

import io
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree as ET

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import Sample, SampleMaker, Triple
from spor_tasks.corpora.sources import SPOR
from spor_tasks.text.normalize import words_of_identifier

TestFilter = Literal["published", "strict"]

# The training set must know the triple from this part on: 0 the subject, 1 the predicate.
_FIRST_KNOWN: dict[TestFilter, int] = {"published": 1, "strict": 0}


def read_train(folder: Path | None = None) -> tuple[Sample, ...]:
    """Return the training samples: sizes 1 to 7, within a size by file name.

    ``folder`` holds the published repository's tree; by default it is ``SPOR.data_dir()``.

    Raises:
        CorpusError: a file is missing or is not the published one.
    """
    return read_parts("train", folder=folder)


def read_test(folder: Path | None = None, keep: TestFilter = "published") -> tuple[Sample, ...]:
    """Return the test samples, dev before test, that :func:`keep_known` keeps.

    Raises:
        ConfigError: ``keep`` is not a filter.
        CorpusError: a file is missing or is not the published one.
    """
    return keep_known(read_parts("dev", "test", folder=folder), read_train(folder), keep)


def keep_known(
    samples: Iterable[Sample], train: Iterable[Sample], keep: TestFilter = "published"
) -> tuple[Sample, ...]:
    """Return the samples whose units all occur in the training samples.

    With ``strict``, every triple must occur there, as the paper says. With ``published``, only
    every (predicate, object) must, as in the released sets [code]: 39 of their test samples have a
    triple that no training sample has.

    Raises:
        ConfigError: ``keep`` is neither of these.
    """
    if keep not in _FIRST_KNOWN:
        raise ConfigError(
            f"unknown filter {keep!r}",
            where="keep",
            remedy=f"Use one of {', '.join(_FIRST_KNOWN)}.",
        )
    first = _FIRST_KNOWN[keep]
    trained = {unit[first:] for sample in train for unit in sample.units}
    return tuple(
        sample for sample in samples if trained.issuperset(unit[first:] for unit in sample.units)
    )


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
            triples = entry.iterfind("modifiedtripleset/mtriple")
            units = (_triple(triple.text or "") for triple in triples)
            texts = (text.text or "" for text in entry.iterfind("lex"))
            yield make(units, texts, category=entry.get("category"))
            entry.clear()


def _triple(text: str) -> Triple:
    subject, predicate, obj = text.split(" | ")
    return Triple(subject, words_of_identifier(predicate), obj)
