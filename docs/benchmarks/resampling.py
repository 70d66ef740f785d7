"""Intervals and tests: their time, and how often equal arms are found to be different.

The table of `docs/metrics.md` is from here. The baseline of time is a plain loop of resamples.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations, product

import numpy as np

from docs.benchmarks.measure import seconds, show
from spor_tasks.metrics.base import Column
from spor_tasks.metrics.totals import GROUP_MEANS
from spor_tasks.results import statistics
from tests.support.intervals import interval

N = 2000
RESAMPLES = 10_000
TRIALS = 400
Rule = Callable[[Sequence[Sequence[Column]], statistics.Clusters, int], bool]


def time() -> None:
    """One interval, one test, and a leaderboard of 100 systems."""
    rng = np.random.default_rng(0)
    one, other = (Column.of([*rng.random(N)]) for _ in range(2))
    by_size = Column.of([*zip(rng.integers(2, 8, N), one.each, strict=True)], GROUP_MEANS)
    clusters, values = np.arange(N), np.asarray(one.each, float)

    def loop() -> None:
        for _ in range(RESAMPLES // 10):
            values[rng.integers(0, N, N)].mean()

    plain = 10 * seconds(loop)
    for name, work in (
        ("bootstrap of a mean", lambda: interval(one, clusters)),
        ("bootstrap of a mean of means", lambda: interval(by_size, clusters)),
        (
            "approximate randomization",
            lambda: statistics.randomization_p_values([(one, other)], clusters),
        ),
    ):
        took = seconds(work, 3)
        show(f"{name}, {N:,} samples", f"{took:.2f} s", ratio=plain / took, to="a loop of means")
    items = rng.normal(50, 20, N)
    for spread in (0, 30):
        levels = np.linspace(0, spread, 100)
        columns = [Column.of([*(items + level + rng.normal(0, 15, N))]) for level in levels]
        pairs = [*combinations(columns, 2)]
        took = seconds(partial(statistics.randomization_p_values, pairs, clusters))
        show(f"100 systems over {spread} points, {len(pairs):,} pairs", f"{took:.1f} s")


def of_means(systems: Sequence[Sequence[Column]], clusters: statistics.Clusters, seed: int) -> bool:
    """Test the means over runs, by samples alone."""
    pair = tuple(Column.of([*np.mean([run.each for run in runs], axis=0)]) for runs in systems)
    (p,) = statistics.randomization_p_values([pair], clusters, seed=seed, resamples=400)
    return p < 0.05


def with_signs(
    systems: Sequence[Sequence[Column]], clusters: statistics.Clusters, seed: int
) -> bool:
    """Require also that every run of one arm is above every run of the other."""
    one, other = ([run.value for run in runs] for runs in systems)
    apart = min(one) > max(other) or min(other) > max(one)
    return apart and of_means(systems, clusters, seed)


def over_runs(systems: Sequence[Sequence[Column]], clusters: statistics.Clusters, _: int) -> bool:
    """Test with the variance of runs and clusters, as reports do."""
    found = statistics.over_runs(systems, clusters)
    return found is not None and found.p < 0.05


def false_alarms() -> None:
    """Print how often three rules find a difference between equal arms, at a nominal 5 %.

    Samples differ by 20 points, arms on a sample by 10, runs on a sample by 5 or 20; runs differ by
    nothing, 0.3 or 1 point. Half of the arms' difference on a sample is its cluster's.
    """
    rules: Mapping[str, Rule] = {
        "samples alone": of_means,
        "every run above": with_signs,
        "runs and clusters": over_runs,
    }
    for seeds, (count, size) in product((2, 3, 5), ((67, 2), (200, 1), (1500, 1))):
        clusters = np.repeat(np.arange(count), size)
        for between, within in product((0.0, 0.3, 1.0), (5.0, 20.0)):
            rng = np.random.default_rng([seeds, count, int(10 * between), int(within)])
            alarms = dict.fromkeys(rules, 0)
            for trial in range(TRIALS):
                systems = equal_arms(rng, seeds, clusters, between, within)
                for name, rule in rules.items():
                    alarms[name] += rule(systems, clusters, trial)
            print(
                f"{seeds} seeds, {len(clusters)} samples in {count} clusters, runs differ by "
                f"{between:g}, on a sample by {within:g}: "
                + ", ".join(f"{name} {n / TRIALS:.1%}" for name, n in alarms.items()),
                flush=True,
            )


def equal_arms(
    rng: np.random.Generator,
    seeds: int,
    clusters: statistics.Clusters,
    between: float,
    within: float,
) -> list[list[Column]]:
    """Draw the runs of two arms that are equal but for chance."""
    count, n = int(clusters.max()) + 1, len(clusters)
    items = rng.normal(50, 20, count)[clusters]
    arms = []
    for _ in range(2):
        own = rng.normal(0, 50**0.5, count)[clusters] + rng.normal(0, 50**0.5, n)
        runs = (
            items + own + rng.normal(0, between) + rng.normal(0, within, n) for _ in range(seeds)
        )
        arms.append([Column.of([*run]) for run in runs])
    return arms


if __name__ == "__main__":
    time()
    false_alarms()
