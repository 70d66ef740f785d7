"""Shares of right answers, each document on its own: intervals, and the exact test of two systems.

Two systems on the same documents are described by the documents that only the one, and only the
other, gets right. Any other score, or documents in clusters, are for
:mod:`spor_tasks.results.stats`.
"""

import math
from collections.abc import Sequence

import numpy as np
import scipy  # loads its parts when they are used

from spor_tasks.metrics.tally import Column
from spor_tasks.metrics.totals import MEAN
from spor_tasks.results.stats import ANY, Estimate, Interval, Scale
from spor_tasks.results.student import CONFIDENCE, Variances, reach

_TAIL = (1 - CONFIDENCE) / 2
_Z = float(reach(math.inf))
_SMALLEST = 1e-12  # of a variance, which is 0 where a difference is 1


def share_of(columns: Sequence[Column], scale: Scale = ANY) -> float | None:
    """Return what a right answer counts, 1 or 100; None where scores are no shares.

    A share is a mean of values that are 0 or this number. The number is the upper end of the scale,
    where there is one: values may all be 0.
    """
    scored = columns[0].scored
    if any(column.totals is not MEAN for column in columns):
        return None
    values = np.stack([column.statistics[scored, 0] for column in columns])
    most = scale[1] if math.isfinite(scale[1]) else float(values.max(initial=0)) or 1.0
    return most if most in {1, 100} and np.isin(values, [0, most]).all() else None


def wilson(column: Column, most: float) -> Interval:
    """Return the interval of a share (Wilson, 1927)."""
    n = int(column.scored.sum())
    share, square = column.value / most, _Z**2 / n
    middle = (share + square / 2) / (1 + square)
    around = math.sqrt(share * (1 - share) * square + square**2 / 4) / (1 + square)
    return Interval.within(most * (middle - around), most * (middle + around), "wilson", (0, most))


def paired(first: Column, second: Column, most: float) -> Estimate:
    """Return the second share less the first, with McNemar's exact p (1947)."""
    scored = first.scored
    changes = (second.statistics[scored, 0] - first.statistics[scored, 0]) / most
    n, gained, lost = len(changes), int((changes > 0).sum()), int((changes < 0).sum())
    p = min(1.0, 2 * float(scipy.special.bdtr(min(gained, lost), gained + lost, 0.5)))
    low, high = difference_interval(gained, lost, n)
    variance = most**2 * (gained + lost - (gained - lost) ** 2 / n) / n**2
    none = np.zeros((1, 2))
    return Estimate(
        value=most * (gained - lost) / n,
        interval=Interval.within(most * low, most * high, "exact", (-most, most)),
        n=n,
        clusters=n,
        p=p,
        variances=Variances(np.array([variance]), none, none, none, max(1, n - 1)),
    )


def difference_interval(gained: int, lost: int, n: int) -> tuple[float, float]:
    """Return the interval of the difference of two shares of the same ``n`` documents.

    It is the wider of two at each end: the score interval (Tango, 1998), and that of the exact
    test, the share of gains among the changes (Clopper and Pearson, 1934). The first alone may
    leave out a zero that the exact test does not reject, and the second takes the number of
    changes as known.
    """

    def z(difference: float) -> float:
        """Return by how many standard errors the observed difference is above this one."""
        b = (2 * n - gained + lost) * difference - gained - lost
        root = math.sqrt(max(0.0, b**2 + 8 * n * lost * difference * (1 - difference)))
        likeliest = (root - b) / (4 * n)  # share of losses
        variance = n * (2 * likeliest + difference * (1 - difference))
        return (gained - lost - n * difference) / math.sqrt(max(_SMALLEST, variance))

    def end(side: int) -> float:
        is_inside = side * z(side) >= -_Z
        if is_inside:
            return side
        return float(scipy.optimize.brentq(lambda each: z(each) + side * _Z, -1, 1))

    low, high = end(-1), end(1)
    if changes := gained + lost:
        least = scipy.special.betaincinv(gained, lost + 1, _TAIL) if gained else 0.0
        most = scipy.special.betaincinv(gained + 1, lost, 1 - _TAIL) if lost else 1.0
        low = min(low, float(2 * least - 1) * changes / n)
        high = max(high, float(2 * most - 1) * changes / n)
    return low, high
