"""How often a leaderboard calls equal systems different, and finds one that is better.

The tables of `docs/validity.md` are from here. Boards are ranked with the floor that boards have,
and without it, as a pair of arms is tested. Scores are whole numbers.
"""

from itertools import combinations, product
from math import sqrt

import numpy as np

from spor_tasks.metrics.tally import Column
from spor_tasks.metrics.totals import MEAN
from spor_tasks.report.leaderboard import LEVEL
from spor_tasks.results import stats
from spor_tasks.results.compare import holm
from spor_tasks.results.stats import Clusters

BOARDS = 2_000
SYSTEMS, SEEDS, SPREADS = (2, 5, 10, 20), (2, 3, 5), (0.0, 0.5, 1.0, 3.0)

TESTS = {
    "100 in 30": np.arange(100) * 30 // 100,
    "500 in 30, unequal": np.repeat(np.arange(30), [83, 83, 84] + [10] * 7 + [9] * 20),
    "500": np.arange(500),
    "2,000": np.arange(2_000),
}
"""Samples and clusters; three of the unequal ones hold half of the samples."""

SETTINGS = (("100 in 30", 0.0), ("500 in 30, unequal", 10.0), ("2,000", 0.0))
"""A test, and by how much systems differ on a sample in all of their runs. Runs differ by 10."""

SLOW = "2,000"
"""This test is for runs that differ by half a point, where boards without a floor err most."""


def board(
    rng: np.random.Generator,
    clusters: Clusters,
    seeds: tuple[int, ...],
    deviations: tuple[float, float],
    better: float = 0.0,
) -> list[list[Column]]:
    """Draw the runs of equal systems, but for the first, which may be better.

    The deviations are those of runs, and of systems on a sample.

    Half of what a system or a run has on a sample is its cluster's.
    """
    count, n = int(clusters.max()) + 1, len(clusters)
    spread, own = deviations

    def noise(deviation: float, *shape: int) -> np.ndarray:
        if count == n:
            return rng.normal(0, deviation, (*shape, n))
        both = rng.normal(0, deviation, (*shape, count))[..., clusters]
        return (both + rng.normal(0, deviation, (*shape, n))) / sqrt(2)

    systems = []
    for number, runs in enumerate(seeds):
        scores = 50 + noise(own) + noise(10, runs) + rng.normal(0, spread, (runs, 1))
        scores = np.rint(scores + (better if number == 0 else 0))
        systems.append([Column(MEAN.statistics(run), MEAN) for run in scores])
    return systems


def differences(systems: list[list[Column]], clusters: Clusters) -> tuple[list[float], list[float]]:
    """Return Holm's p of each pair as boards have it, and without their floor."""
    pairs = np.array([*combinations(range(len(systems)), 2)])
    values, variances = stats.differences(systems, clusters, pairs, many=True)
    return holm([*variances.p(values, many=True)]), holm([*variances.p(values)])


def share(found: list[bool]) -> str:
    """Return a share in per cent with its standard error."""
    rate = float(np.mean(found))
    return f"{100 * rate:.1f} ± {100 * sqrt(rate * (1 - rate) / len(found)):.1f}"


def errors(seeds: tuple[int, ...], spread: float, setting: tuple[str, float]) -> None:
    """Print how many boards of equal systems have a difference."""
    test, own = setting
    rng = np.random.default_rng([*seeds, int(10 * spread), int(own), len(TESTS[test])])
    found = []
    for _ in range(BOARDS):
        systems = board(rng, TESTS[test], seeds, (spread, own))
        found.append([min(p) < LEVEL for p in differences(systems, TESTS[test])])
    floored, bare = map(list, zip(*found, strict=True))
    numbers = ", ".join(map(str, sorted({*seeds})))
    print(
        f"| {len(seeds)} | {numbers} | {spread:g} | {own:g} | {test} | {share(floored)} "
        f"| {share(bare)} |",
        flush=True,
    )


def power(systems: int, seeds: int, better: float) -> None:
    """Print how many of the differences from the one better system are found."""
    rng, clusters = np.random.default_rng([systems, seeds, int(better)]), TESTS["500"]
    found = []
    for _ in range(BOARDS // 10):
        drawn = board(rng, clusters, (seeds,) * systems, (1.0, 10.0), better)
        found.append(
            [[p < LEVEL for p in of[: systems - 1]] for of in differences(drawn, clusters)]
        )
    floored, bare = np.array(found).mean(axis=(0, 2))
    print(
        f"| {systems} | {seeds} | {better:g} | {100 * floored:.0f} | {100 * bare:.0f} |", flush=True
    )


if __name__ == "__main__":
    for systems, runs, spread, setting in product(SYSTEMS, SEEDS, SPREADS, SETTINGS):
        if setting[0] != SLOW or spread == 0.5:
            errors((runs,) * systems, spread, setting)
    for systems, few in product((3, 10), (2, 3)):
        errors((few,) + (5,) * (systems - 1), 1.0, SETTINGS[0])
    for systems, runs, better in product((2, 5, 10, 20), SEEDS, (5.0, 10.0, 20.0)):
        power(systems, runs, better)
