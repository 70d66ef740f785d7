"""LogicNLG in miniature: invented tables, and statements whose truth is known."""

from pathlib import Path

from spor_tasks.core.sample import CorpusSamples, Sample
from spor_tasks.corpora.logicnlg.linearize import linearize
from spor_tasks.corpora.logicnlg_mini import worlds


class _LogicNLGMini:
    name = worlds.NAME
    linearize = staticmethod(linearize)

    def read(self, folder: Path | None = None) -> CorpusSamples:  # noqa: ARG002 - it is in no file
        """Return the training and test samples of seed 0."""
        return CorpusSamples(self.name, worlds.samples("train"), worlds.samples("test"))

    def everything(self, folder: Path | None = None) -> tuple[Sample, ...]:
        """Return the samples of :meth:`read`, then the validation samples."""
        return (*self.read(folder).samples, *worlds.samples("val"))


LOGICNLG_MINI = _LogicNLGMini()
