"""The embedded corpora: rows of a packaged file each, in the format of :mod:`core.codec`.

Each benchmark has one in miniature, so that everything runs without a download. Names, facts and
wordings are invented; `docs/generators` has the scripts that made the files. A row also has
``split``, the part that it belongs to.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.files import INSTALL_AGAIN, read_rows
from spor_tasks.core.sample import CorpusSamples, Sample
from spor_tasks.corpora.base import Style
from spor_tasks.corpora.compmctg.linearize import example, preamble
from spor_tasks.corpora.compmctg.linearize import linearize as linearize_codes
from spor_tasks.corpora.compmctg.outputs import Given, Rows, read_outputs
from spor_tasks.corpora.embedded.attributes import SPACE
from spor_tasks.corpora.jsonl import RowReader
from spor_tasks.corpora.logicnlg.linearize import linearize as linearize_columns
from spor_tasks.corpora.totto.linearize import linearize as linearize_cells
from spor_tasks.corpora.webnlg.linearize import linearize as linearize_triples

FOLDER = Path(__file__).parent
"""The folder of the files."""


@dataclass(frozen=True)
class EmbeddedCorpus:
    """A corpus in a file of this package, with the parts ``train``, ``test`` and perhaps others."""

    name: str
    linearize: Callable[[Sample, Style], str]

    def part(self, name: str) -> tuple[Sample, ...]:
        """Return the samples of a part, the same objects in each call.

        Raises:
            CorpusError: the file is damaged; the error names its line.
        """
        return _parts(self.name)[name]

    def read(self, folder: Path | None = None) -> CorpusSamples:  # noqa: ARG002 - it is packaged
        """Return the training and test samples.

        Raises:
            CorpusError: as :meth:`part`.
        """
        return CorpusSamples(self.name, self.part("train"), self.part("test"))

    def everything(self, folder: Path | None = None) -> tuple[Sample, ...]:
        """Return the samples of :meth:`read`, then those for validation.

        Raises:
            CorpusError: as :meth:`part`.
        """
        return (*self.read(folder).samples, *_parts(self.name).get("validation", ()))


class _Statements(EmbeddedCorpus):
    """Statements about tables; those to test also have a false counterpart each."""

    def part(self, name: str) -> tuple[Sample, ...]:
        """Return the true statements of a part, without the false ones.

        Raises:
            CorpusError: the file is damaged; the error names its line.
        """
        return tuple(map(_alone, super().part(name)))

    def pairs(self) -> tuple[Sample, ...]:
        """Return the test samples with their false counterparts as challenges.

        The context also has ``other_program``, that of the false text.

        Raises:
            CorpusError: as :meth:`part`.
        """
        return super().part("test")


class _Codes(EmbeddedCorpus):
    """Texts with attributes. The test samples of :meth:`read` may train classifiers.

    The part ``held_out`` has texts that no model is trained on.
    """

    preamble = staticmethod(preamble)

    def example(self, sample: Sample, style: Style) -> str:
        """Return the prompt of a sample among demonstrations."""
        return example(sample, style, SPACE)

    def labelled(self, rows: Rows, split: Path | None = None) -> Iterator[Given]:
        """Yield generated texts of the published form, as the other corpora do."""
        return read_outputs(rows, SPACE, split)


def _alone(sample: Sample) -> Sample:
    context = {key: value for key, value in sample.context.items() if key != "other_program"}
    return replace(sample, context=context, challenge=None)


@cache
def _parts(name: str) -> Mapping[str, tuple[Sample, ...]]:
    try:
        return MappingProxyType(_read(FOLDER / f"{name}.jsonl.gz", name))
    except CorpusError as error:
        raise CorpusError(error.what, where=error.where, remedy=INSTALL_AGAIN) from error


def _read(path: Path, name: str) -> dict[str, tuple[Sample, ...]]:
    parts: dict[str, list[Sample]] = {"train": [], "test": []}
    readers = defaultdict[str, RowReader](lambda: RowReader(name))
    for place, row in read_rows(path):
        part = row.get("split", "train")
        parts.setdefault(part, []).append(readers[part](row, place))
    if not all(parts.values()):
        raise CorpusError("lacks training or test samples", where=path)
    return {part: tuple(samples) for part, samples in parts.items()}


MINI = EmbeddedCorpus("mini", linearize_triples)
TOTTO_MINI = EmbeddedCorpus("totto_mini", linearize_cells)
LOGICNLG_MINI = _Statements("logicnlg_mini", linearize_columns)
COMPMCTG_MINI = _Codes(SPACE.name, linearize_codes)
