"""How the values of outputs add up to a score.

A value becomes *statistics*, a row of numbers. Their sums over outputs, the *totals*, make the
score. A mean of outputs is one such score; corpus BLEU or a perplexity is another. Statistics are
what a bootstrap resamples and a randomization test exchanges.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from statistics import variance
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[np.float64]

Value: TypeAlias = "float | tuple[float, ...] | Answers | None"
"""What an output adds to a score, as it is logged; None is no verdict."""

_STEP = 1e-4  # by which a jackknife changes the weight of a part
_MOST_GROUPS = 1_000
_AT_ONCE = 256  # outputs that a jackknife weighs together, to bound its memory


no_verdict = np.errstate(invalid="ignore", divide="ignore", over="ignore")
"""Lets a score divide by nothing: 0 / 0 is NaN, no verdict."""


class Totals(ABC):
    """How values become statistics, and totals a score.

    A score that is not ``resampled`` has neither intervals nor tests: outputs drawn twice would
    change it, as they do a number of different words.
    """

    resampled: ClassVar[bool] = True
    is_logged: ClassVar[bool] = True
    """Whether the logged values of outputs give the score again."""

    @abstractmethod
    def statistics(self, values: Sequence[Value]) -> Numbers:
        """Return the statistics of each value, of shape (values, k); no verdict is a row of NaN.

        ``k`` is 1 or more. Two systems are tested by exchanging their totals of the same outputs,
        column by column, as :meth:`common` gives them.

        Raises:
            TypeError, ValueError: a value is not one of such a score.
        """

    @abstractmethod
    def score(self, totals: Numbers) -> Numbers:
        """Return the score of each row of totals, of shape (..., k); NaN means no verdict."""

    def joined(self, parts: Sequence[Numbers]) -> Numbers:
        """Return the statistics of the outputs of several splits together."""
        return np.concatenate(parts)

    def common(self, systems: Sequence[Numbers]) -> Numbers:
        """Return totals of the same outputs with the same columns for each of several systems.

        A row of a system is the totals of some outputs, which all systems have a verdict on.
        """
        width = max(each.shape[1] for each in systems)
        return np.stack([widened(each, width) for each in systems])

    def sizes(self, statistics: Numbers) -> Numbers:
        """Return how much each output counts in the score, to a factor; here all count alike."""
        return np.ones(len(statistics))

    def value(self, values: Sequence[Value]) -> float:
        """Return the score of these values, the same to the last bit whatever their order."""
        return float(self.score(added(self.statistics(values))))

    def pulls(self, totals: Numbers, parts: Numbers) -> Numbers:
        """Return how far each part of the totals pulls the score, of shape (parts,).

        This is the infinitesimal jackknife (Jaeckel, 1972): the derivative of the score by the
        weight of a part. No part is left out, so that a group of one output stays a group.
        """
        steps = _STEP * parts
        return (self.score(totals + steps) - self.score(totals - steps)) / (2 * _STEP)

    def stderr(self, values: Sequence[Value]) -> float:
        """Return the standard error of the score, NaN where there are fewer than two verdicts.

        Outputs count as independent.
        """
        statistics = self.statistics(values)
        statistics = statistics[has_verdict(statistics)]
        if (n := len(statistics)) < 2:
            return math.nan
        totals = added(statistics)
        blocks = np.array_split(statistics, -(-n // _AT_ONCE))
        pulls = np.concatenate([self.pulls(totals, rows) for rows in blocks])
        return float(np.std(pulls, ddof=1)) * math.sqrt(n)


def has_verdict(statistics: Numbers) -> NDArray[np.bool_]:
    """Return which rows have a verdict."""
    return ~np.isnan(statistics[:, 0])


def added(statistics: Numbers) -> Numbers:
    """Return the totals of the rows that have a verdict, each rounded once."""
    rows = statistics[has_verdict(statistics)]
    totals: Numbers = rows.sum(axis=0)
    for number in np.flatnonzero((rows != np.rint(rows)).any(axis=0)):  # whole numbers add exactly
        column = rows[:, number]
        totals[number] = math.fsum(column[column != 0].tolist())
    return totals


def widened(statistics: Numbers, width: int) -> Numbers:
    """Return the statistics with columns of zeros after their own, so many in all."""
    return np.pad(statistics, ((0, 0), (0, width - statistics.shape[1])))


def as_rows(values: Sequence[Value], width: int) -> Numbers:
    """Return values of so many numbers as rows; no verdict is a row of NaN.

    Raises:
        TypeError, ValueError: a value is not so many numbers.
    """
    rows = [(math.nan,) * width if value is None else value for value in values]
    return np.array(rows, float).reshape(len(values), width)


def _means(sums: Numbers, counts: Numbers) -> Numbers:
    """Return sums over counts, 0 where nothing was counted."""
    return np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)


class Sums(Totals):
    """A score of several sums; a value is the ``width`` numbers that an output adds."""

    width: ClassVar[int]

    def statistics(self, values: Sequence[Value]) -> Numbers:  # noqa: D102 - as declared
        return as_rows(values, self.width)


class Ratio(Sums):
    """A sum over a sum."""

    width = 2

    @no_verdict
    def score(self, totals: Numbers) -> Numbers:  # noqa: D102 - as declared
        result: Numbers = totals[..., 0] / totals[..., 1]
        return result

    def sizes(self, statistics: Numbers) -> Numbers:  # noqa: D102 - as declared
        return statistics[:, 1]


class _Mean(Ratio):
    """The mean of numbers: each output adds itself and a count of one."""

    def statistics(self, values: Sequence[Value]) -> Numbers:
        numbers = np.array(values, float).reshape(len(values))
        return np.stack([numbers, np.where(np.isnan(numbers), np.nan, 1)], axis=1)


class _CountedMean(_Mean):
    """A mean to which an output may add several times: its value is a number, or sum and count."""

    def statistics(self, values: Sequence[Value]) -> Numbers:
        rows = [value if isinstance(value, tuple | list) else (value, 1) for value in values]
        statistics = np.array(rows, float).reshape(len(values), 2)
        statistics[np.isnan(statistics[:, 0])] = np.nan
        return statistics

    def value(self, values: Sequence[Value]) -> float:
        numbers = [value for value in values if isinstance(value, float | int)]
        if not numbers or any(isinstance(value, tuple) for value in values):
            return super().value(values)
        return sum(numbers) / len(numbers)  # rounded as lm-eval rounds any other mean


class Less(Totals):
    """One score less another, of other outputs; each has half of the statistics.

    A value is a row of statistics.
    """

    def __init__(self, first: Totals, second: Totals) -> None:
        self._first, self._second = first, second

    def statistics(self, values: Sequence[Value]) -> Numbers:  # noqa: D102 - as declared
        return np.array(values, float)

    def score(self, totals: Numbers) -> Numbers:  # noqa: D102 - as declared
        first, second = np.split(totals, 2, axis=-1)
        return self._first.score(first) - self._second.score(second)

    def common(self, systems: Sequence[Numbers]) -> Numbers:  # noqa: D102 - as declared
        halves = [half for each in systems for half in np.split(each, 2, axis=1)]
        both = super().common(halves)
        return np.concatenate([both[::2], both[1::2]], axis=2)

    def sizes(self, statistics: Numbers) -> Numbers:  # noqa: D102 - as declared
        halves = np.split(statistics, 2, axis=1)
        first, second = self._first.sizes(halves[0]), self._second.sizes(halves[1])
        sizes: Numbers = first * second.sum() + second * first.sum()
        return sizes


class RelativeGap(Sums):
    """How much lower the mean of the second kind of outputs is, in per cent of that of the first.

    A value is the number of an output and a one, in the two places of its kind, and zeros.
    """

    width = 4

    @no_verdict
    def score(self, totals: Numbers) -> Numbers:  # noqa: D102 - as declared
        first, second = (totals[..., i] / totals[..., i + 1] for i in (0, 2))
        result = 100 * (first - second) / first
        return np.where(np.isfinite(result), result, np.nan)


class Answers(NamedTuple):
    """How well an output answers what was asked, and its kind under each of several splits."""

    kinds: tuple[int, ...]
    """0 or 1 under each split; one number without splits."""
    right: Mapping[str, float]
    """How well, by what was asked."""


class GapOfSame(Totals):
    """The drop in the mean from the first kind of outputs to the second, for equal questions.

    A value is :class:`Answers`. The second kind's mean is compared with what the first kind's would
    be if it had been asked for each thing as often. So the score is zero for a system whose answers
    depend on what is asked alone, or on nothing. Things of one kind alone do not count. The same
    thing under another split is another thing.
    """

    def statistics(self, values: Sequence[Value]) -> Numbers:
        """Return sum and count of the first kind, then of the second, by split and thing asked."""
        answers = [value if value is None else _answers(value) for value in values]
        present = [each for each in answers if each]
        if len({(len(each.kinds), len(each.right)) for each in present}) > 1:
            raise ValueError("outputs are of different numbers of splits or questions")
        names = sorted({thing for each in present for thing in each.right})
        things = {thing: place for place, thing in enumerate(names or [""])}
        splits = len(present[0].kinds) if present else 1
        is_of_kind = np.full((len(values), splits, 2), np.nan)  # NaN where there is no verdict
        asked = np.zeros((len(values), len(things), 2))
        for of_kind, of_things, each in zip(is_of_kind, asked, answers, strict=True):
            if each:
                of_kind[:] = np.eye(2)[[*each.kinds]]
                places = [things[thing] for thing in each.right]
                of_things[places, 0], of_things[places, 1] = [*each.right.values()], 1
        parts = is_of_kind[:, :, None, :, None] * asked[:, None, :, None, :]
        statistics: Numbers = parts.reshape(len(values), 4 * splits * len(things))
        return statistics

    @no_verdict
    def score(self, totals: Numbers) -> Numbers:  # noqa: D102 - as declared
        sums_1, counts_1, sums_2, counts_2 = (totals[..., place::4] for place in range(4))
        shares = np.where(counts_1 > 0, counts_2, 0)
        gaps = shares * (_means(sums_1, counts_1) - _means(sums_2, counts_2))
        result: Numbers = gaps.sum(axis=-1) / shares.sum(axis=-1)  # nothing in common: 0 / 0
        return result

    def joined(self, parts: Sequence[Numbers]) -> Numbers:
        """Return the statistics, in which each split has columns of its own."""
        from scipy.linalg import block_diag  # slow to import, and scores need none of it

        joined: Numbers = block_diag(*map(np.nan_to_num, parts))
        joined[~np.concatenate([has_verdict(part) for part in parts])] = np.nan
        return joined

    def common(self, systems: Sequence[Numbers]) -> Numbers:
        """Return totals of the same outputs with the same columns for each of several systems.

        Logs may name a thing otherwise, and other outputs may be asked for other things. So the
        order of things is that of the numbers of these outputs that are asked for them.
        """
        found = []
        for totals in systems:
            things = np.ascontiguousarray(totals.T).reshape(-1, 4, len(totals))
            counts = things[:, 1::2]
            present = np.flatnonzero(counts.any(axis=(1, 2)))
            order = sorted(present, key=lambda thing: counts[thing].tobytes())
            found.append(things[order].reshape(-1, len(totals)).T)
        return super().common(found)


def _answers(value: Value) -> Answers:
    """Return a value as :class:`Answers`.

    In logs of version 0.2 it is a kind, or the bits of several after a leading 1. Then follow two
    numbers for each question: one for what was asked, and how well.

    Raises:
        TypeError, ValueError: it is neither.
    """
    if isinstance(value, Answers):
        if not value.kinds or not {*value.kinds} <= {0, 1}:
            raise ValueError("kinds must be 0 or 1")
        return value
    kind, *numbers = value  # type: ignore[misc]
    bits = f"{int(kind):b}"
    if not numbers or len(numbers) % 2 or kind < 0 or len(bits) == 2:
        raise ValueError("a value must be its kinds, and then two numbers for each question")
    kinds = bits if len(bits) == 1 else bits[1:]
    questions = enumerate(zip(numbers[::2], numbers[1::2], strict=True))
    right = {f"{place} {thing:.0f}": how_well for place, (thing, how_well) in questions}
    return Answers(tuple(map(int, kinds)), right)


class _GroupMeans(Totals):
    """The mean over groups of the mean of each; a value is its group's number and a number.

    The groups are the numbers of units of CWIO.
    """

    def statistics(self, values: Sequence[Value]) -> Numbers:
        """Return the number, and a one, each in the two columns of its group.

        A group has the same columns whatever other groups there are.
        """
        groups, numbers = as_rows(values, 2).T
        present = np.flatnonzero(~np.isnan(numbers))
        if not np.isin(groups[present], np.arange(_MOST_GROUPS)).all():
            raise ValueError(f"a group must be a whole number below {_MOST_GROUPS}")
        codes = groups[present].astype(np.int64)
        statistics = np.full((len(values), 2 * (1 + codes.max(initial=0))), np.nan)
        statistics[present] = 0
        statistics[present, 2 * codes] = numbers[present]
        statistics[present, 2 * codes + 1] = 1
        return statistics

    @no_verdict
    def score(self, totals: Numbers) -> Numbers:
        counts = totals[..., 1::2]
        means = _means(totals[..., ::2], counts)
        # A single score is rounded once; of resamples nobody sees the last digits.
        sums = np.float64(math.fsum(means)) if means.ndim == 1 else means @ np.ones(means.shape[-1])
        result: Numbers = sums / (counts > 0).sum(axis=-1)
        return result

    def sizes(self, statistics: Numbers) -> Numbers:
        counts = statistics[:, 1::2]
        sizes: Numbers = (counts / np.maximum(counts.sum(axis=0), 1)).sum(axis=1)
        return sizes

    def stderr(self, values: Sequence[Value]) -> float:
        """Return the standard error, NaN where a group has one output only.

        The sizes of the groups are fixed, and the outputs are independent. So it is √(Σ s²/n) over
        the number of groups, with s the sample standard deviation and n the size of each.
        """
        statistics = self.statistics(values)
        variances = list[float]()
        for numbers, counts in zip(statistics.T[::2], statistics.T[1::2], strict=True):
            of_group = numbers[counts > 0].tolist()
            if n := len(of_group):
                variances.append(variance(of_group) / n if n > 1 else math.nan)
        return math.sqrt(math.fsum(variances)) / len(variances) if variances else math.nan


MEAN = _Mean()
COUNTED_MEAN = _CountedMean()
RATIO = Ratio()
RELATIVE_GAP = RelativeGap()
GAP_OF_SAME = GapOfSame()
GROUP_MEANS = _GroupMeans()
