"""Cleaned E2E."""

from pathlib import Path

from spor_tasks.core.sample import CorpusSamples, Sample
from spor_tasks.corpora.e2e import reader
from spor_tasks.corpora.e2e.linearize import linearize


class _E2E:
    name = "e2e"
    linearize = staticmethod(linearize)

    def read(self, folder: Path | None = None) -> CorpusSamples:
        """Return the corpus as the paper filters it."""
        return CorpusSamples(self.name, reader.read_train(folder), reader.read_test(folder))

    def everything(self, folder: Path | None = None) -> tuple[Sample, ...]:
        """Return all samples, each of which sets may be built from."""
        return self.read(folder).samples


E2E = _E2E()
