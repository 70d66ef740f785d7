"""The embedded corpora: rows of a packaged file each, in the format of :mod:`core.codec`.

Each benchmark has one in miniature, so that everything runs without a download. Names, facts and
wordings are invented; `docs/generators` has the scripts that made the files. A row also has
``split``, the part that it belongs to.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.files import INSTALL_AGAIN, JsonObject, read_rows
from spor_tasks.core.sample import Sample, SampleMaker
from spor_tasks.corpora.base import Corpus
from spor_tasks.corpora.compmctg import corpus_of
from spor_tasks.corpora.embedded.attributes import SPACE
from spor_tasks.corpora.jsonl import read_samples
from spor_tasks.corpora.logicnlg.linearize import linearize as linearize_columns
from spor_tasks.corpora.totto.linearize import linearize as linearize_cells
from spor_tasks.corpora.webnlg.linearize import linearize as linearize_triples

FOLDER = Path(__file__).parent
"""The folder of the files."""


@cache
def _parts(name: str) -> Mapping[str, tuple[Sample, ...]]:
    rows = defaultdict[str, list[tuple[str, JsonObject]]](list)
    try:
        for place, row in read_rows(FOLDER / f"{name}.jsonl.gz"):
            rows[row.get("split", "train")].append((place, row))
        parts = {
            # Each part numbers equal samples on its own.
            part: tuple(sample for _, _, sample in read_samples(of_part, SampleMaker(name)))
            for part, of_part in rows.items()
        }
    except CorpusError as error:
        raise CorpusError(error.what, where=error.where, remedy=INSTALL_AGAIN) from error
    return MappingProxyType(parts)


def _statements(_: Path | None) -> Mapping[str, tuple[Sample, ...]]:
    """Return the true statements of each part, and as ``pairs`` test samples with false ones.

    The context of a pair also has ``other_program``, that of the false text.
    """
    parts = _parts("logicnlg_mini")

    def alone(sample: Sample) -> Sample:
        context = {key: fact for key, fact in sample.context.items() if key != "other_program"}
        return replace(sample, context=context, challenge=None)

    true = {name: tuple(map(alone, samples)) for name, samples in parts.items()}
    return {**true, "pairs": parts["test"]}


MINI = Corpus(name="mini", parts=lambda _: _parts("mini"), linearize=linearize_triples)
TOTTO_MINI = Corpus(
    name="totto_mini",
    parts=lambda _: _parts("totto_mini"),
    linearize=linearize_cells,
    units="cells",
)
LOGICNLG_MINI = Corpus(
    name="logicnlg_mini", parts=_statements, linearize=linearize_columns, units="columns"
)
COMPMCTG_MINI = replace(corpus_of(SPACE), parts=lambda _: _parts(SPACE.name))
"""Texts with attributes. The test samples may train classifiers, and the part ``held_out``, whose
texts are none of the training set's, nothing."""
