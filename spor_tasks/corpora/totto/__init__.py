"""ToTTo: one sentence about the highlighted cells of a table."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import CorpusSamples, Sample
from spor_tasks.corpora.sources import TOTTO as PUBLISHED
from spor_tasks.corpora.totto import reader
from spor_tasks.corpora.totto.linearize import linearize


class _Totto:
    name = "totto"
    linearize = staticmethod(linearize)

    def read(self, folder: Path | None = None) -> CorpusSamples:
        """Return the training samples, if their file is there, and those of the development set.

        No table is in memory before it is asked for.
        """
        train, dev = reader.part("train", folder), reader.part("dev", folder)
        if not dev.path.is_file():
            raise CorpusError("is missing", where=dev.path, remedy=PUBLISHED.remedy)
        return CorpusSamples(self.name, train if train.path.is_file() else (), dev)

    def everything(self, folder: Path | None = None) -> Sequence[Sample]:
        """Return the development set: all others are trained on, or have no reference."""
        return reader.part("dev", folder)

    def parts(self, folder: Path | None = None) -> Mapping[str, Sequence[Sample]]:
        """Return training and development set, and the test set if its file is there."""
        parts = {name: reader.part(name, folder) for name in reader.PARTS}
        return {name: part for name, part in parts.items() if name != "test" or part.path.is_file()}

    def references(self, path: Path | None = None) -> Iterator[tuple[str, Sample]]:
        """Yield the samples that a file of sentences is about, one a line, and where they stand.

        They are those of a file in ToTTo's format, or the development set.

        Raises:
            CorpusError: the file is missing or malformed.
        """
        return (reader.read(path) if path else reader.part("dev")).numbered()


TOTTO = _Totto()
