"""LogicNLG: sentences that a table entails."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from spor_tasks.core.codec import to_row
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.files import JsonObject
from spor_tasks.core.sample import Sample
from spor_tasks.corpora import sources
from spor_tasks.corpora.base import Corpus
from spor_tasks.corpora.logicnlg import reader
from spor_tasks.corpora.logicnlg.linearize import linearize


def _parts(folder: Path | None) -> Mapping[str, tuple[Sample, ...]]:
    """Return the training samples, if their file is there, and the test samples."""
    file = (folder or sources.LOGICNLG.data_dir()) / reader.file_of("train")
    train = reader.read_part("train", folder) if file.is_file() else ()
    return {"train": train, "test": reader.read_part("test", folder)}


def read_outputs(content: object, where: str) -> Iterator[tuple[str, JsonObject]]:
    """Yield the rows of outputs for the test set, from the published format.

    This is an object with a list of sentences for each table, in the order of the statements.

    Raises:
        CorpusError: the file is not of this form, or is of other samples.
    """
    if not isinstance(content, dict) or not all(isinstance(v, list) for v in content.values()):
        raise CorpusError("must be an object with a list for each table", where=where)
    remaining = {table: list(texts) for table, texts in content.items()}
    for sample in reader.read_part("test"):
        table = str(sample.about("name"))
        place = f"{where}: {table}"
        if not remaining.get(table):
            raise CorpusError("has fewer sentences than the test set", where=place)
        yield place, {**to_row(sample), "output": remaining[table].pop(0)}
    if more := next((table for table, texts in remaining.items() if texts), None):
        raise CorpusError("has more sentences than the test set", where=f"{where}: {more}")


LOGICNLG = Corpus(
    name="logicnlg",
    parts=_parts,
    linearize=linearize,
    units="columns",
    read_all=lambda folder: reader.read_part("val", folder) + reader.read_part("test", folder),
    read_outputs=read_outputs,
)
