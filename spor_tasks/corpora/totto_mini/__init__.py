"""ToTTo in miniature: invented tables with highlighted cells, and sentences about these."""

from pathlib import Path

from spor_tasks.core.sample import CorpusSamples, Sample
from spor_tasks.corpora.totto.linearize import linearize
from spor_tasks.corpora.totto_mini import worlds


class _TottoMini:
    name = worlds.NAME
    linearize = staticmethod(linearize)

    def read(self, folder: Path | None = None) -> CorpusSamples:  # noqa: ARG002 - it is in no file
        """Return the samples of seed 0."""
        return CorpusSamples(self.name, samples("train"), samples("test"))

    def everything(self, folder: Path | None = None) -> tuple[Sample, ...]:
        """Return the samples of :meth:`read`."""
        return self.read(folder).samples


samples = worlds.samples
TOTTO_MINI = _TottoMini()
