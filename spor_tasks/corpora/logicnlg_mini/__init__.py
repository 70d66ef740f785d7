"""LogicNLG in miniature: invented tables, and statements whose truth is known."""

from pathlib import Path
from types import MappingProxyType

from spor_tasks.core.sample import CorpusSamples, Sample
from spor_tasks.corpora.base import OF_MENTIONS, headers
from spor_tasks.corpora.logicnlg.linearize import linearize
from spor_tasks.corpora.logicnlg.surface import surface, told_alone
from spor_tasks.corpora.logicnlg_mini import worlds


class _LogicNLGMini:
    name = worlds.NAME
    linearize = staticmethod(linearize)
    surface = staticmethod(surface)
    atoms = MappingProxyType({"schema": headers, "operators": worlds.operators})

    def read(self, folder: Path | None = None) -> CorpusSamples:  # noqa: ARG002 - it is in no file
        """Return the training and test samples of seed 0."""
        return CorpusSamples(self.name, worlds.samples("train"), worlds.samples("test"))

    def pool(self, aspect: str) -> CorpusSamples:
        """Return the samples of :meth:`read`, for order invariance with false texts.

        Where an aspect asks what a text mentions, the reference is the sentence alone.
        Systematicity can ask few samples of a table, so it has four times as many test tables.
        """
        more = 4 * worlds.TABLES["test"] if aspect == "systematicity" else None
        train, test = worlds.samples("train"), worlds.samples("test", tables=more)
        if aspect == "order_invariance":
            test = worlds.pairs("test")
        if aspect in OF_MENTIONS:
            train, test = map(told_alone, (train, test))
        return CorpusSamples(self.name, train, test)

    def everything(self, folder: Path | None = None) -> tuple[Sample, ...]:
        """Return the samples of :meth:`read`, then the validation samples."""
        return (*self.read(folder).samples, *worlds.samples("val"))


LOGICNLG_MINI = _LogicNLGMini()
