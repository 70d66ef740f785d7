"""ViGGO: utterances of dialogues about video games (Juraska et al., INLG 2019)."""

from pathlib import Path

from spor_tasks.core.sample import CorpusSamples, Sample
from spor_tasks.corpora.viggo import reader
from spor_tasks.corpora.viggo.linearize import linearize


class _Viggo:
    name = "viggo"
    linearize = staticmethod(linearize)

    def read(self, folder: Path | None = None) -> CorpusSamples:
        """Return the training samples, and those of validation and test."""
        return CorpusSamples(
            self.name, reader.read_parts("train", folder=folder), reader.read_test(folder)
        )

    def everything(self, folder: Path | None = None) -> tuple[Sample, ...]:
        """Return all samples, each of which sets may be built from."""
        return self.read(folder).samples


VIGGO = _Viggo()
