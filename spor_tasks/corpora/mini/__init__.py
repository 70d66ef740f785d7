"""The embedded corpus."""

from pathlib import Path

from spor_tasks.core.sample import CorpusSamples, Sample
from spor_tasks.corpora.mini import worlds
from spor_tasks.corpora.webnlg.linearize import linearize


class _Mini:
    name = "mini"
    linearize = staticmethod(linearize)

    def read(self, folder: Path | None = None) -> CorpusSamples:  # noqa: ARG002 - it is in no file
        """Return the corpus of seed 0."""
        return worlds.corpus()

    def everything(self, folder: Path | None = None) -> tuple[Sample, ...]:
        """Return all samples, each of which sets may be built from."""
        return self.read(folder).samples


MINI = _Mini()
