"""The values of many outputs: columns of statistics, and the scores that they make."""

import sys
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spor_tasks.core.errors import ResultError
from spor_tasks.metrics.base import ScoreInfo, Values
from spor_tasks.metrics.totals import MEAN, Less, Numbers, Totals, Value, added, has_verdict


@dataclass(frozen=True, slots=True)
class ScoreValue:
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
        rows = np.zeros((len(self.statistics), 2 * width))
        for start, each in ((0, self), (width, second)):
            end = start + each.statistics.shape[1]
            rows[:, start:end] = np.nan_to_num(each.statistics)
        rows[~(self.scored | second.scored)] = np.nan
        return Column(rows, Less(self.totals, second.totals))

    def score(self, name: str, signature: str) -> ScoreValue:
        """Return the value with what it takes to trust it."""
        n = int(self.scored.sum())
        return ScoreValue(name, self.value, n, len(self.statistics) - n, signature)


class Tally:
    """Collects the values of many outputs by score."""

    def __init__(self, infos: Iterable[ScoreInfo]) -> None:
        self._infos = {info.name: info for info in infos}
        self._values: dict[str, list[Value]] = {name: [] for name in self._infos}
        self._outputs = {name: array("L") for name, info in self._infos.items() if info.of_some}
        self._count = 0

    def add(self, values: Values) -> None:
        """Add the values of one output, one for each score that is not of some samples only."""
        for name, value in values.items():
            self._values[name].append(value)
            if name in self._outputs:
                self._outputs[name].append(self._count)
        self._count += 1

    @property
    def infos(self) -> tuple[ScoreInfo, ...]:
        """The scores that there always are, and the others that there are values for."""
        return tuple(
            info for name, info in self._infos.items() if self._values[name] or not info.of_some
        )

    def column(self, name: str) -> Column:
        """Return the column of one score, of the outputs that have a value for it."""
        return Column.of(self._values[name], self._infos[name].totals)

    def outputs(self, name: str) -> NDArray[np.int64]:
        """Return the numbers of the outputs that a column is of, from 0; most are of all."""
        of_some = self._outputs.get(name)
        return np.arange(self._count) if of_some is None else np.array(of_some, np.int64)

    def scores(self, signature: str) -> tuple[ScoreValue, ...]:
        """Return all scores."""
        names = (info.name for info in self.infos)
        return tuple(self.column(name).score(name, signature) for name in names)
