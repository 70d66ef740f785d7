"""The values of many outputs: columns of statistics, and the scores that they make."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spor_tasks.core.errors import ResultError
from spor_tasks.metrics.base import ScoreInfo, Values
from spor_tasks.metrics.totals import (
    MEAN,
    Less,
    Numbers,
    Totals,
    Value,
    added,
    has_verdict,
    widened,
)


@dataclass(frozen=True, slots=True)
class ScoreValue:
    """A number and what it takes to trust it.

    ``value`` is on the paper's scale (0 to 100; τ in [-1, 1]) and NaN where there was nothing to
    score. ``n`` counts the outputs behind it, ``unscored`` those without a verdict. ``signature``
    holds whatever can change the number, as ``key:value`` pairs joined by ``|``. ``interval`` is
    the bootstrap's, where one was asked for, and ``reason`` says why there is none.
    """

    name: str
    value: float
    n: int
    unscored: int
    signature: str
    interval: tuple[float, float] | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """The statistics of one score, a row for each output, and how their totals make it."""

    statistics: Numbers
    totals: Totals = MEAN

    @classmethod
    def of(cls, values: Sequence[Value], totals: Totals = MEAN) -> "Column":
        """Return the column of these values.

        Raises:
            ResultError: a value is of another kind of score.
        """
        try:
            return cls(totals.statistics(values), totals)
        except (TypeError, ValueError) as error:
            raise ResultError(f"has a value of another kind of score: {error}") from error

    @classmethod
    def joined(cls, columns: Sequence["Column"]) -> "Column":
        """Return the column of the outputs of several splits, which may be of different kinds."""
        totals = columns[0].totals
        return cls(totals.joined([column.statistics for column in columns]), totals)

    @property
    def scored(self) -> NDArray[np.bool_]:
        """A mask of the outputs that have a verdict."""
        return has_verdict(self.statistics)

    @property
    def value(self) -> float:
        """The score, the same to the last bit in whatever order the outputs come."""
        return float(self.totals.score(added(self.statistics)))

    @property
    def each(self) -> Numbers:
        """The score of each output alone, NaN for one without a verdict."""
        return self.totals.score(self.statistics)

    @property
    def shares(self) -> Numbers:
        """How much each output counts in the score, together 1, such as its share of all words."""
        sizes = np.where(self.scored, self.totals.sizes(np.nan_to_num(self.statistics)), 0.0)
        if not sizes.any():  # no output has a word
            sizes = self.scored.astype(np.float64)
        shares: Numbers = sizes / max(sizes.sum(), sys.float_info.min)
        return shares

    def take(self, outputs: NDArray[Any]) -> "Column":
        """Return the column of some of the outputs, by their numbers or a mask."""
        return Column(self.statistics[outputs], self.totals)

    def without_verdicts(self, outputs: int) -> "Column":
        """Return a column of the same score for so many outputs without a verdict."""
        return Column(np.full((outputs, self.statistics.shape[1]), np.nan), self.totals)

    def less(self, second: "Column") -> "Column":
        """Return the column of this score less another one, of the same outputs or of others."""
        width = max(each.statistics.shape[1] for each in (self, second))
        halves = (widened(each.statistics, width) for each in (self, second))
        rows = np.nan_to_num(np.hstack([*halves]))
        rows[~(self.scored | second.scored)] = np.nan
        return Column(rows, Less(self.totals, second.totals))

    def score(self, name: str, signature: str) -> ScoreValue:
        """Return the value with what it takes to trust it."""
        n = int(self.scored.sum())
        return ScoreValue(name, self.value, n, len(self.statistics) - n, signature)


def columns_of(
    infos: Iterable[ScoreInfo], values: Sequence[Values]
) -> Iterator[tuple[ScoreInfo, Column, NDArray[np.bool_]]]:
    """Yield each score with its column, and a mask of the outputs that this is of.

    A score of some samples only is left out where no output has a value for it.
    """
    for info in infos:
        named = np.array([info.name in of_output for of_output in values], bool)
        if named.any() or not info.of_some:
            column = Column.of([of_output.get(info.name) for of_output in values], info.totals)
            yield info, column.take(named), named
