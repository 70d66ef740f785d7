"""What tells in a sentence that it is about a linked column."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from spor_tasks.core.sample import Sample
from spor_tasks.corpora.logicnlg.linearize import linked_columns, table_of


def told_alone(samples: Iterable[Sample]) -> tuple[Sample, ...]:
    """Return the samples without the other statements about their tables among the references."""
    return tuple(replace(sample, references=(sample.target,)) for sample in samples)


def surface(sample: Sample) -> tuple[tuple[str, ...], ...]:
    """Return for each linked column its name and its different cells, as they are written.

    Raises:
        CorpusError: the sample has no table, or its units do not name columns of it.
    """
    return tuple(tuple(dict.fromkeys(told)) for told in cells_of_columns(sample))


def cells_of_columns(sample: Sample) -> Iterator[tuple[str, ...]]:
    """Yield the name of each linked column, and its cells.

    Raises:
        CorpusError: as :func:`surface`.
    """
    rows = table_of(sample).rows
    for unit, column in zip(sample.units, linked_columns(sample), strict=True):
        yield (unit[0], *(row[column] for row in rows if column < len(row)))
