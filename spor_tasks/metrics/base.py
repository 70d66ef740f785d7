"""The contract of a metric: evidence of one output first, the scores of many second.

The two steps are what the harness calls `process_results` and aggregation. Between them stand
values, what one output adds to each score: they are the unit that a bootstrap resamples and that a
paired test compares, so every consumer works from one computation.
"""

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Value: TypeAlias = float | tuple[int, float] | None
"""What an output adds to a score: a number on the score's scale, or None for no verdict.

A number that stands with a group is averaged within it first, then over groups: CWIO's are the
numbers of units.
"""

Values: TypeAlias = Mapping[str, Value]
"""Values by the names of their scores; an output adds nothing to a score that is not named."""


@dataclass(frozen=True, slots=True)
class Score:
    """A number and what it takes to trust it.

    ``value`` is on the paper's scale (0 to 100; τ in [-1, 1]) and NaN where there was nothing to
    score. ``n`` counts the outputs behind it, ``unscored`` those without a verdict. ``signature``
    holds whatever can change the number, as ``key:value`` pairs joined by ``|``. ``interval`` is
    the bootstrap's, where one was asked for.
    """

    name: str
    value: float
    n: int
    unscored: int
    signature: str
    interval: tuple[float, float] | None = None


SampleT_contra = TypeVar("SampleT_contra", contravariant=True)
OutputT_contra = TypeVar("OutputT_contra", contravariant=True)
EvidenceT = TypeVar("EvidenceT")


class Metric(Protocol[SampleT_contra, OutputT_contra, EvidenceT]):
    """A metric with its settings; it keeps nothing from one output to the next.

    What the model did wrong lowers a score; what is wrong with the sample raises a `SporError`.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The scores that there always are; values may add to others besides."""

    @property
    def signature(self) -> str:
        """Whatever can change the numbers."""

    def measure(self, sample: SampleT_contra, output: OutputT_contra) -> EvidenceT:
        """Return all that the metric finds in one output."""

    def values(self, evidence: EvidenceT) -> Values:
        """Return what one output adds to each score."""

    def reduce(self, evidence: Iterable[EvidenceT]) -> tuple[Score, ...]:
        """Return the scores of many outputs, whatever their order."""


class Column(NamedTuple):
    """The values of one score, in the order of the outputs; NaN is no verdict."""

    numbers: NDArray[np.float64]
    groups: NDArray[np.integer]

    @property
    def value(self) -> float:
        """The mean over groups of the mean of each; most columns are one group."""
        scored = ~np.isnan(self.numbers)
        numbers, groups = self.numbers[scored], self.groups[scored]
        return _mean([_mean(numbers[groups == group]) for group in np.unique(groups)])

    def score(self, name: str, signature: str) -> Score:
        """Return the value with what it takes to trust it."""
        unscored = int(np.isnan(self.numbers).sum())
        return Score(name, self.value, len(self.numbers) - unscored, unscored, signature)


def _mean(numbers: Sequence[float] | NDArray[np.float64]) -> float:
    """Return the mean, the same to the last bit in whatever order the numbers come."""
    return math.fsum(numbers) / len(numbers) if len(numbers) else math.nan


class Tally:
    """Collects the values of many outputs as bare numbers, sixteen bytes each."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(names)
        self._columns: dict[str, tuple[array[float], array[int], array[int]]] = {}
        self._count = 0
        for name in self._names:
            self._begin(name)

    def _begin(self, name: str) -> None:
        self._columns[name] = array("d"), array("I"), array("I")

    def add(self, values: Values) -> None:
        """Add the values of one output."""
        for name, value in values.items():
            if name not in self._columns:
                self._begin(name)
            numbers, groups, outputs = self._columns[name]
            group, number = value if isinstance(value, tuple) else (0, value)
            numbers.append(math.nan if number is None else number)
            groups.append(group)
            outputs.append(self._count)
        self._count += 1

    @property
    def names(self) -> tuple[str, ...]:
        """The scores given at first, then the others that there are values for."""
        return *self._names, *sorted(self._columns.keys() - set(self._names))

    def column(self, name: str) -> Column:
        """Return the values of one score."""
        numbers, groups, _ = self._columns[name]
        return Column(np.array(numbers), np.array(groups))

    def outputs(self, name: str) -> NDArray[np.integer]:
        """Return the numbers of the outputs that a column is of, from 0; most are of all."""
        return np.array(self._columns[name][2])


def reduce_values(
    names: Iterable[str], values: Iterable[Values], signature: str
) -> tuple[Score, ...]:
    """Return the scores of the given names, then of others that there are values for."""
    tally = Tally(names)
    for each in values:
        tally.add(each)
    return tuple(tally.column(name).score(name, signature) for name in tally.names)
