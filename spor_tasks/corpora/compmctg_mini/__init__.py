"""CompMCTG in miniature: invented sentences with attributes that words decide."""

from collections.abc import Iterator
from pathlib import Path

from spor_tasks.core.sample import CorpusSamples, Sample
from spor_tasks.corpora.base import Style
from spor_tasks.corpora.compmctg.linearize import example, linearize, preamble
from spor_tasks.corpora.compmctg.outputs import Given, Rows, read_outputs
from spor_tasks.corpora.compmctg_mini import worlds


class _CompMCTGMini:
    name = worlds.NAME
    linearize = staticmethod(linearize)
    preamble = staticmethod(preamble)

    def read(self, folder: Path | None = None) -> CorpusSamples:  # noqa: ARG002 - it is in no file
        """Return the texts of seed 0, and fewer of another one, as they may train classifiers.

        The test sets of the benchmark have no texts: they are made of the space.
        """
        return CorpusSamples(self.name, worlds.samples(), worlds.samples(1, worlds.EACH // 4))

    def example(self, sample: Sample, style: Style) -> str:
        """Return the prompt of a sample among demonstrations."""
        return example(sample, style, worlds.SPACE)

    def labelled(self, rows: Rows, split: Path | None = None) -> Iterator[Given]:
        """Yield generated texts of the published form, as the other corpora do."""
        return read_outputs(rows, worlds.SPACE, split)

    def everything(self, folder: Path | None = None) -> tuple[Sample, ...]:
        """Return the samples of :meth:`read`."""
        return self.read(folder).samples


COMPMCTG_MINI = _CompMCTGMini()
