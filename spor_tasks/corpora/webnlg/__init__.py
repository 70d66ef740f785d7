"""WebNLG (release 3.0)."""

from pathlib import Path

from spor_tasks.core.sample import CorpusSamples, Sample
from spor_tasks.corpora.webnlg import reader
from spor_tasks.corpora.webnlg.linearize import linearize


class _WebNLG:
    name = "webnlg"
    linearize = staticmethod(linearize)

    def read(self, folder: Path | None = None) -> CorpusSamples:
        """Return the corpus; of the test samples those of which training knows every triple."""
        train = reader.read_train(folder)
        test = reader.read_parts("dev", "test", folder=folder)
        return CorpusSamples(self.name, train, reader.keep_known(test, train, "strict"))

    def everything(self, folder: Path | None = None) -> tuple[Sample, ...]:
        """Return training, development and test samples."""
        return reader.read_parts("train", "dev", "test", folder=folder)


WEBNLG = _WebNLG()
