"""JSON Lines files of samples, one row (:mod:`spor_tasks.core.codec`) per line.

Released sets, built sets and the user's own corpora have this format.
"""

import io
from collections.abc import Iterable, Iterator

from spor_tasks.core.codec import from_row
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.files import JsonObject, parse_rows
from spor_tasks.core.references import with_references
from spor_tasks.core.sample import DataUnit, Sample, SampleMaker


def parse_samples(content: bytes, corpus: str, *, where: str) -> tuple[Sample, ...]:
    """Return the samples of a JSON Lines file's content; ``where`` names it in errors.

    Raises:
        CorpusError: it has no samples, or a row is malformed; the error names line and field.
    """
    rows = parse_rows(io.BytesIO(content), where)
    samples = tuple(sample for _, _, sample in read_samples(rows, SampleMaker(corpus)))
    if not samples:
        raise CorpusError("has no samples", where=where)
    return samples


def read_samples(
    rows: Iterable[tuple[str, JsonObject]], make: SampleMaker
) -> Iterator[tuple[str, JsonObject, Sample]]:
    """Yield the place, the row and the sample of each row of a file, in order.

    Raises:
        CorpusError: a row is malformed, none of its texts is a reference, or its units are pairs
            and those before were triples, or the reverse; the error names place and field.
    """
    unit: type[DataUnit] | None = None
    for place, row in rows:
        sample = with_references(from_row(row, make, where=place, unit=unit), make, where=place)
        unit = type(sample.units[0])
        yield place, row, sample
