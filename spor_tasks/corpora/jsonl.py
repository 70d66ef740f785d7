"""JSON Lines files of samples, one row (:mod:`spor_tasks.core.codec`) per line.

Released sets, built sets and the user's own corpora have this format.
"""

import io
from collections.abc import Mapping
from typing import Any

from spor_tasks.core.codec import from_row
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.files import parse_rows
from spor_tasks.core.sample import DataUnit, Sample, SampleMaker


def parse_samples(content: bytes, corpus: str, *, where: str) -> tuple[Sample, ...]:
    """Return the samples of a JSON Lines file's content; ``where`` names it in errors.

    Raises:
        CorpusError: it has no samples, or a row is malformed; the error names line and field.
    """
    read_row = RowReader(corpus)
    samples = tuple(read_row(row, place) for place, row in parse_rows(io.BytesIO(content), where))
    if not samples:
        raise CorpusError("has no samples", where=where)
    return samples


class RowReader:
    """Reads the rows of one file, in order, as samples of a corpus; all have one type of units."""

    def __init__(self, corpus: str) -> None:
        self._make = SampleMaker(corpus)
        self._unit: type[DataUnit] | None = None

    def __call__(self, row: Mapping[str, Any], where: str) -> Sample:
        """Return the sample of a row.

        Raises:
            CorpusError: the row is malformed, or its units are pairs and those before were triples,
                or the reverse; the error names ``where`` and the field.
        """
        sample = from_row(row, self._make, where=where, unit=self._unit)
        self._unit = type(sample.units[0])
        return sample
