"""Demonstrations about tables that are like the table of the test sample."""

import hashlib
import heapq
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TypeAlias

from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import Sample, SplitPair

_Shown: TypeAlias = tuple[tuple[Sample, ...], ...]


def similar_tables(pair: SplitPair, most: int) -> Callable[[Sample], _Shown | None]:
    """Return what finds the demonstrations of a test sample: ``most`` of each arm.

    They are about the tables whose headers are most like that of the sample, by the share of
    columns that both have (Jaccard), one sample of each; the sample's digest decides ties, and
    which sample of a table is shown. Tables with the name or the title of the test table are left
    out. The most similar one stands last, next to the question.

    Raises:
        SplitError: an arm has no sample with a table.
    """
    choices = [_choice(arm.samples, arm.name, most) for arm in pair.arms]

    def demonstrate(sample: Sample) -> _Shown | None:
        shown = tuple(choose(sample) for choose in choices)
        return shown if all(shown) else None

    return demonstrate


def _choice(
    samples: Sequence[Sample], arm: str, most: int
) -> Callable[[Sample], tuple[Sample, ...]]:
    tables: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        if "table" in sample.context:
            tables[str(sample.about("name"))].append(sample)
    if not tables:
        raise SplitError(f"{arm} has no sample with a table")
    headers = {name: header_of(of[0]) for name, of in tables.items()}

    @cache  # a test table has several samples
    def ranked(name: str, title: str, header: frozenset[str]) -> list[str]:
        likeness: Mapping[str, float] = {
            other: len(header & known) / max(1, len(header | known))
            for other, known in headers.items()
            if other != name and tables[other][0].about("title") != title
        }
        return heapq.nlargest(
            most, likeness, key=lambda other: (likeness[other], _draw(name, other))
        )

    def choose(sample: Sample) -> tuple[Sample, ...]:
        near = ranked(str(sample.about("name")), str(sample.about("title")), header_of(sample))
        return tuple(
            max(tables[name], key=lambda shown: _draw(sample.id, shown.id))
            for name in reversed(near)
        )

    return choose


def header_of(sample: Sample) -> frozenset[str]:
    """Return the names of the columns of a sample's table, in lower case."""
    table = sample.context["table"]
    if not isinstance(table, Mapping) or not isinstance(header := table["header"], Sequence):
        raise SplitError("has a table without a header", where=f"sample {sample.id}")
    return frozenset(str(name).lower() for name in header)


def _draw(*names: str) -> str:
    """Return a digest that orders things at random, the same way each time."""
    return hashlib.sha256("\n".join(names).encode()).hexdigest()
