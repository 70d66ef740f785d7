"""LogicNLG: sentences that a table entails."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from spor_tasks.core.codec import to_row
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import CorpusSamples, Sample
from spor_tasks.corpora import sources
from spor_tasks.corpora.logicnlg import reader
from spor_tasks.corpora.logicnlg.linearize import linearize


class _LogicNLG:
    name = "logicnlg"
    linearize = staticmethod(linearize)

    def read(self, folder: Path | None = None) -> CorpusSamples:
        """Return the training samples, if their file is there, and the test samples."""
        known = (folder or sources.LOGICNLG.data_dir()) / reader.file_of("train")
        train = reader.read_part("train", folder) if known.is_file() else ()
        return CorpusSamples(self.name, train, reader.read_part("test", folder))

    def everything(self, folder: Path | None = None) -> tuple[Sample, ...]:
        """Return the validation samples, then the test samples."""
        return reader.read_part("val", folder) + reader.read_part("test", folder)

    def outputs(self, given: object, where: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the rows of outputs for the test set, given in the published format.

        This is an object with a list of sentences for each table, in the order of the statements.

        Raises:
            CorpusError: the file is not of this form, or is of other samples.
        """
        if not isinstance(given, dict) or not all(isinstance(of, list) for of in given.values()):
            raise CorpusError("must be an object with a list for each table", where=where)
        left = {table: list(texts) for table, texts in given.items()}
        for sample in reader.read_part("test"):
            table = str(sample.about("name"))
            place = f"{where}: {table}"
            if not left.get(table):
                raise CorpusError("has fewer sentences than the test set", where=place)
            yield place, {**to_row(sample), "output": left[table].pop(0)}
        if more := next((table for table, texts in left.items() if texts), None):
            raise CorpusError("has more sentences than the test set", where=f"{where}: {more}")


LOGICNLG = _LogicNLG()
