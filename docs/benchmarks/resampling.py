"""Intervals and tests: their time, how often they find a difference of equal arms, and of others.

The tables of `docs/validity.md` are from here. The baseline of time is a plain loop of resamples.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np

from docs.benchmarks.measure import seconds, show
from spor_tasks.metrics.tally import Column
from spor_tasks.metrics.totals import GROUP_MEANS
from spor_tasks.results import stats
from spor_tasks.results.stats import Clusters, detectable
from tests.support.scores import interval

N = 2000
RESAMPLES = 10_000
TRIALS = 400
UNEQUAL_TRIALS = 4_000
SEEDS = ((2, 2), (2, 3), (3, 3), (5, 5))
Rule = Callable[[Sequence[Sequence[Column]], Clusters, int], float]
"""Returns the p of no difference between two systems, each with a column for each of its runs."""

LEVELS = (0.05, 0.01)
MODELS = {1: 1, 2: 6, 3: 3, 5: 2}
"""The fewest models whose table states a detectable difference, by seeds an arm."""


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
            lambda: stats.randomization_p_values([(one, other)], clusters),
        ),
    ):
        took = seconds(work, 3)
        show(f"{name}, {N:,} samples", f"{took:.2f} s", ratio=plain / took, to="a loop of means")
    items = rng.normal(50, 20, N)
    for spread in (0, 30):
        levels = np.linspace(0, spread, 100)
        columns = [Column.of([*(items + level + rng.normal(0, 15, N))]) for level in levels]
        pairs = [*combinations(columns, 2)]
        took = seconds(partial(stats.randomization_p_values, pairs, clusters))
        show(f"100 systems over {spread} points, {len(pairs):,} pairs", f"{took:.1f} s")


def of_means(systems: Sequence[Sequence[Column]], clusters: Clusters, seed: int) -> float:
    """Test the means over runs, by samples alone."""
    one, other = (Column.of([*np.mean([run.each for run in runs], axis=0)]) for runs in systems)
    (p,) = stats.randomization_p_values([(one, other)], clusters, seed=seed, resamples=400)
    return p


def with_signs(systems: Sequence[Sequence[Column]], clusters: Clusters, seed: int) -> float:
    """Require also that every run of one arm is above every run of the other."""
    one, other = ([run.value for run in runs] for runs in systems)
    apart = min(one) > max(other) or min(other) > max(one)
    return of_means(systems, clusters, seed) if apart else 1.0


def over_runs(systems: Sequence[Sequence[Column]], clusters: Clusters, _: int) -> float:
    """Test with the variance of runs and clusters, as reports do."""
    found = stats.over_runs(systems, clusters)
    return 1.0 if found is None else found.p


def false_alarms() -> None:
    """Print how often three rules find a difference between equal arms, at 5 % and at 1 %.

    Samples differ by 20 points, arms on a sample by 10, runs on a sample by 5 or 20; runs differ by
    nothing, 0.3 or 1 point. Half of the arms' difference on a sample is its cluster's.
    """
    rules: Mapping[str, Rule] = {
        "samples alone": of_means,
        "every run above": with_signs,
        "runs and clusters": over_runs,
    }
    for seeds, (count, size) in product(SEEDS, ((67, 2), (200, 1), (1500, 1))):
        clusters = np.repeat(np.arange(count), size)
        for between, within in product((0.0, 0.3, 1.0), (5.0, 20.0)):
            rng = np.random.default_rng([*seeds, count, int(10 * between), int(within)])
            p_values: dict[str, list[float]] = {name: [] for name in rules}
            for trial in range(TRIALS):
                systems = equal_arms(rng, seeds, clusters, between, within)
                for name, rule in rules.items():
                    p_values[name].append(rule(systems, clusters, trial))
            print(
                f"{seeds[0]} and {seeds[1]} seeds, {len(clusters)} samples in {count} clusters, "
                f"runs differ by {between:g}, on a sample by {within:g}: "
                + ", ".join(f"{name} {_rates(p)}" for name, p in p_values.items()),
                flush=True,
            )


def _rates(p_values: Sequence[float]) -> str:
    return " / ".join(f"{np.mean(np.array(p_values) < level):.1%}" for level in LEVELS)


def unequal() -> None:
    """Print how often equal systems on unequal clusters differ, and a better one is found.

    Systems and runs differ on a sample by 10; half of that, or all, is alike in a whole cluster.
    The better system is so by 2.4 standard errors. The second figures are of a jackknife, which
    boards use.
    """
    lognormal = np.rint(np.random.default_rng(3).lognormal(1.5, 1, 60))
    sets = {"3 of 30 hold half": [83, 83, 84, *[10] * 7, *[9] * 20], "lognormal": [*lognormal]}
    for (name, sizes), alike, seeds in product(
        sets.items(), (0.5, 1.0), ((2, 2), (3, 3), (3, 5), (5, 5))
    ):
        clusters = np.repeat(np.arange(len(sizes)), np.maximum(1, sizes).astype(int))
        squares = float((np.bincount(clusters) ** 2).sum()) / len(clusters) ** 2
        variance = 100 * (alike * squares + (1 - alike) / len(clusters))
        better = 2.4 * np.sqrt(variance * sum(1 + 1 / number for number in seeds))
        rates = []
        for shift in (0.0, better):
            rng = np.random.default_rng([*seeds, len(clusters), int(2 * alike)])
            p_values = []
            for _ in range(UNEQUAL_TRIALS):
                one, other = (alike_in_clusters(rng, number, clusters, alike) for number in seeds)
                pair = (
                    [Column.of([*run]) for run in one + shift],
                    [Column.of([*run]) for run in other],
                )
                p_values.append([p_over_clusters(pair, clusters, many) for many in (False, True)])
            rates.append(np.mean(np.array(p_values) < LEVELS[0], axis=0))
        (ours, jackknife), (found, found_less) = rates
        print(
            f"{name}, {alike:.0%} alike in a cluster, {seeds[0]} and {seeds[1]} seeds: equal ones "
            f"differ {ours:.1%} ({jackknife:.1%}), better ones {found:.1%} ({found_less:.1%})",
            flush=True,
        )


def alike_in_clusters(rng: np.random.Generator, runs: int, clusters: Clusters, alike: float) -> Any:
    """Draw the samples' scores of some runs of a system, of shape (runs, samples)."""
    count, n = int(clusters.max()) + 1, len(clusters)

    def noise(rows: int) -> Any:
        of_clusters, own = rng.normal(0, 10, (rows, count)), rng.normal(0, 10, (rows, n))
        return alike**0.5 * of_clusters[:, clusters] + (1 - alike) ** 0.5 * own

    return 50 + noise(1) + noise(runs)


def p_over_clusters(pair: Sequence[Sequence[Column]], clusters: Clusters, many: bool) -> float:  # noqa: FBT001
    """Test with one of the variances over clusters, without the floor of boards."""
    values, variances = stats.differences(pair, clusters, many=many)
    return float(variances.p(values)[0])


def power() -> None:
    """Print how often the smallest detectable differences are found, which should be 80 %.

    Each is from a table of as few models as have one, as a report states it. Single runs do not
    differ here, since their interval is for these checkpoints only.
    """
    for (seeds, models), (count, between) in product(
        MODELS.items(), ((200, 0.0), (200, 1.0), (1500, 1.0))
    ):
        if seeds == 1 and between:
            continue
        rng, clusters = np.random.default_rng([seeds, count, int(between)]), np.arange(count)
        variances, stated, found = [], [], []
        for _ in range(TRIALS):
            arms = equal_arms(rng, (seeds, seeds), clusters, between, 20.0)
            if (estimate := stats.estimate(arms, clusters)) and estimate.variances:
                variances.append(estimate.variances)
        for start in range(0, len(variances) - models + 1, models):
            difference = detectable(variances[start : start + models])
            stated.append(0.0 if difference is None else difference)
        for trial in range(TRIALS):
            one, other = equal_arms(rng, (seeds, seeds), clusters, between, 20.0)
            shift = stated[trial % len(stated)]
            better = [Column.of([*(run.each + shift)]) for run in one]
            found.append(_p([better, other], clusters) < LEVELS[0])
        low, high = np.quantile(stated, [0.05, 0.95])
        rate = np.mean(found)
        print(
            f"{seeds} seeds, {models} models, {count} samples, runs differ by {between:g}: "
            f"{np.mean(stated):.1f} is stated ({low:.1f} to {high:.1f}), and found in "
            f"{rate:.1%} ± {np.sqrt(rate * (1 - rate) / TRIALS):.1%}",
            flush=True,
        )


def _p(systems: Sequence[Sequence[Column]], clusters: Clusters) -> float:
    if len(systems[0]) > 1:
        return over_runs(systems, clusters, 0)
    return stats.randomization_p_values([(systems[0][0], systems[1][0])], clusters)[0]


def equal_arms(
    rng: np.random.Generator,
    seeds: tuple[int, int],
    clusters: Clusters,
    between: float,
    within: float,
) -> list[list[Column]]:
    """Draw the runs of two arms that are equal but for chance."""
    count, n = int(clusters.max()) + 1, len(clusters)
    items = rng.normal(50, 20, count)[clusters]
    arms = []
    for number in seeds:
        own = rng.normal(0, 50**0.5, count)[clusters] + rng.normal(0, 50**0.5, n)
        runs = (
            items + own + rng.normal(0, between) + rng.normal(0, within, n) for _ in range(number)
        )
        arms.append([Column.of([*run]) for run in runs])
    return arms


if __name__ == "__main__":
    time()
    false_alarms()
    unequal()
    power()
