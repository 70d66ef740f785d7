"""How long resampling takes, and how often equal systems are called different."""

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, product

import numpy as np
import pytest

from spor_tasks.metrics.base import Column
from spor_tasks.metrics.totals import GROUP_MEANS
from spor_tasks.results import statistics as significance
from tests.support.intervals import interval
from tests.support.timing import least

pytestmark = pytest.mark.benchmark


def test_resampling() -> None:
    rng = np.random.default_rng(0)
    one, other = (Column.of(list(rng.random(2000))) for _ in range(2))
    sizes = rng.integers(2, 8, 2000)
    by_size = Column.of(list(zip(sizes, one.each, strict=True)), GROUP_MEANS)
    clusters = np.arange(2000)
    for name, work in (
        ("bootstrap of a mean", lambda: interval(one, clusters, seed=0)),
        ("bootstrap of a mean of means", lambda: interval(by_size, clusters, seed=0)),
        (
            "approximate randomization",
            lambda: significance.randomization_p_values([(one, other)], clusters),
        ),
    ):
        took = least(work)
        print(
            f"\n{name}, 10,000 resamples of 2,000: {took.wall:.2f} s ({took.processor:.2f} of "
            f"processor), {took.wall / 2:.2f} of the target"
        )


@pytest.mark.parametrize("spread", [0.0, 30.0])
def test_a_leaderboard_of_100_systems(spread: float) -> None:
    rng = np.random.default_rng(0)
    items = rng.normal(50, 20, 2000)
    columns = [
        Column.of(list(items + level + rng.normal(0, 15, 2000)))
        for level in np.linspace(0, spread, 100)
    ]
    pairs = list(combinations(columns, 2))
    start = time.perf_counter()
    significance.randomization_p_values(pairs, np.arange(2000))
    took = time.perf_counter() - start
    print(
        f"\n100 systems over {spread:g} points, 2,000 samples, {len(pairs):,} pairs: "
        f"{took:.1f} s, {took / 30:.2f} of the target"
    )


_Test = Callable[[Sequence[Sequence[Column]], significance.Clusters, int], bool]


def test_how_often_equal_arms_are_called_different() -> None:
    """The table of docs/metrics.md: false alarms of three rules at a nominal 5 %.

    Samples differ by 20 points, arms on a sample by 10, runs on a sample by 5 or 20; runs differ by
    nothing, 0.3 or 1 point. Half of the arms' difference on a sample is its cluster's.
    """

    def of_means(
        systems: Sequence[Sequence[Column]], clusters: significance.Clusters, seed: int
    ) -> bool:
        one, other = (_mean(runs) for runs in systems)
        (p,) = significance.randomization_p_values(
            [(one, other)], clusters, seed=seed, resamples=400
        )
        return p < 0.05

    def with_signs(
        systems: Sequence[Sequence[Column]], clusters: significance.Clusters, seed: int
    ) -> bool:
        one, other = ([run.value for run in runs] for runs in systems)
        apart = min(one) > max(other) or min(other) > max(one)
        return apart and of_means(systems, clusters, seed)

    def over_runs(
        systems: Sequence[Sequence[Column]], clusters: significance.Clusters, _: int
    ) -> bool:
        found = significance.over_runs(systems, clusters)
        return found is not None and found.p < 0.05

    rules: Mapping[str, _Test] = {
        "samples alone": of_means,
        "and every run of one arm above every run of the other": with_signs,
        "runs and clusters": over_runs,
    }
    trials = 400
    for seeds, (count, size) in product((2, 3, 5), ((67, 2), (200, 1), (1500, 1))):
        clusters = np.repeat(np.arange(count), size)
        for between, within in product((0.0, 0.3, 1.0), (5.0, 20.0)):
            rng = np.random.default_rng([seeds, count, int(10 * between), int(within)])
            alarms = dict.fromkeys(rules, 0)
            for trial in range(trials):
                systems = _equal_arms(rng, seeds, clusters, between, within)
                for name, rule in rules.items():
                    alarms[name] += rule(systems, clusters, trial)
            told = ", ".join(f"{name} {n / trials:.1%}" for name, n in alarms.items())
            print(
                f"\n{seeds} seeds, {len(clusters)} samples in {count} clusters, runs differ by "
                f"{between:g}, on a sample by {within:g}: {told}"
            )


def _mean(runs: Sequence[Column]) -> Column:
    return Column.of(list(np.mean([run.each for run in runs], axis=0)))


def _equal_arms(
    rng: np.random.Generator,
    seeds: int,
    clusters: significance.Clusters,
    between: float,
    within: float,
) -> list[list[Column]]:
    count, n = int(clusters.max()) + 1, len(clusters)
    items = rng.normal(50, 20, count)[clusters]
    arms = []
    for _ in range(2):
        own = rng.normal(0, 50**0.5, count)[clusters] + rng.normal(0, 50**0.5, n)
        arms.append(
            [
                Column.of(list(items + own + rng.normal(0, between) + rng.normal(0, within, n)))
                for _ in range(seeds)
            ]
        )
    return arms
