"""CompMCTG (Zhong et al., ACL 2024): texts with combinations of attributes never seen together."""

from collections.abc import Iterator
from pathlib import Path

from spor_tasks.core.sample import CorpusSamples, Sample
from spor_tasks.corpora.base import Style
from spor_tasks.corpora.compmctg import reader, spaces
from spor_tasks.corpora.compmctg.linearize import example, linearize, preamble
from spor_tasks.corpora.compmctg.outputs import Given, Rows, read_outputs
from spor_tasks.corpora.compmctg.spaces import Space


class _Dataset:
    linearize = staticmethod(linearize)
    preamble = staticmethod(preamble)

    def __init__(self, space: Space) -> None:
        self._space, self.name = space, space.name

    def read(self, folder: Path | None = None) -> CorpusSamples:
        """Return the texts for generators, and, if they are there, those for classifiers.

        The test sets of the benchmark have no texts: they are made of the space.
        """
        train, other = (reader.file_of(self.name, part, folder) for part in ("gen", "cls"))
        read = tuple(reader.read(train, self._space))
        more = tuple(reader.read(other, self._space)) if other.is_file() else ()
        return CorpusSamples(self.name, read, more)

    def example(self, sample: Sample, style: Style) -> str:
        """Return the prompt of a sample among demonstrations."""
        return example(sample, style, self._space)

    def labelled(self, rows: Rows, split: Path | None = None) -> Iterator[Given]:
        """Yield generated texts of the published form (:func:`.outputs.read_outputs`)."""
        return read_outputs(rows, self._space, split)

    def everything(self, folder: Path | None = None) -> tuple[Sample, ...]:
        """Return all of them."""
        return self.read(folder).samples


FYELP, AMAZON, YELP, MIXTURE = map(_Dataset, spaces.PUBLISHED)
