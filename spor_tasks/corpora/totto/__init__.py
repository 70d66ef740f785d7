"""ToTTo: one sentence about the highlighted cells of a table."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from spor_tasks.core.errors import MissingError
from spor_tasks.core.files import read_rows
from spor_tasks.core.sample import Sample
from spor_tasks.corpora.base import Corpus
from spor_tasks.corpora.sources import TOTTO as PUBLISHED
from spor_tasks.corpora.totto import reader
from spor_tasks.corpora.totto.linearize import linearize


def _parts(folder: Path | None) -> Mapping[str, Sequence[Sample]]:
    """Return the training samples, if their file is there, and those of the development set.

    A table is read when it is requested, for memory may not hold all.
    """
    train, dev = reader.part("train", folder), reader.part("dev", folder)
    if not dev.path.is_file():
        raise MissingError("is missing", where=dev.path, remedy=PUBLISHED.remedy)
    return {"train": train if train.path.is_file() else (), "test": dev}


def read_references(path: Path | None) -> Iterator[tuple[str, Sample]]:
    """Yield the samples of a file in ToTTo's format, gzipped or not, or of the development set."""
    if path is None:
        return reader.part("dev").numbered()
    return ((place, reader.sample_of(row, place)) for place, row in read_rows(path))


TOTTO = Corpus(
    name="totto",
    parts=_parts,
    linearize=linearize,
    units="cells",
    read_all=lambda folder: reader.part("dev", folder),
    read_references=read_references,
)
