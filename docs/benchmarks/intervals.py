"""Intervals of one run: how often they miss, and whether they contradict the p beside them.

The table of `docs/validity.md` is from here. *By samples* is the bootstrap as it would be if every
output counted alike: Student's t of the number of clusters.
"""

import math
from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy import stats as scipy_stats

from spor_tasks.metrics.tally import Column
from spor_tasks.metrics.totals import MEAN, Numbers
from spor_tasks.metrics.totto import _CORPUS_BLEU
from spor_tasks.results import stats
from spor_tasks.results.stats import freedom_of

TRIALS = 500
ORDERS = np.arange(1, 5)
SCALE = (0.0, 100.0)


class Lengths(NamedTuple):
    """So many outputs of 10 to 29 words, of which ``long`` are of ``words``."""

    outputs: int
    long: int
    words: int

    @property
    def share(self) -> float:
        """The share of all words that the long outputs hold."""
        held = self.long * self.words
        return held / (held + 19.5 * (self.outputs - self.long))


SETTINGS = (
    Lengths(200, 0, 20),
    Lengths(30, 3, 600),
    Lengths(60, 3, 2000),
    Lengths(60, 4, 2000),
    Lengths(200, 3, 600),
    Lengths(200, 3, 2000),
    Lengths(200, 6, 2000),
)


def bleu_column(
    rng: np.random.Generator,
    lengths: Numbers,
    better: float = 0.0,
    references: Numbers | None = None,
) -> Column:
    """Draw outputs of these lengths, each of a quality of its own; references are as long."""
    quality = np.clip(rng.normal(0.6 + better, 0.2, len(lengths)), 0.02, 0.98)[:, None]
    written = np.maximum(lengths[:, None] - ORDERS + 1, 1)
    matched = rng.binomial(written.astype(int), quality ** ((ORDERS + 1) / 2))
    expected = lengths if references is None else references
    rows = np.column_stack([matched, written, lengths, expected])
    return Column(rows.astype(float), _CORPUS_BLEU)


def drawn(rng: np.random.Generator, how: Lengths, outputs: int | None = None) -> Numbers:
    """Draw lengths; the long ones are their share of ``outputs``, where these are given."""
    count = outputs or how.outputs
    lengths = rng.integers(10, 30, count).astype(float)
    lengths[: how.long * count // how.outputs] = how.words
    return lengths


def missed(how: Lengths, trials: int) -> tuple[float, float]:
    """Return the share of intervals of corpus BLEU without the score of very many outputs.

    The first is of the bootstrap by samples, the second of ours.
    """
    rng = np.random.default_rng([how.outputs, how.long, how.words])
    true = bleu_column(rng, drawn(rng, how, 600_000)).value
    clusters, outside = np.arange(how.outputs), np.zeros(2)
    for _ in range(trials):
        column = bleu_column(rng, drawn(rng, how))
        found = stats.estimate([[column]], clusters)
        if found is None or found.interval is None:
            raise ValueError("outputs without an interval")
        reach = scipy_stats.t.ppf(0.975, [how.outputs - 1, freedom_of(clusters, column.shares)])
        for number, factor in enumerate(reach / reach[1]):
            ends = (found.interval.low, found.interval.high)
            low, high = (found.value + factor * (end - found.value) for end in ends)
            outside[number] += not low <= true <= high
    return float(outside[0]) / trials, float(outside[1]) / trials


Pair = tuple[Column, Column, float]
"""Two systems, and their true difference."""


def means(better: float) -> Callable[[np.random.Generator, int], Pair]:
    """Return what draws two systems' scores of so many samples, from 0 to 100."""

    def pair(rng: np.random.Generator, count: int) -> Pair:
        items = rng.normal(50, 15, count)
        one, other = (items + rng.normal(more, 10, count) for more in (better, 0.0))
        return Column.of([*one], MEAN), Column.of([*other], MEAN), better

    return pair


def bleus(*ratios: float) -> Callable[[np.random.Generator, int], Pair]:
    """Return what draws two systems of equal BLEU, whose outputs are so long beside references.

    An input that is hard for one is hard for the other.
    """

    def outputs(seed: int, references: Numbers, ratio: float, better: float) -> Column:
        lengths = np.maximum(4, np.rint(ratio * references))
        return bleu_column(np.random.default_rng(seed), lengths, better, references)

    low, high = -0.5, 0.5
    references = drawn(np.random.default_rng(0), SETTINGS[0], 10_000)
    for _ in range(14):
        better = (low + high) / 2
        one, other = (outputs(1, references, *of) for of in zip(ratios, (0.0, better), strict=True))
        low, high = (better, high) if other.value < one.value else (low, better)

    def pair(rng: np.random.Generator, count: int) -> Pair:
        references, seed = drawn(rng, SETTINGS[0], count), int(rng.integers(2**32))
        one, other = (outputs(seed, references, *of) for of in zip(ratios, (0.0, low), strict=True))
        return one, other, 0.0

    return pair


def compared(pair: Callable[[np.random.Generator, int], Pair], count: int) -> str:
    """Return how often intervals of a difference miss, or contradict the p, and are not there."""
    rng = np.random.default_rng(count)
    clusters = np.arange(count)
    without = missing = contrary = former_missing = former_contrary = 0
    for _ in range(TRIALS):
        one, other, true = pair(rng, count)
        found = stats.difference(one, other, clusters, SCALE)
        if found is None or found.p is None:
            raise ValueError("the systems have no common samples")
        is_called = found.p < 0.05
        wider = scipy_stats.t.ppf(0.975, count - 1) / scipy_stats.norm.ppf(0.975)
        scores = stats.resampled_scores([one, other], clusters)
        ends = stats.percentile_interval(scores[:, 0] - scores[:, 1]) or (math.nan, math.nan)
        low, high = (found.value + wider * (end - found.value) for end in ends)
        former_missing += not low <= true <= high
        former_contrary += is_called != (not low <= 0 <= high)
        if found.interval is None:
            without += 1
            contrary += is_called
            continue
        missing += not found.interval.low <= true <= found.interval.high
        contrary += is_called != (not found.interval.low <= 0 <= found.interval.high)
    shown = TRIALS - without
    return (
        f"a bootstrap misses {former_missing / TRIALS:.1%}, and contradicts "
        f"{former_contrary / TRIALS:.1%}; now without {without / TRIALS:.0%}, "
        f"misses {missing / max(1, shown):.1%}, contradicts {contrary / TRIALS:.1%}"
    )


def main() -> None:
    """Print both tables; the standard error of a rate of 5 % is one point."""
    for how in SETTINGS:
        rates = missed(how, TRIALS)
        print(
            f"BLEU of {how.outputs} outputs, {how.long} of them with {how.share:.0%} of the words: "
            f"missed {rates[0]:.1%} by samples, {rates[1]:.1%} by words",
            flush=True,
        )
    for count in (3, 5, 6, 10, 30, 200):
        for better in (0.0, 5.0):
            print(f"{count} clusters, true difference {better:g}: {compared(means(better), count)}")
    for ratios, count in product(((1.2, 1.1), (1.05, 0.92), (1.3, 0.7)), (40, 200)):
        of_pair = compared(bleus(*ratios), count)
        print(f"equal BLEU of {count} outputs, lengths {ratios}: {of_pair}", flush=True)


if __name__ == "__main__":
    main()
