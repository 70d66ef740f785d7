"""Demonstrations of benchmarks without aspects: similar tables, or combinations of attributes.

An arm may be larger than memory: of its samples, only the headers of their tables are kept, or the
numbers of each combination.
"""

import hashlib
import random
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import DataUnit, Sample
from spor_tasks.corpora.tables import header_of


class Overlaps:
    """Sets, found by what they share with another set, without comparing with all of them."""

    def __init__(self, sets: Collection[Collection[Hashable]]) -> None:
        self._sizes = np.array([*map(len, sets)], dtype=np.int32)
        having: dict[Hashable, list[int]] = defaultdict(list)
        for number, items in enumerate(sets):
            for item in items:
                having[item].append(number)
        self._having = {item: np.array(numbers, np.int32) for item, numbers in having.items()}

    def likeness(self, items: AbstractSet[Hashable]) -> NDArray[np.float64]:
        """Return the share of what each set and this one have in what either has (Jaccard)."""
        common = np.zeros(len(self._sizes), np.int32)
        for item in items & self._having.keys():
            common[self._having[item]] += 1
        union = self._sizes + len(items) - common
        likeness: NDArray[np.float64] = common / np.maximum(1, union)
        return likeness


class _TableSamples(NamedTuple):
    """A table, and the numbers of its samples."""

    name: str
    title: str
    samples: list[int]


def similar_tables(
    arm: str, samples: Sequence[Sample], most: int
) -> Callable[[Sample], tuple[Sample, ...]]:
    """Return the function that chooses ``most`` demonstrations of a test sample.

    They are about the tables whose headers are most like that of the sample, by the share of
    columns that both have (Jaccard), one sample of each. The sample's digest decides ties and
    chooses the sample of a table. Tables with the name or the title of the test table are left
    out. The most similar one stands last, next to the question.

    Raises:
        SplitError: the arm has no sample with a table.
        CorpusError: a table is malformed.
    """
    tables: dict[str, _TableSamples] = {}
    by_header: dict[frozenset[str], list[_TableSamples]] = defaultdict(list)
    for number, sample in enumerate(samples):
        if "table" not in sample.context:
            continue
        name = str(sample.about("name"))
        if name not in tables:
            tables[name] = _TableSamples(name, str(sample.about("title")), [])
            by_header[header_of(sample)].append(tables[name])
        tables[name].samples.append(number)
    if not tables:
        raise SplitError(f"{arm} has no sample with a table")
    headers, with_header = Overlaps(by_header), [*by_header.values()]

    @cache  # a test table has several samples
    def ranked(name: str, title: str, header: frozenset[str]) -> list[_TableSamples]:
        best: list[_TableSamples] = []
        likeness = headers.likeness(header)
        while len(best) < most and (highest := likeness.max()) >= 0:
            (equal,) = np.nonzero(likeness == highest)
            likeness[equal] = -1
            near = [table for number in equal for table in with_header[number]]
            different = [table for table in near if table.name != name and table.title != title]
            best += sorted(different, key=lambda table: _draw(name, table.name), reverse=True)
        return best[:most]

    def choose(sample: Sample) -> tuple[Sample, ...]:
        near = ranked(str(sample.about("name")), str(sample.about("title")), header_of(sample))
        return tuple(
            max(
                (samples[number] for number in table.samples),
                key=lambda candidate: _draw(sample.id, candidate.id),
            )
            for table in reversed(near)
        )

    return choose


def same_or_other_combinations(
    arm: str, samples: Sequence[Sample], most: int
) -> Callable[[Sample], tuple[Sample, ...]]:
    """Return the function that chooses ``most`` demonstrations, as CompMCTG has it (2024).

    If the arm has texts of the sample's combination, they are of it. If not, each is of another
    combination, all as likely; only where there are fewer is one shown again. The sample's id is
    the seed.

    Raises:
        SplitError: the arm has no sample.
    """
    numbers: dict[frozenset[DataUnit], list[int]] = defaultdict(list)
    for number, sample in enumerate(samples):
        numbers[frozenset(sample.units)].append(number)
    if not numbers:
        raise SplitError(f"{arm} has no samples")
    combinations = [*numbers]

    def choose(sample: Sample) -> tuple[Sample, ...]:
        rng = random.Random(sample.id)
        same = numbers.get(frozenset(sample.units))
        if same is not None:
            drawn = rng.sample(same, min(most, len(same)))
        else:
            chosen: list[frozenset[DataUnit]] = []
            while len(chosen) < most:
                chosen += rng.sample(combinations, len(combinations))
            drawn = [rng.choice(numbers[combination]) for combination in chosen[:most]]
        return tuple(samples[number] for number in drawn)

    return choose


def _draw(*names: str) -> str:
    """Return a digest that orders things at random, the same way each time."""
    return hashlib.sha256("\n".join(names).encode()).hexdigest()
