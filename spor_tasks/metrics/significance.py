"""How sure a score is, and whether two systems differ: resampling, vectorised and seeded.

A score is given as a statistic of sample indices, so that a mean and a mean of group means are
resampled alike. Every test here draws from the samples at hand; what three training seeds can add
is said in ``docs/metrics.md``.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spor_tasks.metrics.base import Column

Numbers = NDArray[np.float64]
Statistic = Callable[[NDArray[np.int64]], Numbers]
"""Maps sample indices, one resample per row, to the score of each row."""

RESAMPLES = 10_000
_ROUNDING = 1e-9  # sums in another order differ in the last digits, and equal is equal
_CELLS_AT_ONCE = 2_000_000  # bounds the memory of a block of resamples to some tens of megabytes


def mean_of(values: Numbers) -> Statistic:
    """Return the statistic that averages ``values``, of shape (samples,)."""
    return lambda indices: values[indices].mean(axis=1)


def macro_mean_of(values: Numbers, groups: NDArray[np.integer]) -> Statistic:
    """Return the statistic that averages ``values`` within each group, then over groups.

    A group of which a resample holds nothing does not count in it, as CWIO skips sizes that no
    sample has.
    """
    names, codes = np.unique(groups, return_inverse=True)

    def statistic(indices: NDArray[np.int64]) -> Numbers:
        rows, count = len(indices), len(names)
        cells = (codes[indices] + count * np.arange(rows)[:, None]).ravel()
        sizes = np.bincount(cells, minlength=rows * count).reshape(rows, count)
        sums = np.bincount(cells, values[indices].ravel(), rows * count).reshape(rows, count)
        means = np.divide(sums, sizes, out=np.zeros_like(sums), where=sizes > 0)
        result: Numbers = means.sum(axis=1) / (sizes > 0).sum(axis=1)
        return result

    return statistic


def bootstrap_interval(
    statistic: Statistic,
    n: int,
    *,
    seed: int,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
) -> tuple[float, float]:
    """Return the percentile bootstrap interval of a score of ``n`` samples (Efron, 1979).

    Raises:
        ValueError: there are no samples.
    """
    scores = _resampled(statistic, n, seed, resamples)
    tail = 50 * (1 - confidence)
    low, high = np.percentile(scores, [tail, 100 - tail])
    return float(low), float(high)


def paired_bootstrap(
    one: Numbers, other: Numbers, *, seed: int, resamples: int = RESAMPLES
) -> float:
    """Return the two-sided p of no difference in means of two systems on the same samples.

    The bootstrap distribution of the mean difference is shifted to zero; p is the share at least
    as far from it as the observed difference (Koehn, 2004, in its two-sided form).
    """
    differences = _differences(one, other)
    scores = _resampled(mean_of(differences), len(differences), seed, resamples)
    observed = differences.mean()
    return _p_value(np.abs(scores - observed), abs(observed))


def approximate_randomization(
    one: Numbers, other: Numbers, *, seed: int, resamples: int = RESAMPLES
) -> float:
    """Return the two-sided p that which system gave which output does not matter (Noreen, 1989).

    For each sample the two systems' values are exchanged with probability one half.
    """
    differences = _differences(one, other)
    rng = np.random.default_rng(seed)
    scores = np.concatenate(
        [
            (2.0 * rng.integers(0, 2, (rows, len(differences)), dtype=np.int8) - 1.0) @ differences
            for rows in _blocks(resamples, len(differences))
        ]
    ) / len(differences)
    return _p_value(np.abs(scores), abs(differences.mean()))


def arms_over_seeds(
    one: Numbers, other: Numbers, *, seed: int, resamples: int = RESAMPLES
) -> float:
    """Return the two-sided p of no difference between two arms, each trained with some seeds.

    ``one`` and ``other`` have shape (seeds, samples), seeds not paired. Each sample's mean over
    seeds is compared by :func:`approximate_randomization`: the p is about these trained models on
    other samples, not about other seeds.

    Raises:
        ValueError: the arms were not measured on the same samples.
    """
    return approximate_randomization(
        one.mean(axis=0), other.mean(axis=0), seed=seed, resamples=resamples
    )


class Comparison(NamedTuple):
    """A score of two systems on the ``n`` samples on which both have a verdict.

    ``difference`` is the first's less the second's. The two values of p are those of
    :func:`approximate_randomization` and :func:`paired_bootstrap`.
    """

    difference: float
    n: int
    p_randomization: float
    p_bootstrap: float


def interval(column: Column, *, seed: int) -> tuple[float, float] | None:
    """Return the bootstrap interval of a column's score, None where nothing has a verdict."""
    scored = ~np.isnan(column.numbers)
    numbers, groups = column.numbers[scored], column.groups[scored]
    if not len(numbers):
        return None
    return bootstrap_interval(macro_mean_of(numbers, groups), len(numbers), seed=seed)


def compare(one: Column, other: Column, *, seed: int) -> Comparison | None:
    """Compare the same score of two systems on the same samples, None where there are none."""
    shares = _shares_of_difference(one, other)
    shares = shares[~np.isnan(shares)]
    if not len(shares):
        return None
    nothing = np.zeros_like(shares)
    return Comparison(
        float(shares.mean()),
        len(shares),
        approximate_randomization(shares, nothing, seed=seed),
        paired_bootstrap(shares, nothing, seed=seed),
    )


def resampled_scores(
    columns: Sequence[Column], *, seed: int, resamples: int = RESAMPLES
) -> Numbers:
    """Return the scores of resamples of the same samples, of shape (resamples, columns).

    All columns are drawn alike, so that their differences are scores of resamples too, and many
    cost little more than one: what is counted is how often a resample has each sample. NaN is a
    resample without a verdict.
    """
    n = len(columns[0].numbers)
    weights, owners, total = _group_weights(columns)
    rng = np.random.default_rng(seed)
    blocks = []
    for rows in _blocks(resamples, n):
        draws = rng.integers(0, n, (rows, n)) + n * np.arange(rows)[:, None]
        counts = np.bincount(draws.ravel(), minlength=rows * n).reshape(rows, n)
        sums = counts.astype(np.float64) @ weights
        numbers, sizes = sums[:, :total], sums[:, total:]
        means = np.divide(numbers, sizes, out=np.zeros_like(numbers), where=sizes > 0)
        held = (sizes > 0).astype(np.float64)
        with np.errstate(invalid="ignore"):  # 0 / 0 is NaN: no verdict
            blocks.append((means @ owners) / (held @ owners))
    return np.concatenate(blocks)


def _group_weights(columns: Sequence[Column]) -> tuple[Numbers, Numbers, int]:
    """Return values and presence of each group of each column, and which column each belongs to.

    The first array has the shape (samples, twice the groups), the second (groups, columns).
    """
    values, presences, owners = [], [], []
    for number, column in enumerate(columns):
        scored = ~np.isnan(column.numbers)
        for group in np.unique(column.groups[scored]):
            present = scored & (column.groups == group)
            values.append(np.where(present, column.numbers, 0.0))
            presences.append(present.astype(np.float64))
            owners.append(number)
    n = len(columns[0].numbers)
    belongs = np.zeros((len(owners), len(columns)))
    belongs[np.arange(len(owners)), owners] = 1
    stacked = np.stack([*values, *presences], axis=1) if owners else np.zeros((n, 0))
    return stacked, belongs, len(owners)


def percentile_interval(scores: Numbers, confidence: float = 0.95) -> tuple[float, float]:
    """Return the middle ``confidence`` of resampled scores, of shape (resamples,)."""
    tail = 50 * (1 - confidence)
    low, high = np.nanpercentile(scores, [tail, 100 - tail])
    return float(low), float(high)


def randomization_p_values(
    pairs: Sequence[tuple[Column, Column]], *, seed: int, resamples: int = RESAMPLES
) -> Numbers:
    """Return the p of :func:`approximate_randomization` for each pair, of shape (pairs,).

    All pairs are of the same number of samples and use the same exchanges. Of a sample on which
    one of the two has no verdict nothing is exchanged; NaN is a pair without any other.
    """
    differences = np.stack([_shares_of_difference(*pair) for pair in pairs], axis=1)
    n, count = differences.shape
    scored = ~np.isnan(differences)
    differences = np.where(scored, differences, 0.0) / n  # on the scale that rounding is known of
    observed = np.abs(differences.sum(axis=0)) - _ROUNDING
    rng = np.random.default_rng(seed)
    extreme = np.zeros(count)
    for rows in _blocks(resamples, n):
        signs = 2.0 * rng.integers(0, 2, (rows, n), dtype=np.int8) - 1.0
        extreme += (np.abs(signs @ differences) >= observed).sum(axis=0)
    return np.where(scored.any(axis=0), (extreme + 1) / (resamples + 1), np.nan)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return each p adjusted for all of them being looked at (Holm, 1979), in their order.

    Calling different what is below α then errs once or more with a probability of at most α.
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted = [0.0] * len(order)
    largest = 0.0
    for place, number in enumerate(order):
        largest = max(largest, (len(order) - place) * p_values[number])
        adjusted[number] = min(1.0, largest)
    return adjusted


def _shares_of_difference(one: Column, other: Column) -> Numbers:
    """Return what each sample adds to the difference of two scores, whose mean that is.

    Groups keep their sizes: each output counts for as much as in the score itself. NaN is a sample
    on which one of the two has no verdict.
    """
    differences = one.numbers - other.numbers
    scored = ~np.isnan(differences)
    _, codes, sizes = np.unique(one.groups[scored], return_inverse=True, return_counts=True)
    differences[scored] *= scored.sum() / (len(sizes) * sizes[codes])
    return differences


def _resampled(statistic: Statistic, n: int, seed: int, resamples: int) -> Numbers:
    if n == 0:
        raise ValueError("there are no samples to draw from")
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [statistic(rng.integers(0, n, (rows, n))) for rows in _blocks(resamples, n)]
    )


def _blocks(resamples: int, n: int) -> Iterator[int]:
    """Yield how many resamples to draw at once, so that memory does not grow with their number."""
    most = max(1, _CELLS_AT_ONCE // n)
    for start in range(0, resamples, most):
        yield min(most, resamples - start)


def _differences(one: Numbers, other: Numbers) -> Numbers:
    if one.shape != other.shape:
        raise ValueError(f"{one.shape} and {other.shape} values are not of the same samples")
    if not len(one):
        raise ValueError("there are no samples to compare on")
    return one - other


def _p_value(resampled: Numbers, observed: float) -> float:
    """Return the share at least as extreme; the observed one counts, so that p is never zero."""
    extreme = int((resampled >= observed - _ROUNDING).sum())
    return (extreme + 1) / (len(resampled) + 1)
