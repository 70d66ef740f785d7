"""Pearson, Spearman and Kendall correlations of many bootstrap resamples at once."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from spor_tasks.metrics.significance import ROUNDING, blocks
from spor_tasks.metrics.totals import Numbers

Codes: TypeAlias = NDArray[np.int64]
"""The input or the system of each output, numbered from 0."""

FEWEST = 3
"""The fewest texts or systems to correlate: a correlation of two is always 1 or -1."""


def codes(names: Sequence[str] | NDArray[Any]) -> Codes:
    """Return the index of each name among the sorted names, so that rows may come in any order."""
    return np.unique(np.asarray(names), return_inverse=True)[1].astype(np.int64)


def standard(column: Numbers) -> Numbers:
    """Return the column with mean 0 and variance 1, so that rounding errors have one size."""
    scaled = column / (np.abs(column).max(initial=0) or 1)
    if not len(scaled) or not np.ptp(scaled):
        return np.zeros_like(scaled)
    standard: Numbers = (scaled - scaled.mean()) / scaled.std()
    return standard


class Level(NamedTuple):
    """The ``n`` texts or systems to correlate.

    ``points`` returns their numbers for a column. ``correlate`` returns the three coefficients of
    two columns, for the data and then for each resample, in shape (3, 1 + resamples).
    """

    over: str
    n: int
    points: Callable[[Numbers], Numbers]
    correlate: Callable[[Numbers, Numbers], Numbers]


def levels(inputs: Codes, systems: Codes, resamples: int, seed: int) -> Iterator[Level]:
    """Yield the levels that have enough to correlate: texts, then systems.

    A resample draws whole inputs with all their outputs; systems are not resampled.
    """
    if len(inputs) < FEWEST:
        return
    weights = _weights(int(inputs.max()) + 1, resamples, seed)
    yield Level("texts", len(inputs), lambda column: column, partial(_over_texts, inputs, weights))
    if (count := int(systems.max()) + 1) >= FEWEST:
        means = partial(_means, inputs, systems)
        yield Level(
            "systems",
            count,
            lambda column: means(column, weights[:1])[0],
            partial(_over_systems, means, weights, count),
        )


def _weights(inputs: int, resamples: int, seed: int) -> Numbers:
    """Return how often each resample has each input; the first row is the data itself."""
    if inputs == 1:  # every resample would equal the data
        resamples = 0
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(inputs, np.full(inputs, 1 / inputs), resamples)
    return np.vstack([np.ones((1, inputs)), drawn])


def williams(one: float, other: float, shared: float, n: int) -> tuple[float, float]:
    """Return t and two-sided p of no difference between two correlations with the same thing.

    ``one`` and ``other`` are the Pearson correlations of two metrics with a judgement, ``shared``
    is the correlation between the metrics, and ``n`` the number of texts or systems, which are
    taken as independent (Williams, 1959, as in Steiger, 1980, equation 7). Both are NaN if the
    metrics agree completely, or n < 4.
    """
    if n <= FEWEST or not abs(shared) < 1 - ROUNDING:
        return math.nan, math.nan
    rest = max(0.0, 1 - one**2 - other**2 - shared**2 + 2 * one * other * shared)
    spread = 2 * rest * (n - 1) / (n - 3) + (one + other) ** 2 / 4 * (1 - shared) ** 3
    if not spread > 0:
        return math.nan, math.nan
    t = float(one - other) * math.sqrt((n - 1) * (1 + shared) / spread)
    return t, 2 * float(stats.t.sf(abs(t), n - 3))


def _over_texts(inputs: Codes, weights: Numbers, one: Numbers, other: Numbers) -> Numbers:
    found = []
    for block in blocks(len(weights), len(one)):
        drawn = weights[block][:, inputs]
        ranks = _ranks(one, drawn), _ranks(other, drawn)
        found.append([pearson(one, other, drawn), pearson(*ranks, drawn)])

    def concordance(a: Numbers, b: Numbers) -> Numbers:
        pairs = _concordance(a, b, inputs)
        total: Numbers = ((weights @ pairs) * weights).sum(axis=1)
        return total

    return np.vstack([np.concatenate(found, axis=1), _correlation(concordance, one, other)])


def _concordance(one: Numbers, other: Numbers, inputs: Codes) -> Numbers:
    """Return the concordant minus the discordant pairs of texts, by the inputs of both texts.

    The shape is (inputs, inputs). In a resample, each count is multiplied by how often the resample
    has either input.
    """
    count = int(inputs.max()) + 1
    rows = []
    for number in range(count):
        of = inputs == number
        signs = np.sign(one[of, None] - one) * np.sign(other[of, None] - other)
        rows.append(np.bincount(inputs, signs.sum(axis=0), count))
    return np.stack(rows)


def _over_systems(
    means: Callable[[Numbers, Numbers], Numbers],
    weights: Numbers,
    count: int,
    one: Numbers,
    other: Numbers,
) -> Numbers:
    def concordance(a: Numbers, b: Numbers) -> Numbers:
        total: Numbers = (_signs(a) * _signs(b)).sum(axis=(1, 2))
        return total

    found = []
    for block in blocks(len(weights), count**2):
        pair = means(one, weights[block]), means(other, weights[block])
        ranks = stats.rankdata(pair[0], axis=1), stats.rankdata(pair[1], axis=1)
        alike = np.ones_like(pair[0])
        found.append(
            [pearson(*pair, alike), pearson(*ranks, alike), _correlation(concordance, *pair)]
        )
    return np.concatenate(found, axis=1)


def _means(inputs: Codes, systems: Codes, column: Numbers, weights: Numbers) -> Numbers:
    """Return the systems' means, in shape (resamples, systems); NaN for one without outputs."""
    shape = weights.shape[1], int(systems.max()) + 1
    sums, counts = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, (inputs, systems), column)
    np.add.at(counts, (inputs, systems), 1)
    outputs = weights @ counts
    means = np.full(outputs.shape, math.nan)
    np.divide(weights @ sums, outputs, out=means, where=outputs > 0)
    rounded: Numbers = np.round(means / ROUNDING) * ROUNDING
    return rounded


def _signs(means: Numbers) -> Numbers:
    signs: Numbers = np.sign(means[:, :, None] - means[:, None, :])
    return signs


def _ranks(column: Numbers, drawn: Numbers) -> Numbers:
    """Return the rank of each text in each resample, minus a half; ties share the mean rank."""
    of = codes(column)
    order = np.argsort(of, kind="stable")
    starts = np.searchsorted(of[order], np.arange(of.max() + 1))
    sizes = np.add.reduceat(drawn[:, order], starts, axis=1)
    ranks: Numbers = (np.cumsum(sizes, axis=1) - sizes / 2)[:, of]
    return ranks


def pearson(one: Numbers, other: Numbers, weights: Numbers) -> Numbers:
    """Return the weighted correlation of each row."""
    total = weights.sum(axis=1, keepdims=True)
    one, other = (
        column - (weights * column).sum(axis=1, keepdims=True) / total for column in (one, other)
    )

    def product(a: Numbers, b: Numbers) -> Numbers:
        total: Numbers = (weights * a * b).sum(axis=1)
        return total

    return _correlation(product, one, other)


def _correlation(
    product: Callable[[Numbers, Numbers], Numbers], one: Numbers, other: Numbers
) -> Numbers:
    """Return the product of both over the root of their squares; NaN if one is constant."""
    both, ones, others = product(one, other), product(one, one), product(other, other)
    varied = (ones > ROUNDING**2) & (others > ROUNDING**2)
    found = np.full(both.shape, math.nan)
    found[varied] = both[varied] / np.sqrt(ones[varied] * others[varied])
    clipped: Numbers = np.clip(found, -1, 1)  # rounding errors may exceed 1
    return clipped
