"""Student's distribution, and how far means over runs and clusters may be from the truth."""

import math
from typing import NamedTuple

import numpy as np

from spor_tasks.metrics.totals import Numbers

CONFIDENCE = 0.95
"""That of intervals, and of tests at 5 %."""

ROUNDING = 1e-9
"""Sums in another order differ in the last digits, and equal is equal."""

_NORMAL = 1e15  # degrees of freedom: of so many, and more, Student's distribution is the normal one
_STEPS = 9  # of Newton's: more change nothing, for one degree of freedom and more
_TIE = 1e-6  # of a variance: rounding makes less of a difference
_OF_RUNS = 0.8  # the part of other runs that an interval has at least


class Variances(NamedTuple):
    """The parts of the variances of some means, or of some differences of two.

    All but that over clusters have a column for each system, and are 0 for a single run.
    """

    clusters: Numbers
    """The variance over clusters."""
    between: Numbers
    """The variance of a system's mean over its runs."""
    shared: Numbers
    """The part of that which is the runs' part on the clusters."""
    further: Numbers
    """The number of runs but one."""
    freedom: float
    """The degrees of freedom of the variance over clusters."""

    def errors(self) -> tuple[Numbers, Numbers]:
        """Return standard errors over clusters and runs, with their degrees of freedom.

        The variance is that over clusters, plus that over runs, less what both contain (Cameron,
        Gelbach and Miller, 2011), and never less than that over clusters alone. The degrees of
        freedom are Satterthwaite's (1946), those of the runs at least. Two runs may agree by
        chance: so an interval of 95 % is never shorter than one of 80 % over runs alone.
        """
        more = (self.between - self.shared).sum(axis=-1)
        total = self.clusters + np.maximum(0, more)
        runs = np.where(self.further > 0, self.further, math.inf)
        squares = self.between**2 / runs + self.shared**2 / (runs * self.freedom)
        with np.errstate(invalid="ignore", divide="ignore"):
            freedom = total**2 / (self.clusters**2 / self.freedom + squares.sum(axis=-1))
        same = total <= ROUNDING**2  # every cluster and every run says the same
        # Runs may differ no more than their parts on the samples make them.
        alike = same | (more <= _TIE * total)
        freedom = np.where(alike, self.freedom, np.maximum(freedom, runs.min(axis=-1)))
        error, runs_freedom = self.errors_of_runs()
        least = error * reach(runs_freedom, _OF_RUNS) / reach(freedom)
        return np.where(same, 0, np.fmax(np.sqrt(total), least)), freedom

    def errors_of_runs(self) -> tuple[Numbers, Numbers]:
        """Return the standard errors over runs alone, with their degrees of freedom.

        These are Welch's (1947) for two systems of as many runs. For others they make a small p up
        to a hundred times too small, and those of the fewer runs never do (Mickey and Brown, 1966).
        """
        total = self.between.sum(axis=-1)
        runs = np.where(self.further > 0, self.further, math.inf)
        with np.errstate(invalid="ignore", divide="ignore"):
            freedom = total**2 / (self.between**2 / runs).sum(axis=-1)
        uneven = self.further.min(axis=-1) < self.further.max(axis=-1)
        freedom = np.where(uneven, runs.min(axis=-1), freedom)
        # Where all runs agree, nothing says how much others would differ.
        return np.sqrt(total), np.where(total > 0, freedom, self.further.sum(axis=-1))

    def p(self, values: Numbers, *, many: bool = False) -> Numbers:
        """Return the two-sided p that these values are 0 but for such variances.

        A single test is right at 5 and at 1 %. Among ``many``, a far smaller p counts, which is too
        frequent since the runs of a pair may agree by chance. There it is never taken to be less
        than that of the runs' scores alone.
        """
        p = p_of(values, *self.errors())
        return np.maximum(p, p_of(values, *self.errors_of_runs())) if many else p


class Student(NamedTuple):
    """A mean over runs, or the difference of two, with its standard error."""

    value: float
    error: float
    freedom: float
    """The degrees of freedom that Student's t has for it."""

    @classmethod
    def of(cls, value: float, variances: Variances) -> "Student":
        """Return the one mean or difference that these variances are of."""
        (error,), (freedom,) = variances.errors()
        return cls(value, float(error), float(freedom))

    def interval(self) -> tuple[float, float]:
        """Return Student's interval."""
        around = float(reach(self.freedom)) * self.error
        return self.value - around, self.value + around

    @property
    def p(self) -> float:
        """The two-sided p that the true value is 0."""
        return float(p_of(*map(np.asarray, self)))


@np.errstate(divide="ignore", invalid="ignore")  # without a degree of freedom it is NaN
def reach(freedom: float | Numbers, middle: float = CONFIDENCE) -> Numbers:
    """Return how far the middle part of Student's distribution reaches, in standard errors.

    As a function of arsinh(t / √freedom) the density is 1 / cosh^freedom, up to a factor. So few
    points make its integrals exact to 14 digits (Fejér, 1933), and Newton's steps lead to the
    quantile. :mod:`scipy.special` would take a tenth of a second to import for an interval.
    """
    root = np.sqrt(np.minimum(freedom, _NORMAL))[..., None]

    def density(at: Numbers) -> Numbers:
        """Return the density at points that are √freedom times as far."""
        values: Numbers = np.exp(-(root**2) / 2 * np.log1p(np.sinh(at / root) ** 2))
        return values

    half = (density(np.arange(0, 40, 0.25)).sum(axis=-1, keepdims=True) - 0.5) / 4
    angles, waves = (np.arange(40) + 0.5) * np.pi / 40, 2 * np.arange(1, 20)[:, None]
    points = np.cos(angles)
    weights = (1 - 2 * (np.cos(waves * angles) / (waves**2 - 1)).sum(axis=0)) / 20
    at = np.zeros_like(root)
    for _ in range(_STEPS):
        below = at / 2 * (density(at * (1 + points) / 2) @ weights[:, None])
        at = at + (middle * half - below) / density(at)
    result: Numbers = (root * np.sinh(at / root))[..., 0]
    return result


def p_of(value: Numbers, error: Numbers, freedom: Numbers) -> Numbers:
    """Return Student's two-sided p that each true value is 0."""
    from scipy.special import stdtr  # slow to import

    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stdtr(freedom, -np.abs(value) / error)
    agreed = 2.0**-freedom  # all clusters agree, which by chance they do once in so many times
    return np.where(np.abs(value) <= ROUNDING, 1.0, np.where(error == 0, agreed, p))
